import {resolve} from 'node:path';
import {describe, expect, test} from 'vitest';
import {ExpectedError} from '../../src/ground/errors.ts';
import type {ListQuestion} from '../../src/ground/system/system.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {ENTER, ESC, type Line} from '../support/scripted-prompter.ts';
import {
  change,
  choicesOf,
  FILES_ONLY,
  jwt,
  KEPT,
  QUIT,
  QUIT_STALE,
  reviewsIn,
  rowOf,
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
const ON_EKS = GIVEN.map((each) => (each === 'gke' ? 'eks' : each));
const FLAGS = [...GIVEN, '--isolation', 'shared'];
const TO_REVIEW: Line[] = [FILES_ONLY];
const DONE: Line = ['What do you want to do?', 'quit'];
const REPLACED: Line[] = [
  ['/srv/answers.yaml already exists', 'y'],
  ['/srv/values.yaml already exists', 'y'],
];
const reviews = (asked: readonly unknown[]): ListQuestion[] =>
  (asked as ListQuestion[]).filter(({message}) => message === 'What do you want to do?');

describe('the chart', () => {
  const CHART = (name: string): Line[] => change('Chart', ['Chart to install', name]);

  test('drops and lists answers that it does not support', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ...change('Cache', ['Where should provider', 'hostpath'], ['Cache directory', ENTER]),
      ...CHART('agent-local'),
      ...VIEW_AND_QUIT,
    ];
    const {asked, stderr, exit} = await talk(lines, {argv: GIVEN});
    expect(choicesOf(asked, 'Chart to install')[0]).toMatchObject({
      value: 'agent-job',
      description: expect.stringMatching(/^recommended; a pod started for each run/),
    });
    expect(shown(asked)).toContain(
      'Removed the answer for cache: the cache must be a PVC or an ephemeral volume.',
    );
    expect(stderr).toContain('Values of agent-local');
    expect(exit).toBe(0);
  });

  test.each([
    ['isolation', 'per-run'],
    ['purpose', 'vcs'],
  ])('is disabled when it does not support a flag: %s', async (name, value) => {
    const {asked, stderr} = await talk(
      [...TO_REVIEW, ['What do you want to do?', 'change'], ['Change', 'done'], ...QUIT],
      {argv: ['--url', 'https://acme.scalr.io', '--token-secret', 'mine', `--${name}`, value]},
    );
    const row = choicesOf(asked, 'Change').find((each) => each.value === 'Chart');
    expect(row?.disabled).toBe(value === 'vcs' ? 'no other chart is possible' : undefined);
    expect(stderr).toContain(value === 'vcs' ? 'Review  agent-local' : 'Review  agent-job');
  });

  test('follows the answers until it is chosen', async () => {
    const cache = change(
      'Cache',
      ['Where should provider', 'hostpath'],
      ['Cache directory', ENTER],
    );
    const {stderr} = await talk([...TO_REVIEW, ...cache, ...VIEW_AND_QUIT], {argv: GIVEN});
    expect(stderr).toMatch(/Values of agent-job/);
    expect(rowOf(stderr, 'Chart')).toContain('because of cache');
  });

  test('can change again with the answer that has changed it', async () => {
    const efs = change('Cache', ['Where should provider', 'efs'], ['EFS', 'fs-0123456789abcdef0']);
    const back = change('Cache', ['Where should provider', 'ephemeral'], ['Cache size', ENTER]);
    const {asked, stderr} = await talk([...TO_REVIEW, ...efs, ...back, ...QUIT], {
      argv: ON_EKS,
    });
    expect(choicesOf(asked, 'Where should provider').filter(({disabled}) => disabled)).toEqual([]);
    const [, first = '', second = ''] = reviewsIn(stderr);
    expect(rowOf(`◆  ${first}`, 'Chart')).toContain('because of cache');
    expect(second).toContain('Review  agent-local');
  });

  test('that was chosen excludes the same values whatever the answer is now', async () => {
    const pvc = change(
      'Cache',
      ['Where should provider', 'pvc'],
      ['StorageClass of the cache', 'gp3'],
      ['Cache size', ENTER],
    );
    const again = change(
      'Cache',
      ['Where should provider', ENTER],
      ['Stor', ENTER],
      ['Cac', ENTER],
    );
    const {asked} = await talk([...TO_REVIEW, ...CHART('agent-local'), ...pvc, ...again, ...QUIT], {
      argv: GIVEN,
    });
    const rows = choicesOf(asked, 'Where should provider');
    expect(rows.find(({value}) => value === 'hostpath')?.disabled).toBe(
      'only with agent-job and agent-k8s',
    );
  });

  test('that was chosen stays, and excludes what it does not support', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ...CHART('agent-local'),
      ...change('Cache', ['Where should provider', ENTER], ['Cache size', ENTER]),
      ...QUIT,
    ];
    const {asked} = await talk(lines, {argv: GIVEN});
    expect(
      choicesOf(asked, 'Where should provider').find(({value}) => value === 'hostpath')?.disabled,
    ).toBe('only with agent-job and agent-k8s');
  });
});

