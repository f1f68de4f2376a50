import {describe, expect, test} from 'vitest';
import {ExitCode, ExpectedError} from '../../src/errors.ts';
import type {ListQuestion} from '../../src/ports/prompter.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {ENTER, ESC, type Line} from '../support/scripted-prompter.ts';
import {choicesOf, KEPT, LEAVE, talk} from './conversation.ts';

/** Everything but the network, storage and size is said by flags. */
const SAID = ['--url', 'https://acme.scalr.io', '--token-secret', 'mine', '--cloud', 'gke', '--purpose', 'runs'];
const FLAGS = [...SAID, '--isolation', 'shared'];
const QUIET: Line[] = [
  ['Which of these apply to the network', ENTER],
  ['Where should provider', ENTER],
  ['Maximum concurrent runs', ENTER],
];
const TO_REVIEW: Line[] = [...QUIET, ['Chart to install', ENTER]];

describe('the chart recommendation', () => {
  test('removes and lists unsupported answers when another chart is selected', async () => {
    const lines: Line[] = [
      ['Isolate each run', ENTER],
      ['Which of these apply to the network', ENTER],
      ['Where should provider', 'hostpath'],
      ['Cache directory on the nodes', ENTER],
      ['Maximum concurrent runs', ENTER],
      ['Chart to install', 'agent-local'],
      LEAVE,
    ];
    const {stderr, exit} = await talk(lines, {argv: SAID});
    expect(stderr).toContain('Recommended chart: agent-job');
    expect(stderr).toMatch(/Removed --cache: agent-local [\d.]+ does not support --cache hostpath/);
    expect(stderr).toContain('Values of agent-local');
    expect(exit).toBe(0);
  });

  test('never drops the cloud, the purpose or the isolation', async () => {
    const {asked} = await talk([['Isolate each run', 'per-run'], ...QUIET, ['Chart to install', ENTER], LEAVE], {argv: SAID});
    const local = choicesOf(asked, 'Chart to install').find(({value}) => value === 'agent-local');
    expect(local?.disabled).toMatch(/does not support --isolation per-run/);
  });

  test('disables a chart that does not support a flag', async () => {
    const {asked} = await talk([...TO_REVIEW, LEAVE], {argv: [...SAID, '--isolation', 'per-run']});
    const charts = choicesOf(asked, 'Chart to install');
    expect(charts.find(({value}) => value === 'agent-local')?.disabled).toMatch(/does not support --isolation per-run/);
    expect(charts[0]).toMatchObject({value: 'agent-job'});
  });
});

