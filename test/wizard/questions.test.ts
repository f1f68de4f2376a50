import {once} from 'node:events';
import {describe, expect, test} from 'vitest';
import Values from '../../src/commands/values.ts';
import type {Processes} from '../../src/ports/processes.ts';
import type {TextQuestion} from '../../src/ports/prompter.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';
import {ENTER, type Line} from '../support/scripted-prompter.ts';
import {TODAY} from '../support/settings-from.ts';
import {choicesOf, jwt, LEAVE, talk} from './conversation.ts';

const inDays = (days: number): number => Math.floor(TODAY.getTime() / 1000) + days * 86_400;
const TOKEN = jwt({iss: 'acme.scalr.io', exp: inDays(400)});

const AGENT: Line[] = [
  ['Agent pool token', TOKEN],
  ['Address of the Scalr account', ENTER],
];
const QUIET: Line[] = [
  ['What does the network', ENTER],
  ['Where do providers and binaries stay', ENTER],
  ['How many runs at the same time', ENTER],
];
const HAPPY: Line[] = [
  ...AGENT,
  ['Where does the cluster run', ENTER],
  ['What is the agent pool for', ENTER],
  ['May runs share', ENTER],
  ...QUIET,
];

describe('a cluster', () => {
  const conversation = [...HAPPY, ['Which chart?', ENTER], LEAVE] as const;

  test('that does not answer is waited for with a word, and not for long', async () => {
    const answer: Processes['run'] = async (_call, {over} = {}) => {
      if (!over?.aborted) await once(over as AbortSignal, 'abort');
      return {exitCode: 1, stdout: '', stderr: 'no answer in time'};
    };
    const {exit, stderr} = await talk(conversation, {answer, argv: ['--kube-context', 'blue', '--timeout', '1s']});
    expect(exit).toBe(0);
    expect(stderr).toMatch(/Waiting for the cluster …\n\nContext blue says nothing: [^.]*no answer in time/);
  });

  test('that answers at once is not', async () => {
    expect((await talk(conversation)).stderr).not.toContain('Waiting');
  });
});

describe('the happy path', () => {
  test('takes ten answers, most of them Enter, before it is decided', async () => {
    const {exit, stderr} = await talk([...HAPPY, ['Which chart?', ENTER], LEAVE]);
    expect(exit).toBe(0);
    expect(stderr).toContain('agent-local is recommended');
    expect(HAPPY.length + 2).toBeLessThanOrEqual(10);
  });

  test.each([
    ['agent-local', ENTER, ENTER],
    ['agent-job', 'per-run', ENTER],
    ['agent-k8s', 'per-run', 'agent-k8s'],
  ] as const)('%s: saved answers give the same values byte for byte', async (chart, isolation, choice) => {
    const lines: Line[] = [
      ...AGENT,
      ['Where does the cluster run', 'eks'],
      ['What is the agent pool for', ENTER],
      ['May runs share', isolation],
      ...QUIET,
      ['Which chart?', choice],
      ...(chart === 'agent-k8s' ? ([['Which system do the nodes run', 'al2']] as const) : []),
      ['What now?', 'save'],
      ['Into which directory', 'out'],
      LEAVE,
    ];
    const {exit, stderr, written} = await talk(lines);
    expect(exit, stderr).toBe(0);
    const answers = written.get('out/answers.yaml') as string;
    expect(answers).not.toContain(TOKEN);
    const {stdout} = await runCommand(Values, ['--answers', 'a'], {files: memoryFiles({a: answers})});
    expect(written.get('out/values.yaml')).toBe(stdout);
    expect(stdout).toContain(`Values of ${chart} `);
  });
});

describe('the token', () => {
  test('offers the account it was made for, and says so', async () => {
    const {asked} = await talk([...HAPPY, ['Which chart?', ENTER], LEAVE]);
    expect(asked[1]).toMatchObject({default: 'https://acme.scalr.io', note: 'the token'});
  });

  test('that has expired is refused at the question', async () => {
    const {asked} = await talk([...HAPPY, ['Which chart?', ENTER], LEAVE]);
    const {validate} = asked[0] as TextQuestion;
    expect(await validate?.(jwt({exp: inDays(-3)}))).toMatch(/^Expired on \d{4}-\d\d-\d\d\. Add a token/);
    expect(await validate?.('two words')).toContain('blanks');
    expect(await validate?.(TOKEN)).toBeUndefined();
  });

  test('may lie in a Secret that is there', async () => {
    const lines: Line[] = [
      ['Agent pool token', ENTER],
      ['Secret that holds', 'mine'],
      ['Address of the', 'https://acme.scalr.io'],
      ...HAPPY.slice(2),
    ];
    const {stderr} = await talk([...lines, ['Which chart?', ENTER], LEAVE]);
    expect(stderr).toMatch(/name: "mine"/);
  });

  test('stands in nothing that is said or kept', async () => {
    const lines: Line[] = [...HAPPY, ['Which chart?', ENTER], ['What now?', 'print'], ['What now?', 'save'], ['Into which', ENTER], LEAVE];
    const {stdout, stderr, files} = await talk(lines);
    expect(stdout + stderr + JSON.stringify(files.written)).not.toContain(TOKEN);
    expect(stderr).toContain('# Needs the variable SCALR_AGENT_TOKEN');
  });
});