describe('the review', () => {
  test('marks what deserves a look, and offers no weaker setting as its fix', async () => {
    const {asked, stderr} = await talk([...TO_REVIEW, ...QUIT], {
      argv: [...ON_EKS, '--metadata-service', 'block'],
    });
    expect(stderr).toContain('Review  agent-local 0.6.5 → files only');
    expect(stderr).toMatch(/\n ! Network/);
    expect(stderr).toContain('POLICY_ENFORCEMENT');
    expect(choicesOf(asked, 'What do you want to do?').map(({value}) => value)).not.toContain(
      'fix:metadata-service',
    );
  });

  test('does not change the version of a chart source', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'change'],
      ['Change', 'other'],
      ['All settings', 'Release'],
      ['Release', ESC],
      ['All settings', ESC],
      ['Change', 'done'],
      ...QUIT,
    ];
    const source = 'oci://registry.corp/charts/agent-job:0.6.5';
    const offered = async (...argv: string[]) => {
      const {asked} = await talk(lines, {argv: [...FLAGS, ...argv]});
      return choicesOf(asked, 'Release').map(({value}) => value);
    };
    expect(await offered()).toContain('chart-version');
    expect(await offered('--chart-source', source)).not.toContain('chart-version');
    expect(await offered()).not.toContain('chart-source');
  });

  test('proposes to fix the URL when the token is of another account', async () => {
    const {asked, stderr} = await talk([...TO_REVIEW, ...QUIT], {
      argv: ['--url', 'https://acme.scalr.io', '--chart', 'agent-local'],
      env: {SCALR_AGENT_TOKEN: jwt({domain: 'other.scalr.io'})},
    });
    expect(stderr).toContain('created for https://other.scalr.io, but the URL is https://acme');
    expect(reviews(asked)[0]?.default).toBe('fix:url');
  });

  test('says that an answer has changed the chart', async () => {
    const controllers: Line[] = [
      ['What do you want to do?', 'change'],
      ['Change', 'other'],
      ['All settings', 'Size'],
      ['Size', 'controller-replicas'],
      ['ontroller replicas', '3'],
      ['Change', 'done'],
    ];
    const {stderr} = await talk([...TO_REVIEW, ...controllers, ...QUIT], {argv: GIVEN});
    const [before, after] = reviewsIn(stderr);
    expect(before).toContain('agent-local');
    expect(after).toContain('The chart changes from agent-local to agent-job');
  });

  test('tells what the metadata service means when it is allowed', async () => {
    const {stderr} = await talk([...TO_REVIEW, ...QUIT], {
      argv: [...ON_EKS, '--metadata-service', 'allow'],
    });
    expect(rowOf(stderr, 'Network')).toContain('metadata allowed; runs can take the node identity');
  });

  test('refuses a value that the agent cannot parse', async () => {
    const mistake = ['--extra-env', 'SCALR_AGENT_MODULE_CACHE_CONCURRENCY=many'];
    const {stderr} = await talk([...TO_REVIEW, ...QUIT], {argv: [...FLAGS, ...mistake]});
    expect(stderr).toContain(
      'SCALR_AGENT_MODULE_CACHE_CONCURRENCY: "many" is not a whole number of threads.',
    );
  });

  test('asks exactly for the setting that removes a warning', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ...change(
        'Proxy',
        ['Proxy for https', 'http://proxy.corp:3128'],
        ['Hosts and networks', ENTER],
      ),
      ['What do you want to do?', 'fix:no-proxy'],
      ['Hosts and networks', '10.0.0.0/8'],
      ...VIEW_AND_QUIT,
    ];
    const {asked, stderr} = await talk(lines, {argv: FLAGS});
    const hasFix = reviews(asked).map(({choices}) =>
      choices.some(({value}) => value === 'fix:no-proxy'),
    );
    expect(hasFix).toEqual([false, true, false, false]);
    expect(stderr).toContain('10.0.0.0/8');
  });

  test('speaks of settings, never of flags', async () => {
    const cache = change(
      'Cache',
      ['Where should provider', 'pvc'],
      ['StorageClass of the cache', ENTER],
      ['Cache size', '20'],
    );
    const {stderr, asked} = await talk([...TO_REVIEW, ...cache, ...QUIT], {argv: FLAGS});
    const last = reviewsIn(stderr.replace(/Nothing was changed.*/, ''))[1] ?? '';
    expect(last).toContain('SHARED_PVC_WITHOUT_CLASS');
    expect(last).not.toMatch(/ --[a-z]/);
    expect(choicesOf(asked, 'What do you want to do?').map(({value}) => value)).toContain(
      'fix:cache-storage-class',
    );
  });

  test('does not say that agent-k8s blocks the metadata service for runs', async () => {
    const lines = change('Metadata', ['metadata', 'block']);
    const {asked, stderr} = await talk([...TO_REVIEW, ...lines, ...QUIT], {
      argv: [...ON_EKS, '--chart', 'agent-k8s'],
    });
    const block = choicesOf(asked, 'metadata').find(({value}) => value === 'block');
    expect(block?.description).toContain('agent-k8s blocks it for the agent only');
    expect(rowOf(stderr, 'Network')).toContain('metadata blocked for the agent, not for runs');
  });

  test('asks what a fix makes necessary', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'fix:cache'],
      ['Where should provider', 'existing-pvc'],
      ['Name of the existing', 'mine'],
      ...QUIT,
    ];
    const {stderr} = await talk(lines, {
      argv: [...FLAGS, '--chart', 'agent-local', '--cache', 'hostpath', '--concurrency', '1'],
    });
    expect(rowOf(stderr, 'Cache')).toContain('PVC mine');
  });

  test('drops and lists answers without effect after a change', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ...change(
        'Cache',
        ['Where should provider', 'existing-pvc'],
        ['Name of the existing', 'mine'],
      ),
      ...change('Cache', ['Where should provider', 'ephemeral'], ['Cache size', ENTER]),
      ...QUIT,
    ];
    const {asked, exit} = await talk(lines, {argv: FLAGS});
    expect(shown(asked)).toContain('Removed the answer for cache PVC: it no longer applies.');
    expect(exit).toBe(0);
  });

  test('changes all other settings', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'change'],
      ['Change', 'other'],
      ['All settings', 'Size'],
      ['Size', 'run-cpu-request'],
      ['CPU request of a run', '2'],
      ['Change', 'other'],
      ['All settings', 'Size'],
      ['Size', ESC],
      ['All settings', ESC],
      ['Change', 'done'],
      ...VIEW_AND_QUIT,
    ];
    const {stderr} = await talk(lines, {argv: FLAGS});
    expect(stderr).toMatch(/cpu: "?2"?\n/);
    expect(rowOf(stderr, 'Other')).toBe('Other run CPU request 2');
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
      ['What do you want to do?', 'change'],
      ['Change', 'Cache'],
      ['Where should provider', ESC],
      ['Change', ESC],
      ['What do you want to do?', 'save'],
      ['Directory to save to', ESC],
      ['What do you want to do?', ESC],
      FILES_ONLY,
      ...QUIT,
    ];
    const {stderr, written} = await talk(lines, {argv: FLAGS});
    const rows = reviewsIn(stderr).map((text) => text.split('\n').slice(1, 6));
    expect(rows.every((each) => JSON.stringify(each) === JSON.stringify(rows[0]))).toBe(true);
    expect([...written.keys()]).toEqual([KEPT]);
  });

  test('reports conflicting answers and preselects what removes them', async () => {
    const tls = (value: string): Line[] => [
      ['What do you want to do?', 'change'],
      ['Change', 'other'],
      ['All settings', 'TLS'],
      ['TLS', 'ca-secret'],
      ['Secret with the CA bundle', value],
      ['Change', 'done'],
    ];
    const {asked, stderr} = await talk([...TO_REVIEW, ...tls('roots'), ...tls(''), ...QUIT], {
      argv: [...FLAGS, '--ca-file', 'ca.pem', '--ca-public-roots'],
      files: memoryFiles(certificates),
    });
    expect(stderr).toContain('CA file: Conflicts with the CA secret');
    const [, broken, mended] = reviews(asked);
    expect(broken?.default).toBe('fix:ca-file');
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
    const {written, files, stderr, exit} = await talk(lines, {argv: FLAGS});
    expect(exit).toBe(0);
    expect([...written.keys()]).toEqual(
      expect.arrayContaining(['/srv/agent/answers.yaml', '/srv/agent/values.yaml']),
    );
    expect(files.written.every(({isPrivate}) => isPrivate)).toBe(true);
    expect(stderr).toContain('Saved: /srv/agent/answers.yaml, /srv/agent/values.yaml');
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
      "\ntest -s 'my token.txt' && tr -d '\\r\\n' < 'my token.txt' | kubectl create secret generic scalr-agent-token --from-file=token=/dev/stdin",
    );
    expect(inFile.stderr).not.toContain('SCALR_AGENT_TOKEN');
    const inVariable = await talk(lines, {argv: OTHERS, env: {SCALR_AGENT_TOKEN: token}});
    expect(inVariable.stderr).toMatch(
      /# Requires the environment variable SCALR_AGENT_TOKEN\n: "\$\{SCALR_AGENT_TOKEN:\?\}" && printf %s "\$SCALR_AGENT_TOKEN" \| kubectl create secret generic/,
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
      ...change('Runs', ['Maximum concurrent runs', '3'], ['Memory limit', ENTER]),
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
      expect(stderr).toContain(
        'Saved: /srv/answers.yaml, /srv/values.yaml (out of date, save again)',
      );
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
      expect(stderr).not.toMatch(/--(answers|values) \/srv/);
    });

    test('keeps the session for --resume when the user quits', async () => {
      const {files, stderr} = await talk([...EDITED, ...QUIT_STALE], {argv: FLAGS});
      expect(stderr).toContain('To continue, run the command again with --resume.');
      expect(files.removed).toEqual([]);
    });

    test('uses the files again when the edit is undone', async () => {
      const lines: Line[] = [
        ...EDITED,
        ...change('Runs', ['Maximum concurrent runs', '5'], ['Memory limit', ENTER]),
        DONE,
      ];
      const {stderr} = await talk(lines, {argv: FLAGS});
      expect(stderr).toContain('--answers /srv/answers.yaml\n');
    });

    test('does not use the files when the edit conflicts with other answers', async () => {
      const lines: Line[] = [
        ...SAVED,
        ['What do you want to do?', 'change'],
        ['Change', 'other'],
        ['All settings', 'Size'],
        ['Size', 'run-memory-request'],
        ['Memory request of', '900Gi'],
        ['Change', 'done'],
        ...QUIT_STALE,
      ];
      const {asked, stderr} = await talk(lines, {argv: FLAGS});
      expect(reviews(asked).at(-1)?.default).toMatch(/^fix:run-memory-/);
      expect(stderr).toContain('(out of date, save again)');
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
    const {stderr, written} = await talk(lines, {argv: FLAGS, files});
    expect(stderr).toContain('× Canceled. Nothing was changed.');
    expect([...written.keys()]).toEqual([KEPT]);
  });

  test('asks for another directory when the directory is read-only', async () => {
    const files = memoryFiles();
    const {write} = files;
    files.write = async (path, ...rest) => {
      if (path.startsWith('/read-only'))
        throw new ExpectedError(`Cannot write ${path}: read-only file system.`, {
          code: 'UNWRITABLE_FILE',
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
    const {exit, stderr, written} = await talk(lines, {argv: FLAGS, files});
    expect(stderr).toContain('× Cannot write /read-only/answers.yaml');
    expect(written.has('/srv/values.yaml')).toBe(true);
    expect(exit).toBe(0);
  });
});
