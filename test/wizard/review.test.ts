import {resolve} from 'node:path';
import {describe, expect, test} from 'vitest';
import {ExitCode, ExpectedError} from '../../src/ground/errors.ts';
import type {ListQuestion} from '../../src/ground/system/system.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {ENTER, ESC, type Line} from '../support/scripted-prompter.ts';
import {
  choicesOf,
  FILES_ONLY,
  jwt,
  KEPT,
  QUIT,
  QUIT_STALE,
  shown,
  talk,
  VIEW_AND_QUIT,
} from './conversation.ts';

/** Everything but the network, storage and size is set by flags. */
const GIVEN = [
  '--url',
  'https://acme.scalr.io',
  '--token-secret',
  'mine',
  '--cloud',
  'gke',
  '--purpose',
  'runs',
];
const FLAGS = [...GIVEN, '--isolation', 'shared'];
const QUIET: Line[] = [
  ['Which of these apply to your network', ENTER],
  ['Where should provider', ENTER],
  ['Maximum concurrent runs', ENTER],
];
const TO_REVIEW: Line[] = [FILES_ONLY, ...QUIET, ['Chart to install', ENTER]];
const DONE: Line = ['What do you want to do?', 'quit'];
const REPLACED: Line[] = [
  ['/srv/answers.yaml already exists', 'y'],
  ['/srv/values.yaml already exists', 'y'],
];
const EDIT: Line = ['What do you want to do?', 'edit'];
const MORE: Line[] = [EDIT, ['Which answer do you want to change?', 'more']];

const reviews = (asked: readonly unknown[]): ListQuestion[] =>
  (asked as ListQuestion[]).filter(({message}) => message === 'What do you want to do?');

describe('the chart', () => {
  test('drops and lists answers that it does not support', async () => {
    const lines: Line[] = [
      FILES_ONLY,
      ['Isolate each run', ENTER],
      ['How are runs distributed', ENTER],
      ['Which of these apply to your network', ENTER],
      ['Where should provider', 'hostpath'],
      ['Cache directory on the nodes', ENTER],
      ['Chart to install', 'agent-local'],
      ['Maximum concurrent runs', ENTER],
      ...VIEW_AND_QUIT,
    ];
    const {asked, stderr, exit} = await talk(lines, {argv: GIVEN});
    expect(choicesOf(asked, 'Chart to install')[0]).toMatchObject({
      value: 'agent-job',
      description: expect.stringMatching(/^recommended: one pod per run/),
    });
    expect(shown(asked)).toContain(
      'Removed the answer for cache: the cache must be a PVC or an ephemeral volume.',
    );
    expect(stderr).toContain('Values of agent-local');
    expect(exit).toBe(0);
  });

  test('never drops the cloud, the purpose or the isolation', async () => {
    const lines: Line[] = [
      FILES_ONLY,
      ['Isolate each run', 'per-run'],
      ...QUIET.slice(0, 2),
      ['Chart to install', ENTER],
      ...QUIT,
    ];
    const {asked} = await talk(lines, {argv: GIVEN});
    const local = choicesOf(asked, 'Chart to install').find(({value}) => value === 'agent-local');
    expect(local?.disabled).toBe('not possible here: runs share a container');
  });

  test('is disabled when it does not support a flag', async () => {
    const lines: Line[] = [FILES_ONLY, ...QUIET.slice(0, 2), ['Chart to install', ENTER], ...QUIT];
    const {asked} = await talk(lines, {argv: [...GIVEN, '--isolation', 'per-run']});
    const charts = choicesOf(asked, 'Chart to install');
    expect(charts.find(({value}) => value === 'agent-local')?.disabled).toBe(
      'not possible here: runs share a container',
    );
    expect(charts[0]).toMatchObject({value: 'agent-job'});
  });

  test('is asked again when an edit makes another one the recommended chart', async () => {
    const lines: Line[] = [
      FILES_ONLY,
      ['Isolate each run', ENTER],
      ['How are runs distributed', ENTER],
      ...QUIET,
      ['Chart to install', ENTER],
      EDIT,
      ['Which answer do you want to change?', 'isolation'],
      ['Isolate each run', 'per-run'],
      ['Chart to install', ENTER],
      ...VIEW_AND_QUIT,
    ];
    const {asked, stderr} = await talk(lines, {argv: GIVEN});
    expect(shown(asked)).toContain(
      'agent-local does not support an answer: runs share a container.',
    );
    expect(stderr).toContain('Values of agent-job');
  });

  test('is asked again when an edit needs another one', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      EDIT,
      ['Which answer do you want to change?', 'cache'],
      ['Where should provider', 'hostpath'],
      ['Chart to install', ENTER],
      ['Cache directory on the nodes', ENTER],
      ['Operating system of the nodes', 'cos'],
      ...VIEW_AND_QUIT,
    ];
    const {asked, stderr} = await talk(lines, {argv: GIVEN.concat('--isolation', 'shared')});
    expect(shown(asked)).toContain(
      'agent-local does not support an answer: the cache must be a PVC or an ephemeral volume.',
    );
    expect(stderr).toMatch(/Values of agent-(k8s|job)/);
  });

  test('can be changed', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      EDIT,
      ['Which answer', 'chart'],
      ['Chart to install', 'agent-job'],
      ...VIEW_AND_QUIT,
    ];
    const {stderr} = await talk(lines, {argv: [...FLAGS, '--namespace', 'ci']});
    expect(stderr).toContain('Values of agent-job');
  });
});