describe('what is known is not asked', () => {
  const REST: Line[] = [...QUIET.slice(0, 1), ['How many runs', ENTER], ['Which chart?', ENTER], LEAVE];

  test('flags, variables and an answers file silence questions and stand there as if answered', async () => {
    const files = memoryFiles({'a.yaml': 'purpose: runs\nisolation: shared\n'});
    const argv = ['--url', 'https://acme.scalr.io', '--cache', 'ephemeral', '--answers', 'a.yaml'];
    const {stderr, exit} = await talk(REST, {argv, files, env: {SCALR_AGENT_TOKEN: TOKEN, SCALR_AGENT_INSTALL_CLOUD: 'gke'}});
    expect(exit, stderr).toBe(0);
    expect(stderr).toContain('✔ Address of the Scalr account https://acme.scalr.io (flag)');
    expect(stderr).toContain('✔ Agent pool token [hidden] (SCALR_AGENT_TOKEN)');
    expect(stderr).toContain('✔ Where does the cluster run? gke (environment)');
    expect(stderr).toContain('✔ May runs share a container? shared (answers file)');
  });

  test('a wrong flag ends it before the first question', async () => {
    const {exit, stderr} = await talk([], {argv: ['--url', 'acme', '--cloud', 'azure']});
    expect(exit).toBe(2);
    expect(stderr).toContain('--url');
    expect(stderr).toContain('--cloud');
  });

  test('a VCS agent is asked nothing about runs', async () => {
    const lines: Line[] = [
      ...AGENT,
      ['Where does the cluster run', ENTER],
      ['What is the agent pool for', 'vcs'],
      ['What does the network', ENTER],
    ];
    const {stderr} = await talk([...lines, ['Which chart?', ENTER], LEAVE]);
    expect(stderr).toContain('agent-local is recommended');
  });

  test('a chart that was named is asked only what it takes', async () => {
    const lines = [...HAPPY.slice(0, 4), ...QUIET.slice(0, 2), ['How many runs', ENTER], LEAVE] as Line[];
    const {asked, stderr} = await talk(lines.toSpliced(4, 0, ['May runs share', ENTER]), {argv: ['--chart', 'agent-local']});
    expect(stderr).toContain('✔ Which chart? agent-local (flag)');
    expect(choicesOf(asked, 'Where do providers').find(({value}) => value === 'efs')?.disabled).toMatch(/^not with agent-local/);
  });
});

describe('the network', () => {
  test('a proxy takes its addresses', async () => {
    const lines: Line[] = [
      ...HAPPY.slice(0, 5),
      ['What does the network', ['A proxy']],
      ['Proxy for https', 'http://proxy.corp:3128'],
      ['Proxy for http:', ENTER],
      ['Addresses reached without', '10.0.0.0/8,.corp'],
      ...QUIET.slice(1),
    ];
    const {stderr} = await talk([...lines, ['Which chart?', ENTER], LEAVE]);
    expect(stderr).toContain('HTTPS_PROXY: "http://proxy.corp:3128"');
    expect(stderr).toMatch(/NO_PROXY: "10\.0\.0\.0\/8,\.corp,/);
  });

  test('a CA that has expired is refused at the question, and Enter alone goes on without', async () => {
    const lines: Line[] = [
      ...HAPPY.slice(0, 5),
      ['What does the network', ['Certificates of a private CA']],
      ['File with private CA', ENTER],
      ...QUIET.slice(1),
    ];
    const {asked, exit} = await talk([...lines, ['Which chart?', ENTER], LEAVE], {files: memoryFiles(certificates)});
    expect(exit).toBe(0);
    const question = asked.find(({message}) => message.startsWith('File with private CA')) as TextQuestion;
    expect(await question.validate?.('expired.pem')).toMatch(/expired on/);
    expect(await question.validate?.('nowhere.pem')).toContain('there is no such file');
    expect(await question.validate?.('ca.pem')).toBeUndefined();
  });

  test('of a proxy that a flag gave only the rest is asked', async () => {
    const lines: Line[] = [
      ...HAPPY.slice(0, 5),
      ['What does the network', ENTER],
      ['Proxy for http:', ENTER],
      ['Addresses reached without', ENTER],
      ...QUIET.slice(1),
    ];
    const {asked} = await talk([...lines, ['Which chart?', ENTER], LEAVE], {argv: ['--https-proxy', 'http://p:1']});
    expect(choicesOf(asked, 'What does the network').map(({label}) => label)).not.toContain('A proxy');
  });

  test('a password of a proxy is neither kept nor printed', async () => {
    const lines: Line[] = [
      ...HAPPY.slice(0, 5),
      ['What does the network', ['A proxy']],
      ['Proxy for https', 'http://me:geheim@proxy.corp:3128'],
      ['Proxy for http:', ENTER],
      ['Addresses reached without', ENTER],
      ...QUIET.slice(1),
      ['Which chart?', ENTER],
      ['What now?', 'print'],
      ['What now?', 'save'],
      ['Into which', 'out'],
      LEAVE,
    ];
    const {stderr, files} = await talk(lines);
    const kept = files.written.filter(({path}) => !path.endsWith('values.yaml'));
    expect(JSON.stringify(kept)).not.toContain('geheim');
    expect(stderr.split('scalr-agent install --yes')[1]?.split('Where there is a cluster')[0]).not.toContain('geheim');
    expect(stderr).toContain('SCALR_AGENT_INSTALL_HTTPS_PROXY');
  });
});

test('? explains in three lines, the last with a reference', async () => {
  const {asked} = await talk([...HAPPY, ['Which chart?', ENTER], LEAVE]);
  for (const {message, help} of asked) {
    expect(help.length, message).toBe(3);
    expect(help.at(-1), message).toMatch(/https:\/\/|agent-(local|k8s|job) \d|scalr-agent /);
  }
});
