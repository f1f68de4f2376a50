import {describe, expect, test} from 'vitest';
import {hostAgent} from '../../../src/extensions/machine/agent.ts';
import {containerName, type DockerContainer} from '../../../src/extensions/machine/containers.ts';
import {
  directoriesFor,
  directoriesNamed,
  STANDARD_DIRECTORIES,
  usersOf,
} from '../../../src/extensions/machine/directories.ts';
import {DROP_INS} from '../../../src/extensions/machine/files.ts';
import {type HostPlan, planContainers} from '../../../src/extensions/machine/plan.ts';
import {recover} from '../../../src/extensions/machine/recovery.ts';
import {planContainerRemoval, planServiceRemoval} from '../../../src/extensions/machine/removal.ts';
import {agentContainers, currentContainers} from '../../../src/extensions/machine/roles.ts';
import type {Call} from '../../../src/ground/call.ts';
import {argumentsOf} from '../../../src/ground/call-arguments.ts';
import {certificates} from '../../support/certificates.ts';
import {settingsFrom} from '../../support/settings-from.ts';
import {DockerModel} from './docker-model.ts';

const FACTS = {hasImage: true, hasDaemonProxy: false};

const agentFor = async (flags: Parameters<typeof settingsFrom>[0] = {}) =>
  hostAgent(await settingsFrom({url: 'https://acme.scalr.io', ...flags}, certificates), 'docker');

const planFor = (
  host: Awaited<ReturnType<typeof agentFor>>,
  {containers}: Pick<DockerModel, 'containers'>,
  directory = '/srv',
): HostPlan => planContainers(host, directory, {...FACTS, containers});

test('rejects a release that is too short for the name of a container', async () => {
  await expect(agentFor({release: 'h'})).rejects.toMatchObject({code: 'INVALID_SETTING'});
  await expect(agentFor({release: 'ha'})).resolves.toMatchObject({name: 'ha'});
});

/** A machine with a finished install. */
async function installed(
  flags: Parameters<typeof settingsFrom>[0] = {},
  docker = new DockerModel(),
): Promise<DockerModel> {
  const {steps, finish} = planFor(await agentFor(flags), docker);
  docker.run([...steps, ...finish]);
  return docker;
}

const titles = ({
  steps,
  finish = [],
}: {
  steps: readonly {title: string}[];
  finish?: readonly {title: string}[];
}) => [...steps, ...finish].map(({title}) => title);

test('creates the new container before it stops the old one', async () => {
  const docker = await installed();
  const host = await agentFor({'agent-image': 'scalr/agent:1.3.0'});
  const plan = planContainers(host, '/srv', {...FACTS, ...docker, hasImage: false});
  expect(titles(plan)).toEqual([
    'Pull image scalr/agent:1.3.0',
    'Create container scalr-agent.next (scalr/agent:1.3.0)',
    'Stop container scalr-agent',
    'Rename container scalr-agent to scalr-agent.previous',
    'Rename container scalr-agent.next to scalr-agent',
    'Start container scalr-agent',
    'Remove container scalr-agent.previous',
  ]);
  expect(argumentsOf(plan.steps[2]?.call as Call)).toEqual(['stop', '-t', '3660', 'scalr-agent']);
  expect(plan.warnings).toEqual([expect.stringContaining('gets up to 3660 s to stop')]);
});

test('changes nothing when the containers match, and starts stopped and paused ones', async () => {
  const docker = await installed();
  const host = await agentFor();
  expect(planFor(host, docker)).toEqual({steps: [], finish: [], warnings: []});
  expect(planFor(host, docker, '/another/checkout')).toEqual({steps: [], finish: [], warnings: []});
  const inState = (State: DockerContainer['State']) => ({
    containers: docker.containers.map((each) => ({...each, State: State ?? {}})),
  });
  expect(titles(planFor(host, inState({Running: false})))).toEqual([
    'Start the stopped container scalr-agent',
  ]);
  expect(titles(planFor(host, inState({Running: true, Paused: true})))).toEqual([
    'Continue the paused container scalr-agent',
  ]);
});

