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
  ['What does the network', ENTER],
  ['Where do providers', ENTER],
  ['How many runs', ENTER],
];
const TO_REVIEW: Line[] = [...QUIET, ['Which chart?', ENTER]];

describe('the choice of a chart', () => {
  test('another one drops what it cannot take, and says so', async () => {
    const lines: Line[] = [['May runs share', 'per-run'], ...QUIET, ['Which chart?', 'agent-local'], LEAVE];
    const {stderr, exit} = await talk(lines, {argv: SAID});
    expect(stderr).toContain('agent-job is recommended');
    expect(stderr).toMatch(/Dropped --isolation: agent-local [\d.]+ cannot take --isolation per-run/);
    expect(stderr).toContain('Values of agent-local');
    expect(exit).toBe(0);
  });

  test('one that cannot take what a flag says cannot be chosen', async () => {
    const {asked} = await talk([...TO_REVIEW, LEAVE], {argv: [...SAID, '--isolation', 'per-run']});
    const charts = choicesOf(asked, 'Which chart?');
    expect(charts.find(({value}) => value === 'agent-local')?.disabled).toMatch(/cannot take --isolation per-run/);
    expect(charts[0]).toMatchObject({value: 'agent-job'});
  });
});

describe('from the review', () => {
  test('a value that the agent cannot read is refused', async () => {
    const mistake = ['--extra-env', 'SCALR_AGENT_MODULE_CACHE_SIZE_LIMIT_MB=many'];
    const {stderr} = await talk([...TO_REVIEW, LEAVE], {argv: [...FLAGS, ...mistake]});
    expect(stderr).toContain('SCALR_AGENT_MODULE_CACHE_SIZE_LIMIT_MB: "many" is not a whole number of megabytes.');
  });

  test('a setting is changed, and what follows from it is asked', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What now?', 'change'],
      ['What do you want to change?', 'Storage'],
      ['Storage: which', 'cache'],
      ['Where do providers', 'pvc'],
      ['Storage: which', ENTER],
      LEAVE,
    ];
    const changed = lines.toSpliced(
      -2,
      1,
      ['Storage: which', ''],
      ['Storage class', 'standard-rwx'],
      ['Access mode', ENTER],
      ['Size of the cache', '20Gi'],
    );
    const {stderr} = await talk(changed, {argv: FLAGS});
    expect(stderr).toContain('storageClassName: "standard-rwx"');
    expect(stderr).toMatch(/20Gi/);
  });

  test('what a change makes useless is dropped, and said', async () => {
    const lines: Line[] = [
      ['What does the network', ENTER],
      ['Where do providers', 'existing-pvc'],
      ['Name of the existing claim', 'mine'],
      ['How many runs', ENTER],
      ['Which chart?', ENTER],
      ['What now?', 'change'],
      ['What do you want to change?', 'Storage'],
      ['Storage: which', 'cache'],
      ['Where do providers', 'ephemeral'],
      ['Storage: which', ''],
      LEAVE,
    ];
    const {stderr, exit} = await talk(lines, {argv: FLAGS});
    expect(stderr).toContain('Dropped Name of the existing claim');
    expect(exit).toBe(0);
  });

  test('an answer can be taken back', async () => {
    const lines: Line[] = [
      ['What does the network', ENTER],
      ['Where do providers', ENTER],
      ['How many runs', '7'],
      ['Which chart?', ENTER],
      ['What now?', 'change'],
      ['What do you want to change?', 'Purpose'],
      ['Purpose: which', 'concurrency'],
      ['How many runs', ''],
      ['Purpose: which', ''],
      LEAVE,
    ];
    const {stderr} = await talk(lines, {argv: FLAGS});
    const [, before, after] = stderr.split('values.yaml for');
    expect(before).toContain('replicaCount: 7');
    expect(after).not.toContain('replicaCount');
  });

  test('Esc goes back step by step and changes nothing', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What now?', 'change'],
      ['What do you want to change?', 'Storage'],
      ['Storage: which', 'cache'],
      ['Where do providers', ESC],
      ['Storage: which', ESC],
      ['What now?', 'change'],
      ['What do you want to change?', ESC],
      ['What now?', 'save'],
      ['Into which', ESC],
      LEAVE,
    ];
    const {stderr, written} = await talk(lines, {argv: FLAGS});
    const [, first, ...others] = stderr.split('values.yaml for').map((text) => text.split('Looking at the cluster')[0]);
    expect(others).toEqual([first, first]);
    expect([...written.keys()]).toEqual([KEPT]);
  });

  test('another chart is chosen again', async () => {
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What now?', 'change'],
      ['What do you want to change?', 'Release'],
      ['Release: which', 'chart'],
      ['Which chart?', 'agent-job'],
      LEAVE,
    ];
    const {stderr} = await talk(lines, {argv: [...SAID, '--namespace', 'ci'].concat(['--isolation', 'shared'])});
    expect(stderr).toContain('Values of agent-job');
  });

  test('answers that contradict each other are said, and can be changed', async () => {
    const tls: Line[] = [
      ['What now?', 'change'],
      ['What do you want to change?', 'TLS'],
    ];
    const lines: Line[] = [
      ...TO_REVIEW,
      ...tls,
      ['TLS: which', 'ca-secret'],
      ['Secret that holds the CA', 'roots'],
      ['TLS: which', ''],
      ...tls,
      ['TLS: which', 'ca-secret'],
      ['Secret that holds the CA', ''],
      ['TLS: which', ''],
      LEAVE,
    ];
    const {stderr, asked} = await talk(lines, {argv: [...FLAGS, '--ca-file', 'ca.pem'], files: memoryFiles(certificates)});
    expect(stderr).toContain('--ca-file: excludes --ca-secret');
    const [, broken, mended] = asked.filter(({message}) => message === 'What now?') as ListQuestion[];
    expect(broken?.default).toBe('change');
    expect(broken?.choices.find(({value}) => value === 'save')?.disabled).toBeDefined();
    expect(mended?.choices.find(({value}) => value === 'save')?.disabled).toBeUndefined();
  });

  test('files are saved without secrets, for their owner alone', async () => {
    const {written, files, stderr} = await talk([...TO_REVIEW, ['What now?', 'save'], ['Into which', '/srv/agent'], LEAVE], {argv: FLAGS});
    expect([...written.keys()]).toEqual(expect.arrayContaining(['/srv/agent/answers.yaml', '/srv/agent/values.yaml']));
    expect(files.written.every(({isPrivate}) => isPrivate)).toBe(true);
    expect(stderr).toContain('Saved: /srv/agent/answers.yaml, /srv/agent/values.yaml');
  });

  test('without helm and kubectl it ends in the commands to run elsewhere', async () => {
    const {stderr, exit, asked} = await talk([...TO_REVIEW, ['What now?', 'save'], ['Into which', ENTER], ['What now?', ENTER]], {
      argv: FLAGS,
    });
    expect(exit).toBe(0);
    expect(stderr).toContain('An install from here is not possible now');
    expect(stderr).toContain('helm upgrade scalr-agent agent-local --repo');
    expect(stderr).toContain('scalr-agent install --yes');
    expect(choicesOf(asked, 'What now?').find(({value}) => value === 'install')?.disabled).toBeDefined();
  });

  test('a directory that cannot be written is said, and another one may be named', async () => {
    const files = memoryFiles();
    const {write} = files;
    files.write = async (path, ...rest) => {
      if (path.startsWith('/read-only'))
        throw new ExpectedError(`Cannot write ${path}: the file system is read-only.`, {code: 'UNWRITABLE_FILE', exit: ExitCode.failed});
      await write(path, ...rest);
    };
    const lines: Line[] = [
      ...TO_REVIEW,
      ['What now?', 'save'],
      ['Into which', '/read-only'],
      ['What now?', 'save'],
      ['Into which', '/srv'],
      LEAVE,
    ];
    const {exit, stderr, written} = await talk(lines, {argv: FLAGS, files});
    expect(stderr).toContain('Cannot write /read-only/answers.yaml');
    expect(written.has('/srv/values.yaml')).toBe(true);
    expect(exit).toBe(0);
  });
});