describe('from the review', () => {
  test('refuses a value that the agent cannot parse', async () => {
    const mistake = ['--extra-env', 'SCALR_AGENT_MODULE_CACHE_SIZE_LIMIT_MB=many'];
    const {stderr} = await talk([...TO_REVIEW, LEAVE], {argv: [...FLAGS, ...mistake]});
    expect(stderr).toContain('SCALR_AGENT_MODULE_CACHE_SIZE_LIMIT_MB: "many" is not a whole number of megabytes.');
  });

  test('asks dependent questions after a setting is changed', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'change'],
      ['What do you want to change?', 'Storage'],
      ['Storage: which', 'cache'],
      ['Where should provider', 'pvc'],
      ['Storage: which', ENTER],
      LEAVE,
    ];
    const changed = lines.toSpliced(
      -2,
      1,
      ['Storage: which', ''],
      ['StorageClass of the cache', 'standard-rwx'],
      ['Access mode', ENTER],
      ['Cache size', '20Gi'],
    );
    const {stderr} = await talk(changed, {argv: FLAGS});
    expect(stderr).toContain('storageClassName: "standard-rwx"');
    expect(stderr).toMatch(/20Gi/);
  });

  test('removes and lists answers without effect after a change', async () => {
    const lines: Line[] = [
      ['Which of these apply to the network', ENTER],
      ['Where should provider', 'existing-pvc'],
      ['Name of the existing PVC', 'mine'],
      ['Maximum concurrent runs', ENTER],
      ['Chart to install', ENTER],
      ['What do you want to do?', 'change'],
      ['What do you want to change?', 'Storage'],
      ['Storage: which', 'cache'],
      ['Where should provider', 'ephemeral'],
      ['Storage: which', ''],
      LEAVE,
    ];
    const {stderr, exit} = await talk(lines, {argv: FLAGS});
    expect(stderr).toContain('Removed --cache-claim');
    expect(exit).toBe(0);
  });

  test('clears an answer', async () => {
    const lines: Line[] = [
      ['Which of these apply to the network', ENTER],
      ['Where should provider', ENTER],
      ['Maximum concurrent runs', '7'],
      ['Chart to install', ENTER],
      ['What do you want to do?', 'change'],
      ['What do you want to change?', 'Purpose'],
      ['Purpose: which', 'concurrency'],
      ['Maximum concurrent runs', ''],
      ['Purpose: which', ''],
      LEAVE,
    ];
    const {stderr} = await talk(lines, {argv: FLAGS});
    const [, before, after] = stderr.split('values.yaml for');
    expect(before).toContain('replicaCount: 7');
    expect(after).not.toContain('replicaCount');
  });

  test('goes back without changes on Esc', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'change'],
      ['What do you want to change?', 'Storage'],
      ['Storage: which', 'cache'],
      ['Where should provider', ESC],
      ['Storage: which', ESC],
      ['What do you want to do?', 'change'],
      ['What do you want to change?', ESC],
      ['What do you want to do?', 'save'],
      ['Directory to save to', ESC],
      LEAVE,
    ];
    const {stderr, written} = await talk(lines, {argv: FLAGS});
    const [, first, ...others] = stderr.split('values.yaml for').map((text) => text.split('Checking the cluster')[0]);
    expect(others).toEqual([first, first]);
    expect([...written.keys()]).toEqual([KEPT]);
  });

  test('selects another chart', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'change'],
      ['What do you want to change?', 'Release'],
      ['Release: which', 'chart'],
      ['Chart to install', 'agent-job'],
      LEAVE,
    ];
    const {stderr} = await talk(lines, {argv: [...SAID, '--namespace', 'ci'].concat(['--isolation', 'shared'])});
    expect(stderr).toContain('Values of agent-job');
  });

  test('reports conflicting answers and lets the user change them', async () => {
    const tls: Line[] = [
      ['What do you want to do?', 'change'],
      ['What do you want to change?', 'TLS'],
    ];
    const lines: Line[] = [
      ...TO_REVIEW,
      ...tls,
      ['TLS: which', 'ca-secret'],
      ['Secret with the CA bundle', 'roots'],
      ['TLS: which', ''],
      ...tls,
      ['TLS: which', 'ca-secret'],
      ['Secret with the CA bundle', ''],
      ['TLS: which', ''],
      LEAVE,
    ];
    const {stderr, asked} = await talk(lines, {argv: [...FLAGS, '--ca-file', 'ca.pem'], files: memoryFiles(certificates)});
    expect(stderr).toContain('--ca-file: Conflicts with --ca-secret');
    const [, broken, mended] = asked.filter(({message}) => message === 'What do you want to do?') as ListQuestion[];
    expect(broken?.default).toBe('change');
    expect(broken?.choices.find(({value}) => value === 'save')?.disabled).toBeDefined();
    expect(mended?.choices.find(({value}) => value === 'save')?.disabled).toBeUndefined();
  });

  test('saves private files without secrets', async () => {
    const {written, files, stderr} = await talk(
      [...TO_REVIEW, ['What do you want to do?', 'save'], ['Directory to save to', '/srv/agent'], LEAVE],
      {argv: FLAGS},
    );
    expect([...written.keys()]).toEqual(expect.arrayContaining(['/srv/agent/answers.yaml', '/srv/agent/values.yaml']));
    expect(files.written.every(({isPrivate}) => isPrivate)).toBe(true);
    expect(stderr).toContain('Saved: /srv/agent/answers.yaml, /srv/agent/values.yaml');
  });

  test('prints commands for another machine without helm and kubectl', async () => {
    const {stderr, exit, asked} = await talk(
      [...TO_REVIEW, ['What do you want to do?', 'save'], ['Directory to save to', ENTER], ['What do you want to do?', ENTER]],
      {
        argv: FLAGS,
      },
    );
    expect(exit).toBe(0);
    expect(stderr).toContain('Cannot install:');
    expect(stderr).toContain('helm upgrade scalr-agent agent-local --repo');
    expect(stderr).toContain('scalr-agent install --yes');
    expect(choicesOf(asked, 'What do you want to do?').find(({value}) => value === 'install')?.disabled).toBeDefined();
  });

  test('asks for another directory when the directory is read-only', async () => {
    const files = memoryFiles();
    const {write} = files;
    files.write = async (path, ...rest) => {
      if (path.startsWith('/read-only'))
        throw new ExpectedError(`Cannot write ${path}: read-only file system.`, {code: 'UNWRITABLE_FILE', exit: ExitCode.failed});
      await write(path, ...rest);
    };
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What do you want to do?', 'save'],
      ['Directory to save to', '"/read-only"'],
      ['What do you want to do?', 'save'],
      ['Directory to save to', '/srv'],
      LEAVE,
    ];
    const {exit, stderr, written} = await talk(lines, {argv: FLAGS, files});
    expect(stderr).toContain('Cannot write /read-only/answers.yaml');
    expect(written.has('/srv/values.yaml')).toBe(true);
    expect(exit).toBe(0);
  });
});