test('replaces a container when only a secret has changed', async () => {
  const docker = await installed();
  const plan = planFor({...(await agentFor()), secrets: {SCALR_AGENT_TOKEN: 'another'}}, docker);
  expect(titles(plan)).toContain('Remove container scalr-agent.previous');
  expect(JSON.stringify(plan)).not.toContain('another');
});

test('removes agents that the settings no longer need', async () => {
  const docker = await installed({concurrency: '12'});
  expect(docker.summary).toEqual([
    'scalr-agent-1 runs',
    'scalr-agent-2 runs',
    'scalr-agent-3 runs',
  ]);
  expect((await installed({concurrency: '4'}, docker)).summary).toEqual(['scalr-agent runs']);
});

test('stops an agent without an own stop timeout for as long as its runs need', async () => {
  const docker = await installed();
  const withEnv = (...Env: string[]) => ({
    containers: docker.containers.map(({Config: {StopTimeout: _, ...Config} = {}, ...each}) => ({
      ...each,
      Config: {...Config, Env},
    })),
  });
  const stopOf = async (machine: Pick<DockerModel, 'containers'>) =>
    argumentsOf(
      planFor(await agentFor({debug: true}), machine).steps.find(
        ({id}) => id === 'stop scalr-agent',
      )?.call as Call,
    )[2];
  expect(await stopOf(withEnv())).toBe('3660');
  expect(await stopOf(withEnv('SCALR_AGENT_WORKER_DRAIN_TIMEOUT=540'))).toBe('600');
  expect(await stopOf(withEnv('SCALR_AGENT_WORKER_ON_STOP_ACTION=grace-shutdown'))).toBe('70');
});

test('says why a container of run.sh is replaced', async () => {
  const docker = await installed();
  for (const {Config} of docker.containers)
    if (Config) Config.Labels = {'io.scalr.agent.release': 'scalr-agent'};
  expect(planFor(await agentFor(), docker).warnings[0]).toContain(
    'was started by run.sh or Docker Compose',
  );
});

test('installs the CA where run containers can mount it, unless it is there', async () => {
  const host = await agentFor({'ca-file': 'ca.pem', 'ca-public-roots': false});
  const [, copy] = planFor(host, new DockerModel()).steps;
  expect(copy).toMatchObject({
    call: {tool: 'install', args: ['-D', '-m', '0644', '/srv/ca.pem', '/etc/scalr-agent/ca.pem']},
  });
  const upToDate = new Set(['/etc/scalr-agent/ca.pem']);
  expect(
    titles(planContainers(host, '/srv', {...FACTS, containers: [], upToDate})).join(),
  ).not.toContain('Copy');
});

test('restores a CA file that was deleted below a running agent', async () => {
  const flags = {'ca-file': 'ca.pem', 'ca-public-roots': false} as const;
  const docker = await installed(flags);
  expect(titles(planFor(await agentFor(flags), docker))).toEqual([
    'Copy ca.pem to /etc/scalr-agent/ca.pem',
  ]);
});

test('replaces a container that somebody has renamed', async () => {
  const docker = await installed();
  for (const each of docker.containers) each.Name = '/mine';
  const {steps, finish} = planFor(await agentFor(), docker);
  docker.run(steps);
  expect(docker.summary).toEqual(['mine.previous stopped', 'scalr-agent runs']);
  expect(currentContainers(docker.containers, 'scalr-agent').map(containerName)).toEqual([
    'scalr-agent',
  ]);
  docker.run(finish);
  expect(docker.summary).toEqual(['scalr-agent runs']);
});

test('names the release of a container that has the desired name', async () => {
  const docker = await installed({concurrency: '10'});
  const other = await agentFor({release: 'scalr-agent-1'});
  expect(() => planFor(other, docker)).toThrow(
    'Container scalr-agent-1 already exists and belongs to release scalr-agent.',
  );
});

