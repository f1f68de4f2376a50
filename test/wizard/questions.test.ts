import {once} from 'node:events';
import {describe, expect, test} from 'vitest';
import Values from '../../src/commands/values.ts';
import type {KubernetesClient} from '../../src/kubernetes/client.ts';
import type {Processes} from '../../src/ports/processes.ts';
import type {TextQuestion} from '../../src/ports/prompter.ts';
import {certificates} from '../support/certificates.ts';
import {fakeKubernetes} from '../support/fake-kubernetes.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';
import {ENTER, type Line} from '../support/scripted-prompter.ts';
import {TODAY} from '../support/settings-from.ts';
import {choicesOf, jwt, LEAVE, talk} from './conversation.ts';

const inDays = (days: number): number => Math.floor(TODAY.getTime() / 1000) + days * 86_400;
const TOKEN = jwt({iss: 'acme.scalr.io', exp: inDays(400)});

const AGENT: Line[] = [
  ['Agent pool token', TOKEN],
  ['Scalr URL', ENTER],
];
const QUIET: Line[] = [
  ['Which of these apply to the network', ENTER],
  ['Where should provider and binary downloads be cached', ENTER],
  ['Maximum concurrent runs', ENTER],
];
const HAPPY: Line[] = [
  ...AGENT,
  ['Where does the cluster run', ENTER],
  ['What is the agent pool used for', ENTER],
  ['Isolate each run', ENTER],
  ...QUIET,
];

describe('a cluster', () => {
  const conversation = [...HAPPY, ['Chart to install', ENTER], LEAVE] as const;

  test('shows a message and times out when the cluster does not answer', async () => {
    const answer: Processes['run'] = async (_call, {signal} = {}) => {
      if (!signal?.aborted) await once(signal as AbortSignal, 'abort');
      return {exitCode: 1, stdout: '', stderr: 'timed out waiting for a response'};
    };
    const kubernetes: KubernetesClient = {
      ...fakeKubernetes(),
      async get(_path, {signal}) {
        if (!signal.aborted) await once(signal, 'abort');
        return {trouble: {kind: 'aborted', message: 'timed out (--timeout)'}};
      },
    };
    const {exit, stderr} = await talk(conversation, {answer, kubernetes, argv: ['--kube-context', 'blue', '--timeout', '1s']});
    expect(exit).toBe(0);
    expect(stderr).toMatch(/Waiting for the cluster …\n\nCannot reach the cluster \(context blue\): [^.]*timed out waiting for a response/);
  });

  test('shows no message when the cluster answers immediately', async () => {
    expect((await talk(conversation)).stderr).not.toContain('Waiting');
  });
});