describe('the review', () => {
  test('fits on one screen, with answers in groups and warnings', async () => {
    const {asked} = await talk([...TO_REVIEW, ...QUIT], {
      argv: [...FLAGS, '--metadata-service', 'block'],
    });
    const [review] = reviews(asked);
    expect(review?.heading?.join('\n')).toMatch(
      /^Review {5}agent-local [\d.]+ → files only · [^\n]*\nAgent\tacme.scalr.io \(flag\) · Secret mine \(flag\)\nPurpose\t/,
    );
    expect(review?.heading?.join('\n')).toContain('warning');
    expect((review?.heading?.length ?? 0) + (review?.choices.length ?? 0)).toBeLessThan(22);
  });

  test('refuses a value that the agent cannot parse', async () => {
    const mistake = ['--extra-env', 'SCALR_AGENT_MODULE_CACHE_CONCURRENCY=many'];
    const {asked} = await talk([...TO_REVIEW, ...QUIT], {argv: [...FLAGS, ...mistake]});
    expect(shown(asked)).toContain(
      'SCALR_AGENT_MODULE_CACHE_CONCURRENCY: "many" is not a whole number of threads.',
    );
  });

  test('asks again for the setting of a warning', async () => {
    const lines: Line[] = [
      FILES_ONLY,
      ['Which of these apply', ['proxy']],
      ['Proxy for https', 'http://proxy.corp:3128'],
      ['Hosts and networks', ENTER],
      ...QUIET.slice(1),
      ['Chart to install', ENTER],
      ['What do you want to do?', 'fix'],
      ['Which warning', '0'],
      ['Hosts and networks', '10.0.0.0/8'],
      ...VIEW_AND_QUIT,
    ];
    const {asked, stderr} = await talk(lines, {argv: FLAGS});
    const [before, after] = reviews(asked).map(({choices}) =>
      choices.some(({value}) => value === 'fix'),
    );
    expect([before, after]).toEqual([true, false]);
    expect(stderr).toContain('10.0.0.0/8');
  });

  test('asks dependent questions after an answer is changed', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      EDIT,
      ['Which answer', 'cache'],
      ['Where should provider', 'pvc'],
      ['StorageClass of the cache', 'standard-rwx'],
      ['Access mode', ENTER],
      ['Cache size', '20Gi'],
      ...VIEW_AND_QUIT,
    ];
    const {stderr} = await talk(lines, {argv: FLAGS});
    expect(stderr).toContain('storageClassName: "standard-rwx"');
    expect(stderr).toMatch(/20Gi/);
  });

  test('drops and lists answers without effect after a change', async () => {
    const lines: Line[] = [
      FILES_ONLY,
      ['Which of these apply', ENTER],
      ['Where should provider', 'existing-pvc'],
      ['Name of the existing PVC', 'mine'],
      ['Maximum concurrent runs', ENTER],
      ['Chart to install', ENTER],
      EDIT,
      ['Which answer', 'cache'],
      ['Where should provider', 'ephemeral'],
      ...QUIT,
    ];
    const {asked, exit} = await talk(lines, {argv: FLAGS});
    expect(shown(asked)).toContain('Removed the answer for cache claim: it no longer applies.');
    expect(exit).toBe(0);
  });

  test('configures all other settings, and clears them', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ...MORE,
      ['What do you want to configure?', 'Size'],
      ['Size: which', 'run-memory-limit'],
      ['Memory limit of a run', '5Gi'],
      ['Size: which', ''],
      ['What do you want to configure?', ''],
      ['What do you want to do?', 'view'],
      ...MORE,
      ['What do you want to configure?', 'Size'],
      ['Size: which', 'run-memory-limit'],
      ['Memory limit of a run', ''],
      ['Size: which', ESC],
      ['What do you want to configure?', ESC],
      ...VIEW_AND_QUIT,
    ];
    const {stderr, asked} = await talk(lines, {argv: FLAGS});
    const [, before, after] = stderr.split('Values of agent-local');
    expect(before).toContain('memory: "5Gi"');
    expect(after).not.toContain('5Gi');
    expect(reviews(asked)[1]?.heading).toContain('Other\trun memory limit 5Gi');
  });

  test('lists the present answers, however they were changed', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ...MORE,
      ['What do you want to configure?', 'Purpose'],
      ['Purpose: which setting', 'concurrency'],
      ['Maximum concurrent runs', '3'],
      ['Purpose: which setting', ''],
      ['What do you want to configure?', ''],
      EDIT,
      ['Which answer do you want to change?', ''],
      ...QUIT,
    ];
    const {asked} = await talk(lines, {argv: FLAGS});
    expect(
      choicesOf(asked, 'Which answer').find(({value}) => value === 'concurrency')?.description,
    ).toBe('3');
  });

  test('does not preselect Install after values.yaml was read', async () => {
    const {asked} = await talk(
      [
        ...TO_REVIEW,
        ['What do you want to do?', 'view'],
        ['What do you want to do?', ENTER],
        ...QUIT,
      ],
      {
        argv: FLAGS,
      },
    );
    expect(reviews(asked).map((each) => each.default)).toEqual(['save', 'view', 'view']);
  });

  test('goes back without changes on Esc', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      EDIT,
      ['Which answer', 'cache'],
      ['Where should provider', ESC],
      EDIT,
      ['Which answer', ESC],
      ['What do you want to do?', 'save'],
      ['Directory to save to', ESC],
      ['What do you want to do?', ESC],
      ['Where should provider', ENTER],
      ...QUIT,
    ];
    const {asked, written} = await talk(lines, {argv: FLAGS});
    const [first, ...others] = reviews(asked).map(({heading}) => heading);
    expect(others.every((each) => JSON.stringify(each) === JSON.stringify(first))).toBe(true);
    expect([...written.keys()]).toEqual([KEPT]);
  });

  test('reports conflicting answers and lets the user change them', async () => {
    const tls: Line[] = [
      ...MORE,
      ['What do you want to configure?', 'TLS'],
      ['TLS: which', 'ca-secret'],
    ];
    const back: Line[] = [
      ['TLS: which', ''],
      ['What do you want to configure?', ''],
    ];
    const lines: Line[] = [
      ...TO_REVIEW,
      ...tls,
      ['Secret with the CA bundle', 'roots'],
      ...back,
      ...tls,
      ['Secret with the CA bundle', ''],
      ...back,
      ...QUIT,
    ];
    const {asked} = await talk(lines, {
      argv: [...FLAGS, '--ca-file', 'ca.pem', '--ca-public-roots'],
      files: memoryFiles(certificates),
    });
    expect(shown(asked)).toContain('--ca-file: Conflicts with --ca-secret');
    const [, broken, mended] = reviews(asked);
    expect(broken?.default).toBe('edit');
    expect(broken?.choices.find(({value}) => value === 'save')?.disabled).toBeDefined();
    expect(mended?.choices.find(({value}) => value === 'save')?.disabled).toBeUndefined();
  });

  test('saves private files without secrets', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'save'],
      ['Directory to save to', '/srv/agent'],
      ['What do you want to do?', ENTER],
    ];
    const {written, files, asked, exit} = await talk(lines, {argv: FLAGS});
    expect(exit).toBe(0);
    expect([...written.keys()]).toEqual(
      expect.arrayContaining(['/srv/agent/answers.yaml', '/srv/agent/values.yaml']),
    );
    expect(files.written.every(({isPrivate}) => isPrivate)).toBe(true);
    expect(shown(asked)).toContain('Saved: /srv/agent/answers.yaml, /srv/agent/values.yaml');
    expect(files.removed).toEqual([KEPT]);
  });

  test('keeps the answers for --resume when the user quits without saving', async () => {
    const {files, stderr} = await talk(
      [...TO_REVIEW, ['What do you want to do?', 'quit'], ['Quit without', 'n'], ...QUIT],
      {argv: FLAGS},
    );
    expect(stderr).toContain(
      'Nothing was changed. To continue, run the command again with --resume.',
    );
    expect(files.removed).toEqual([]);
  });

  test.each([
    [{}, 'scalr-agent install --yes \\', 'scalr-agent values'],
    [
      {npm_command: 'exec', npm_lifecycle_script: "'scalr-agent-install'"},
      'npx scalr-agent-install --yes \\',
      'npx scalr-agent-install values',
    ],
  ] as const)('prints commands that run as they are: %o', async (env, install, values) => {
    const {stderr} = await talk([...TO_REVIEW, ['What do you want to do?', 'print'], ...QUIT], {
      argv: FLAGS,
      env,
    });
    expect(stderr).toContain(
      `\n${install}\n  --chart agent-local \\\n  --chart-version 0.6.5 \\\n`,
    );
    expect(stderr).toContain(`\n${values} \\\n`);
    expect(stderr).toContain(
      '> values.yaml\nkubectl create namespace scalr-agent --dry-run=client --output=yaml |\n  kubectl apply --namespace scalr-agent --filename -\n# Secret mine with token must exist in namespace scalr-agent\nhelm upgrade --install scalr-agent agent-local \\\n  --repo',
    );
    expect(stderr).toContain('\n  --values values.yaml\n');
  });

  test('prints how the token gets into its Secret, but never the token', async () => {
    const token = jwt({iss: 'acme.scalr.io'});
    const OTHERS = ['--cloud', 'gke', '--purpose', 'runs', '--isolation', 'shared'];
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'print'],
      ['What do you want to do?', 'save'],
      ['Directory to save to', '/srv'],
      ['What do you want to do?', ENTER],
    ];
    const inFile = await talk(lines, {
      argv: ['--token-file', 'my token.txt', ...OTHERS],
      files: memoryFiles({'my token.txt': token}),
    });
    expect(inFile.stderr).toContain(
      "\ntr -d '\\r\\n' < 'my token.txt' | kubectl create secret generic scalr-agent-token --from-file=token=/dev/stdin",
    );
    expect(inFile.stderr).not.toContain('SCALR_AGENT_TOKEN');
    const inVariable = await talk(lines, {argv: OTHERS, env: {SCALR_AGENT_TOKEN: token}});
    expect(inVariable.stderr).toMatch(
      /# Requires the environment variable SCALR_AGENT_TOKEN\nprintf %s "\$SCALR_AGENT_TOKEN" \| kubectl create secret generic/,
    );
    const own = await talk(lines, {argv: FLAGS});
    expect(own.stderr).toContain('# Secret mine with token must exist in namespace scalr-agent\n');
    expect(inFile.stderr + inVariable.stderr).not.toContain(token);
  });

  test('prints commands that read the saved file', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'save'],
      ['Directory to save to', '/srv'],
      ['What do you want to do?', ENTER],
    ];
    const {stderr} = await talk(lines, {argv: FLAGS});
    expect(stderr).toContain('--values /srv/values.yaml');
    expect(stderr).not.toContain('> values.yaml');
  });

  describe('after an edit of saved answers', () => {
    const SAVED: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'save'],
      ['Directory to save to', '/srv'],
    ];
    const EDITED: Line[] = [
      ...SAVED,
      EDIT,
      ['Which answer do you want to change?', 'concurrency'],
      ['Maximum concurrent runs', '3'],
    ];

    test('says that the files are out of date, and preselects Save', async () => {
      const lines: Line[] = [
        ...EDITED,
        ['What do you want to do?', ENTER],
        ['Directory to save to', '/srv'],
        ...REPLACED,
        DONE,
      ];
      const {asked, written, files, stderr} = await talk(lines, {argv: FLAGS});
      expect(reviews(asked).map(({default: preselected}) => preselected)).toEqual([
        'save',
        'quit',
        'save',
        'quit',
      ]);
      const notes = reviews(asked).map(({heading}) => heading?.at(-2));
      expect(notes[1]).toBe('Saved: /srv/answers.yaml, /srv/values.yaml');
      expect(notes[2]).toBe('Saved: /srv/answers.yaml, /srv/values.yaml (out of date, save again)');
      expect(notes[3]).toBe(notes[1]);
      expect(written.get('/srv/answers.yaml')).toContain('concurrency: "3"\n');
      expect(stderr).toContain('scalr-agent install --yes \\\n  --answers /srv/answers.yaml\n');
      expect(files.removed).toEqual([KEPT]);
    });

    test('prints no command that uses the files', async () => {
      const {stderr} = await talk(
        [...EDITED, ['What do you want to do?', 'print'], ...QUIT_STALE],
        {argv: FLAGS},
      );
      expect(stderr).toContain('  --concurrency 3 \\\n');
      expect(stderr).not.toContain('/srv');
    });

    test('keeps the session for --resume when the user quits', async () => {
      const {files, stderr} = await talk([...EDITED, ...QUIT_STALE], {argv: FLAGS});
      expect(stderr).toContain('To continue, run the command again with --resume.');
      expect(files.removed).toEqual([]);
    });

    test('uses the files again when the edit is undone', async () => {
      const lines: Line[] = [
        ...EDITED,
        EDIT,
        ['Which answer do you want to change?', 'concurrency'],
        ['Maximum concurrent runs', ''],
        DONE,
      ];
      const {stderr} = await talk(lines, {argv: FLAGS});
      expect(stderr).toContain('--answers /srv/answers.yaml\n');
    });

    test('does not use the files when the edit conflicts with other answers', async () => {
      const lines: Line[] = [
        ...SAVED,
        ...MORE,
        ['What do you want to configure?', 'Size'],
        ['Size: which setting', 'run-memory-request'],
        ['Memory request of', '900Gi'],
        ['Size: which setting', ''],
        ['What do you want to configure?', ''],
        ...QUIT_STALE,
      ];
      const {asked} = await talk(lines, {argv: FLAGS});
      expect(reviews(asked).at(-1)).toMatchObject({default: 'edit'});
      expect(shown(asked)).toContain('(out of date, save again)');
    });
  });

  test('shows the number of certificates instead of them, and saves all', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'view'],
      ['What do you want to do?', 'save'],
      ['Directory to save to', '/srv'],
      ['What do you want to do?', ENTER],
    ];
    const argv = [...FLAGS, '--ca-file', 'ca.pem', '--ca-public-roots'];
    const {written, stderr} = await talk(lines, {argv, files: memoryFiles(certificates)});
    const all = written.get('/srv/values.yaml')?.match(/BEGIN CERTIFICATE/g)?.length ?? 0;
    expect(all).toBeGreaterThan(100);
    expect(stderr).toContain(`    … 1 certificate\n`);
    expect(stderr).toContain(`… ${all - 1} certificates\n`);
    expect(stderr).not.toContain('BEGIN CERTIFICATE');
  });

  test('saves answers that can be used from any directory', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'save'],
      ['Directory to save to', '/srv'],
      ['What do you want to do?', ENTER],
    ];
    const {written} = await talk(lines, {
      argv: [...FLAGS, '--ca-file', 'ca.pem', '--ca-public-roots'],
      files: memoryFiles(certificates),
    });
    expect(written.get('/srv/answers.yaml')).toContain(`ca-file: ${resolve('ca.pem')}\n`);
    expect(written.get('/srv/answers.yaml')).toMatch(/chart-version: 0\.6\.\d/);
  });

  test('replaces both files or none', async () => {
    const files = memoryFiles({'/srv/answers.yaml': 'a', '/srv/values.yaml': 'v'});
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'save'],
      ['Directory to save to', '/srv'],
      ['/srv/answers.yaml already exists', 'y'],
      ['/srv/values.yaml already exists', 'n'],
      ...QUIT,
    ];
    const {asked, written} = await talk(lines, {argv: FLAGS, files});
    expect(shown(asked)).toContain('Canceled. Nothing was changed.');
    expect([...written.keys()]).toEqual([KEPT]);
  });

  test('asks for another directory when the directory is read-only', async () => {
    const files = memoryFiles();
    const {write} = files;
    files.write = async (path, ...rest) => {
      if (path.startsWith('/read-only'))
        throw new ExpectedError(`Cannot write ${path}: read-only file system.`, {
          code: 'UNWRITABLE_FILE',
          exit: ExitCode.failed,
        });
      await write(path, ...rest);
    };
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'save'],
      ['Directory to save to', '"/read-only"'],
      ['What do you want to do?', 'save'],
      ['Directory to save to', '/srv'],
      ['What do you want to do?', ENTER],
    ];
    const {exit, asked, written} = await talk(lines, {argv: FLAGS, files});
    expect(shown(asked)).toContain('Cannot write /read-only/answers.yaml');
    expect(written.has('/srv/values.yaml')).toBe(true);
    expect(exit).toBe(0);
  });
});