test('copies a client certificate into the container instead of mounting it', async () => {
  const {steps} = planFor(
    await agentFor({'client-cert-file': 'client.pem', 'client-key-file': 'client.key'}),
    new DockerModel(),
  );
  expect(argumentsOf(steps[0]?.call as Call).join(' ')).not.toContain('client.key:');
  expect(steps[1]?.call).toMatchObject({
    args: ['cp', '-', 'scalr-agent.next:/'],
    input: expect.anything(),
  });
});

test('warns when the Docker daemon has no proxy', async () => {
  const host = await agentFor({'https-proxy': 'http://proxy.example.com:3128'});
  expect(planFor(host, new DockerModel()).warnings).toEqual([
    expect.stringContaining('The Docker daemon has no proxy'),
  ]);
  expect(
    planContainers(host, '/srv', {...FACTS, containers: [], hasDaemonProxy: true}).warnings,
  ).toEqual([]);
});

test('warns when a VCS agent would share the machine with run agents', async () => {
  const plan = planFor(await agentFor({purpose: 'vcs'}), await installed({release: 'runs'}));
  expect(plan.warnings).toEqual([expect.stringContaining('Container runs is a run agent')]);
});

describe('an interrupted install', () => {
  const CHANGES = [
    ['another setting', {}, {debug: true}],
    ['more agents', {}, {concurrency: '12'}],
    ['fewer agents', {concurrency: '12'}, {concurrency: '4'}],
    ['another share of the runs', {concurrency: '7'}, {concurrency: '8'}],
  ] as const;
  /** Directories of running containers. */
  const dataOf = ({containers}: DockerModel) =>
    containers
      .filter(({State}) => State?.Running)
      .map(({Config}) => Config?.Env?.find((each) => each.startsWith('SCALR_AGENT_DATA_DIR=')));

  const ids = ({containers}: DockerModel) =>
    containers.filter(({State}) => State?.Running).map(({Id, Name}) => `${Name} ${Id}`);

  /** The machine after each number of steps, while no two agents share their data. */
  async function* interruptions(before: object, after: object) {
    const docker = await installed({...before});
    const plan = planFor(await agentFor({...after}), docker);
    const all = [...plan.steps, ...plan.finish];
    for (let done = 0; done <= all.length; done += 1) {
      const machine = docker.clone();
      for (const step of all.slice(0, done)) {
        machine.run([step]);
        expect(new Set(dataOf(machine)).size).toBe(dataOf(machine).length);
      }
      yield {
        machine,
        before: docker,
        title: all[done - 1]?.title,
        isFinal: done > plan.steps.length,
      };
    }
  }

  test.each(
    CHANGES,
  )('converges when it is repeated with %s, whatever step was the last', async (_, before, after) => {
    const desired = (await installed({...after})).summary;
    for await (const {machine, title} of interruptions(before, after)) {
      const repeated = planFor(await agentFor({...after}), machine);
      for (const step of [...repeated.steps, ...repeated.finish]) {
        machine.run([step]);
        expect(new Set(dataOf(machine)).size, title).toBe(dataOf(machine).length);
      }
      expect(machine.summary, title).toEqual(desired);
      expect(planFor(await agentFor({...after}), machine), title).toMatchObject({
        steps: [],
        finish: [],
      });
    }
  });

  test.each(
    CHANGES,
  )('stops new and failed containers that somebody has started, after %s', async (_, before, after) => {
    const desired = (await installed({...after})).summary;
    for await (const {machine, title} of interruptions(before, after)) {
      for (const each of machine.containers)
        if (/\.(next|failed)$/.test(each.Name)) each.State = {Running: true};
      expect((await installed({...after}, machine)).summary, title).toEqual(desired);
    }
  });

  test.each(CHANGES)('converges with further settings after %s', async (_, before, after) => {
    const desired = (await installed({...after, 'log-format': 'json'})).summary;
    for await (const {machine, title} of interruptions(before, after)) {
      expect((await installed({...after, 'log-format': 'json'}, machine)).summary, title).toEqual(
        desired,
      );
    }
  });

  test.each(
    CHANGES,
  )('restores what ran before when %s fails, whatever step fails', async (_, before, after) => {
    for await (const {machine, before: old, title, isFinal} of interruptions(before, after)) {
      if (isFinal) continue;
      for (const step of recover(agentContainers(machine.containers, 'scalr-agent')).steps) {
        // A repeated recovery has the same result as an uninterrupted one.
        const again = machine.clone();
        again.run(recover(agentContainers(again.containers, 'scalr-agent')).steps);
        expect(ids(again), title).toEqual(ids(old));
        machine.run([step]);
        expect(new Set(dataOf(machine)).size, title).toBe(dataOf(machine).length);
      }
      expect(ids(machine), title).toEqual(ids(old));
      expect(
        machine.summary.filter((each) => each.endsWith('.next stopped')),
        title,
      ).toEqual([]);
    }
  });

  test('waits for an old container that has already received the signal to stop', async () => {
    const docker = await installed();
    docker.run(planFor(await agentFor({debug: true}), docker).steps.slice(0, 1));
    const {steps} = recover(docker.containers, {stopping: new Set(['scalr-agent'])});
    expect(steps.map(({call}) => argumentsOf(call).join(' '))).toEqual([
      'restart -t 3660 scalr-agent',
      'rm scalr-agent.next',
    ]);
  });

  test('does not start a container that was stopped before', async () => {
    const docker = await installed();
    for (const each of docker.containers) each.State = {Running: false};
    const idle = new Set(docker.containers.map(({Id}) => Id));
    const {steps} = planFor(await agentFor({debug: true}), docker);
    docker.run(steps.slice(0, -1));
    docker.run(recover(docker.containers, {idle}).steps);
    expect(docker.summary).toEqual(['scalr-agent stopped', 'scalr-agent.failed stopped']);
  });
});

