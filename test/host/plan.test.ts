import {expect, test} from 'vitest';
import type {Container} from '../../src/host/agents.ts';
import {planContainerRemoval, planContainers, planServiceRemoval} from '../../src/host/plan.ts';
import {hostAgent} from '../../src/targets/host/agent.ts';
import {DROP_INS} from '../../src/targets/systemd.ts';
import {certificates} from '../support/certificates.ts';
import {settingsFrom} from '../support/settings-from.ts';

const FACTS = {containers: [] as Container[], hasImage: true, hasDaemonProxy: false};

const agentFor = async (flags: Parameters<typeof settingsFrom>[0] = {}) =>
  hostAgent(await settingsFrom({url: 'https://acme.scalr.io', ...flags}, certificates), 'docker');

/** The containers that a plan starts, as Docker lists them. */
const startedBy = (plan: ReturnType<typeof planContainers>): Container[] =>
  plan.steps
    .filter(({call}) => call.args[0] === 'run')
    .map(({call: {args}}) => ({
      Id: 'id',
      Name: `/${args[args.indexOf('--name') + 1]}`,
      State: {Running: true},
      Config: {
        Image: args.at(-2) as string,
        Labels: Object.fromEntries(
          args.flatMap((each, index) => (args[index - 1] === '--label' ? [each.split('=') as [string, string]] : [])),
        ),
      },
    }));

const titles = ({steps}: {steps: readonly {title: string}[]}) => steps.map(({title}) => title);

test('pulls a missing image before it stops a container', async () => {
  const containers = startedBy(planContainers(await agentFor(), '/srv', FACTS));
  const plan = planContainers(await agentFor({'agent-image': 'scalr/agent:1.3.0'}), '/srv', {...FACTS, containers, hasImage: false});
  expect(titles(plan)).toEqual([
    'Pull image scalr/agent:1.3.0',
    'Stop container scalr-agent',
    'Remove container scalr-agent',
    'Start container scalr-agent (scalr/agent:1.3.0)',
  ]);
  expect(plan.warnings).toEqual([expect.stringContaining('gets 10 s to stop')]);
});

test('changes nothing when the containers match, and starts stopped ones', async () => {
  const host = await agentFor();
  const containers = startedBy(planContainers(host, '/srv', FACTS));
  expect(planContainers(host, '/srv', {...FACTS, containers})).toEqual({steps: [], warnings: []});
  const stopped = containers.map((each) => ({...each, State: {Running: false}}));
  expect(titles(planContainers(host, '/srv', {...FACTS, containers: stopped}))).toEqual(['Start the stopped container scalr-agent']);
});

test('replaces a container when only a secret has changed', async () => {
  const before = await agentFor();
  const containers = startedBy(planContainers(before, '/srv', FACTS));
  const after = {...before, secrets: {SCALR_AGENT_TOKEN: 'another'}};
  const plan = planContainers(after, '/srv', {...FACTS, containers});
  expect(titles(plan)).toContain('Remove container scalr-agent');
  expect(JSON.stringify(plan)).not.toContain('another');
});

test('removes agents that the settings no longer need', async () => {
  const containers = startedBy(planContainers(await agentFor({concurrency: '12'}), '/srv', FACTS));
  expect(containers.map(({Name}) => Name)).toEqual(['/scalr-agent-1', '/scalr-agent-2', '/scalr-agent-3']);
  const plan = planContainers(await agentFor({concurrency: '4'}), '/srv', {...FACTS, containers});
  expect(titles(plan).filter((title) => title.startsWith('Remove'))).toHaveLength(3);
});

test('installs the CA where containers of runs can mount it', async () => {
  const plan = planContainers(await agentFor({'ca-file': 'ca.pem', 'ca-public-roots': false}), '/srv', FACTS);
  expect(plan.steps[0]).toMatchObject({call: {tool: 'install', args: ['-D', '-m', '0644', '/srv/ca.pem', '/etc/scalr-agent/ca.pem']}});
});

test('warns when the Docker daemon has no proxy', async () => {
  const host = await agentFor({'https-proxy': 'http://proxy.example.com:3128'});
  expect(planContainers(host, '/srv', FACTS).warnings).toEqual([expect.stringContaining('The Docker daemon has no proxy')]);
  expect(planContainers(host, '/srv', {...FACTS, hasDaemonProxy: true}).warnings).toEqual([]);
});

test('warns when a VCS agent would share the machine with run agents', async () => {
  const containers = startedBy(planContainers(await agentFor({release: 'runs'}), '/srv', FACTS));
  const plan = planContainers(await agentFor({purpose: 'vcs'}), '/srv', {...FACTS, containers});
  expect(plan.warnings).toEqual([expect.stringContaining('Container runs is a run agent')]);
});

test('lists directories and the token as what remains', () => {
  const container: Container = {
    Id: 'id',
    Name: '/scalr-agent',
    Config: {Image: 'scalr/agent:1.4.0', Labels: {'io.scalr.agent.directory': '/srv/agent'}},
    Mounts: [{Source: '/var/run/docker.sock'}, {Source: '/var/lib/scalr-agent'}, {Source: '/srv/agent/client.key'}],
  };
  const {steps, keeps} = planContainerRemoval([container]);
  expect(titles({steps})).toEqual(['Remove container scalr-agent']);
  expect(keeps.map(({what}) => what)).toEqual(['/srv/agent', '/var/lib/scalr-agent', 'image scalr/agent:1.4.0']);
});

test('removes only drop-ins that exist', () => {
  const [first = ''] = DROP_INS;
  expect(planServiceRemoval([]).steps.map(({call}) => call.args)).toEqual([['disable', '--now', 'scalr-agent']]);
  expect(planServiceRemoval([first]).steps.map(({call: {tool, args}}) => [tool, ...args])).toEqual([
    ['systemctl', 'disable', '--now', 'scalr-agent'],
    ['rm', '-f', first],
    ['systemctl', 'daemon-reload'],
  ]);
});