describe('the happy path', () => {
  test('needs at most ten answers', async () => {
    const {exit, stderr} = await talk([...HAPPY, ['Chart to install', ENTER], LEAVE]);
    expect(exit).toBe(0);
    expect(stderr).toContain('Recommended chart: agent-local');
    expect(HAPPY.length + 2).toBeLessThanOrEqual(10);
  });

  test.each([
    ['agent-local', ENTER, ENTER],
    ['agent-job', 'per-run', ENTER],
    ['agent-k8s', 'per-run', 'agent-k8s'],
  ] as const)('%s: generates identical values from saved answers', async (chart, isolation, choice) => {
    const lines: Line[] = [
      ...AGENT,
      ['Where does the cluster run', 'eks'],
      ['What is the agent pool used for', ENTER],
      ['Isolate each run', isolation],
      ...QUIET,
      ['Chart to install', choice],
      ...(chart === 'agent-k8s' ? ([['Operating system of the nodes', 'al2']] as const) : []),
      ['What do you want to do?', 'save'],
      ['Directory to save to', 'out'],
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
  test('offers the Scalr URL of the token as default', async () => {
    const {asked} = await talk([...HAPPY, ['Chart to install', ENTER], LEAVE]);
    expect(asked[1]).toMatchObject({default: 'https://acme.scalr.io', note: 'from the token'});
  });

  test('is refused when expired', async () => {
    const {asked} = await talk([...HAPPY, ['Chart to install', ENTER], LEAVE]);
    const {validate} = asked[0] as TextQuestion;
    expect(await validate?.(jwt({exp: inDays(-3)}))).toMatch(/^The token expired on \d{4}-\d\d-\d\d\. Create a new token/);
    expect(await validate?.('two words')).toContain('whitespace');
    expect(await validate?.(TOKEN)).toBeUndefined();
  });

  test('can be in an existing Secret', async () => {
    const lines: Line[] = [
      ['Agent pool token', ENTER],
      ['Secret with the agent pool token', 'mine'],
      ['Scalr URL', 'https://acme.scalr.io'],
      ...HAPPY.slice(2),
    ];
    const {stderr} = await talk([...lines, ['Chart to install', ENTER], LEAVE]);
    expect(stderr).toMatch(/name: "mine"/);
  });

  test('is never printed or saved', async () => {
    const lines: Line[] = [
      ...HAPPY,
      ['Chart to install', ENTER],
      ['What do you want to do?', 'print'],
      ['What do you want to do?', 'save'],
      ['Directory to save to', ENTER],
      LEAVE,
    ];
    const {stdout, stderr, files} = await talk(lines);
    expect(stdout + stderr + JSON.stringify(files.written)).not.toContain(TOKEN);
    expect(stderr).toContain('# Requires the environment variable SCALR_AGENT_TOKEN');
  });
});

describe('known answers', () => {
  const REST: Line[] = [...QUIET.slice(0, 1), ['Maximum concurrent runs', ENTER], ['Chart to install', ENTER], LEAVE];

  test('shows answers from flags, variables and files instead of asking', async () => {
    const files = memoryFiles({'a.yaml': 'purpose: runs\nisolation: shared\n'});
    const argv = ['--url', 'https://acme.scalr.io', '--cache', 'ephemeral', '--answers', 'a.yaml'];
    const {stderr, exit} = await talk(REST, {argv, files, env: {SCALR_AGENT_TOKEN: TOKEN, SCALR_AGENT_INSTALL_CLOUD: 'gke'}});
    expect(exit, stderr).toBe(0);
    expect(stderr).toContain('✔ Scalr URL https://acme.scalr.io (flag)');
    expect(stderr).toContain('✔ Agent pool token [hidden] (SCALR_AGENT_TOKEN)');
    expect(stderr).toContain('✔ Where does the cluster run? gke (environment)');
    expect(stderr).toContain('✔ Isolate each run in its own pod? shared (answers file)');
  });

  test('fails before the first question when a flag is invalid', async () => {
    const {exit, stderr} = await talk([], {argv: ['--url', 'acme', '--cloud', 'azure']});
    expect(exit).toBe(2);
    expect(stderr).toContain('--url');
    expect(stderr).toContain('--cloud');
  });

  test('asks nothing about runs for a VCS agent', async () => {
    const lines: Line[] = [
      ...AGENT,
      ['Where does the cluster run', ENTER],
      ['What is the agent pool used for', 'vcs'],
      ['Which of these apply to the network', ENTER],
    ];
    const {stderr} = await talk([...lines, ['Chart to install', ENTER], LEAVE]);
    expect(stderr).toContain('Recommended chart: agent-local');
  });

  test('asks only questions that the given chart supports', async () => {
    const lines = [...HAPPY.slice(0, 4), ...QUIET.slice(0, 2), ['Maximum concurrent runs', ENTER], LEAVE] as Line[];
    const {asked, stderr} = await talk(lines.toSpliced(4, 0, ['Isolate each run', ENTER]), {argv: ['--chart', 'agent-local']});
    expect(stderr).toContain('✔ Chart to install agent-local (flag)');
    expect(choicesOf(asked, 'Where should provider').find(({value}) => value === 'efs')?.disabled).toMatch(/^not supported by agent-local/);
  });
});

describe('the network', () => {
  test('asks for the URLs of a proxy', async () => {
    const lines: Line[] = [
      ...HAPPY.slice(0, 5),
      ['Which of these apply to the network', ['HTTP proxy']],
      ['Proxy for https', 'http://proxy.corp:3128'],
      ['Proxy for http:', ENTER],
      ['Hosts and networks that bypass', '10.0.0.0/8,.corp'],
      ...QUIET.slice(1),
    ];
    const {stderr} = await talk([...lines, ['Chart to install', ENTER], LEAVE]);
    expect(stderr).toContain('HTTPS_PROXY: "http://proxy.corp:3128"');
    expect(stderr).toMatch(/NO_PROXY: "10\.0\.0\.0\/8,\.corp,/);
  });

  test('refuses an expired CA, and continues without a CA on Enter', async () => {
    const lines: Line[] = [
      ...HAPPY.slice(0, 5),
      ['Which of these apply to the network', ['Private CA certificates']],
      ['File with private CA', ENTER],
      ...QUIET.slice(1),
    ];
    const {asked, exit} = await talk([...lines, ['Chart to install', ENTER], LEAVE], {files: memoryFiles(certificates)});
    expect(exit).toBe(0);
    const question = asked.find(({message}) => message.startsWith('File with private CA')) as TextQuestion;
    expect(await question.validate?.('expired.pem')).toMatch(/expired on/);
    expect(await question.validate?.('nowhere.pem')).toContain('no such file');
    expect(await question.validate?.('ca.pem')).toBeUndefined();
  });

  test('asks only for missing proxy settings', async () => {
    const lines: Line[] = [
      ...HAPPY.slice(0, 5),
      ['Which of these apply to the network', ENTER],
      ['Proxy for http:', ENTER],
      ['Hosts and networks that bypass', ENTER],
      ...QUIET.slice(1),
    ];
    const {asked} = await talk([...lines, ['Chart to install', ENTER], LEAVE], {argv: ['--https-proxy', 'http://p:1']});
    expect(choicesOf(asked, 'Which of these apply to the network').map(({label}) => label)).not.toContain('HTTP proxy');
  });

  test('never saves or prints the password of a proxy', async () => {
    const lines: Line[] = [
      ...HAPPY.slice(0, 5),
      ['Which of these apply to the network', ['HTTP proxy']],
      ['Proxy for https', 'http://me:geheim@proxy.corp:3128'],
      ['Proxy for http:', ENTER],
      ['Hosts and networks that bypass', ENTER],
      ...QUIET.slice(1),
      ['Chart to install', ENTER],
      ['What do you want to do?', 'print'],
      ['What do you want to do?', 'save'],
      ['Directory to save to', 'out'],
      LEAVE,
    ];
    const {stderr, files} = await talk(lines);
    const kept = files.written.filter(({path}) => !path.endsWith('values.yaml'));
    expect(JSON.stringify(kept)).not.toContain('geheim');
    expect(stderr.split('scalr-agent install --yes')[1]?.split('Install from another machine')[0]).not.toContain('geheim');
    expect(stderr).toContain('SCALR_AGENT_INSTALL_HTTPS_PROXY');
  });
});

test('shows three lines of help, the last with a reference', async () => {
  const {asked} = await talk([...HAPPY, ['Chart to install', ENTER], LEAVE]);
  for (const {message, help} of asked) {
    expect(help.length, message).toBe(3);
    expect(help.at(-1), message).toMatch(/https:\/\/|agent-(local|k8s|job) \d|scalr-agent /);
  }
});