describe('directories', () => {
  const container = (
    name: string,
    release: string | undefined,
    ...sources: string[]
  ): DockerContainer => ({
    Id: name,
    Name: `/${name}`,
    Config: {
      Image: 'scalr/agent:1.4.0',
      Labels: release === undefined ? {} : {'io.scalr.agent.release': release},
    },
    Mounts: sources.map((Source) => ({Source})),
  });

  test('are named after the release only beside another release', () => {
    const first = container('scalr-agent', 'scalr-agent', '/var/lib/scalr-agent');
    expect(directoriesFor('second', [], false)).toEqual(STANDARD_DIRECTORIES);
    expect(directoriesFor('scalr-agent', [first], false)).toEqual(STANDARD_DIRECTORIES);
    expect(directoriesFor('second', [first], false)).toEqual({
      ...STANDARD_DIRECTORIES,
      data: '/var/lib/scalr-agent-second',
    });
    expect(
      directoriesFor('second', [container('a-2', 'a', '/var/lib/scalr-agent-2')], false).data,
    ).toBe('/var/lib/scalr-agent-second');
    expect(
      directoriesFor('second', [container('x', undefined, '/etc/scalr-agent/ca.pem')], false)
        .configuration,
    ).toBe('/etc/scalr-agent-second');
    expect(directoriesFor('second', [], true)).toEqual(directoriesNamed('second'));
  });

  test('of an existing container are kept', () => {
    const shared = ['first', 'second'].map((name) => container(name, name, '/var/lib/scalr-agent'));
    expect(directoriesFor('second', shared, false)).toEqual(STANDARD_DIRECTORIES);
    const own = container('second', 'second', '/var/lib/scalr-agent-second');
    expect(directoriesFor('second', [own], false).data).toBe('/var/lib/scalr-agent-second');
  });

  test('that another agent mounts are refused for new data, and reported for existing data', async () => {
    const first = container('first', 'first', '/srv/data');
    const host = await agentFor({release: 'second', 'data-home': '/srv/data'});
    expect(() => planFor(host, {containers: [first]})).toThrow(
      'Directory /srv/data is also mounted by container first.',
    );
    const second = container('second', 'second', '/srv/data');
    expect(planFor(host, {containers: [first, second]}).warnings.join()).toContain(
      'Directory /srv/data is also mounted by container first.',
    );
  });

  test('are in use by containers that mount them, a part of them, or a directory above', () => {
    const users = ['/var/lib/scalr-agent', '/var/lib/scalr-agent/cache', '/var/lib', '/'].map(
      (path, index) => container(`c${index}`, 'x', path),
    );
    const others = ['/var/lib/scalr-agent-2', '/etc'].map((path) => container(path, 'x', path));
    expect(usersOf('/var/lib/scalr-agent', [...users, ...others])).toEqual(users);
  });
});

describe('an uninstall', () => {
  const container: DockerContainer = {
    Id: 'id',
    Name: '/scalr-agent',
    Config: {Image: 'scalr/agent:1.4.0', Labels: {'io.scalr.agent.directory': '/srv/agent'}},
    Mounts: [
      {Source: '/var/run/docker.sock'},
      {Source: '/var/lib/scalr-agent'},
      {Type: 'volume', Source: '/var/lib/docker/volumes/x/_data'},
    ],
  };
  const files = new Map([['/srv/agent', ['agent.env', 'run.sh']]]);
  const other: DockerContainer = {
    Id: 'other',
    Name: '/other',
    Mounts: [{Source: '/var/lib/scalr-agent'}],
  };
  const FREE = {others: [], hasService: false, files};

  test('lists directories and the token as what remains', () => {
    const {steps, keeps} = planContainerRemoval([container], FREE);
    expect(titles({steps})).toEqual(['Remove container scalr-agent']);
    expect(keeps.map(({what, how}) => `${what}: ${how}`)).toEqual([
      '/srv/agent: rm -r /srv/agent',
      '/var/lib/scalr-agent: sudo rm -r /var/lib/scalr-agent',
      'image scalr/agent:1.4.0: docker image rm scalr/agent:1.4.0',
    ]);
  });

  test.each([
    ['used by container other', {others: [other]}],
    ['can be used by service scalr-agent', {hasService: true}],
    [
      'the containers on this machine cannot be read, and one of them may use it',
      {others: undefined},
    ],
  ])('does not offer to delete a directory that is %s', (why, facts) => {
    const {keeps} = planContainerRemoval([container], {...FREE, ...facts});
    expect(keeps).toContainEqual({what: '/var/lib/scalr-agent', why, how: 'Keep it'});
    expect(JSON.stringify(keeps)).not.toContain('sudo rm');
  });

  test('offers only its own files in a directory that contains others', () => {
    const mixed = new Map([['/srv/agent', ['agent.env', 'run.sh', 'main.tf']]]);
    expect(planContainerRemoval([container], {...FREE, files: mixed}).keeps[0]?.how).toBe(
      'rm -r /srv/agent/agent.env /srv/agent/run.sh',
    );
    expect(
      planContainerRemoval([container], {...FREE, files: new Map()}).keeps.map(({what}) => what),
    ).not.toContain('/srv/agent');
  });

  test('of the service removes only drop-ins that exist', () => {
    const [first = ''] = DROP_INS;
    expect(planServiceRemoval([], []).steps.map(({call}) => argumentsOf(call))).toEqual([
      ['disable', '--now', 'scalr-agent'],
    ]);
    expect(
      planServiceRemoval([first], []).steps.map(({call}) => [call.tool, ...argumentsOf(call)]),
    ).toEqual([
      ['systemctl', 'disable', '--now', 'scalr-agent'],
      ['rm', '-f', first],
      ['systemctl', 'daemon-reload'],
    ]);
  });

  test('of the service does not offer a directory that a container mounts', () => {
    const user: DockerContainer = {...other, Mounts: [{Source: '/etc/scalr-agent/ca.pem'}]};
    expect(planServiceRemoval([], [user]).keeps.at(-1)).toMatchObject({
      why: 'contains the token; used by container other',
      how: 'Keep it',
    });
    expect(planServiceRemoval([], undefined).keeps.at(-1)?.how).toBe('Keep it');
  });
});
