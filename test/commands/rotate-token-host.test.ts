import {describe, expect, test} from 'vitest';
import Install from '../../src/commands/install.ts';
import RotateToken from '../../src/commands/rotate-token.ts';
import {
  agentNameInScalr,
  containerName,
  variablesOf,
} from '../../src/extensions/machine/containers.ts';
import {argumentsOf} from '../../src/ground/call-arguments.ts';
import {ExpectedError} from '../../src/ground/errors.ts';
import type {Processes} from '../../src/ground/system/system.ts';
import {poolTokenOf, type Stored, USER_TOKEN} from '../extensions/account/mock-account.ts';
import {type MockApi, mockApi} from '../extensions/account/mock-api.ts';
import {DockerModel} from '../extensions/machine/docker-model.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const OLD = 'e30.e30.b2xk';
const READY = 'Agent is ready to receive tasks\n';
const FAILED = new ExpectedError('The tool is not there.', {
  code: 'TOOL_NOT_FOUND',
});

const chunksOf = (text: string) => ({
  end: Promise.resolve(undefined),
  chunks: (async function* () {
    yield Buffer.from(text);
  })(),
});

interface Place {
  api: MockApi;
  pool: Stored;
  files: ReturnType<typeof memoryFiles>;
  deps: Parameters<typeof runCommand>[2];
  /** Calls that changed something. */
  calls: string[];
  /** The next call that starts with this fails. */
  failNext(call: string): void;
}

/** A machine whose agents Scalr sees; `apply` does a call, and `names` are the agents that run now. */
async function place(
  apply: (call: readonly string[]) => void,
  names: () => string[],
  host: object,
  disk: (api: MockApi) => Record<string, string>,
) {
  const api = await mockApi();
  const pool = api.account.pool('edge');
  const calls: string[] = [];
  let failing: string | undefined;
  const files = memoryFiles({'ca.pem': api.ca, ...disk(api)});
  const processes = (): Processes => ({
    run: async () => ({exitCode: 0, stdout: '', stderr: ''}),
    start(started) {
      const {tool} = started;
      const args = argumentsOf(started);
      const call = [tool, ...args].join(' ');
      if (failing !== undefined && call.startsWith(failing)) {
        failing = undefined;
        throw FAILED;
      }
      calls.push(call);
      apply([tool, ...args]);
      return {
        outcome: Promise.resolve({exitCode: 0, stdout: '', stderr: ''}),
        interrupt: () => undefined,
        leave: () => undefined,
      };
    },
  });
  let beats = 0;
  // Agents send heartbeats while the program waits.
  const sleep = async (): Promise<void> => {
    beats += 1;
    const agents = api.account.ofType('agents');
    for (const name of names()) {
      const found =
        agents.find(({attributes}) => attributes['name'] === name) ?? api.account.agent(pool, name);
      found.attributes['last-seen-at'] = `2026-11-21T12:00:${String(beats % 60).padStart(2, '0')}Z`;
    }
    for (const {attributes} of agents)
      attributes['status'] = names().includes(String(attributes['name'])) ? 'idle' : 'offline';
  };
  await sleep();
  const deps = {env: api.deps.env, files, host, processes, sleep} as Place['deps'];
  const failNext = (call: string): void => {
    failing = call;
  };
  return {api, pool, files, deps, calls, failNext};
}

const ENV_OF_SERVICE = '/etc/scalr-agent/agent.env';

function service(): Promise<Place> {
  const host = {
    run: async ({tool}: {tool: string}) =>
      tool === 'systemctl'
        ? {stdout: 'LoadState=loaded\nActiveState=active\nSubState=running\nNRestarts=0\n'}
        : {stdout: ''},
    stream: async () => chunksOf(`2026-11-21T08:00:00.000000+00:00 vm scalr-agent[7]: ${READY}`),
  };
  return place(
    () => undefined,
    () => ['vm-1'],
    host,
    ({url}) => ({
      '/etc/machine-id': '0123456789abcdef\n',
      '/proc/sys/kernel/hostname': 'vm-1\n',
      [ENV_OF_SERVICE]: `# Secrets of the agent.\nSCALR_URL=${url}\nSCALR_AGENT_TOKEN=${OLD}\nHTTPS_PROXY=http://proxy:3128\n`,
    }),
  );
}

async function docker(): Promise<Place & {model: DockerModel; envFile: string}> {
  const model = new DockerModel();
  const answers: Readonly<Record<string, () => string>> = {
    ps: () => model.containers.map(({Id}) => `${Id}\n`).join(''),
    inspect: () => JSON.stringify(model.containers),
    info: () => 'ENGINE:1\n',
    image: () => 'sha256:1\n',
  };
  const host = {
    run: async ({tool, args}: {tool: string; args: readonly string[]}) =>
      tool === 'docker'
        ? {stdout: answers[args[0] as string]?.() ?? ''}
        : {stdout: 'LoadState=not-found\n'},
    stream: async () => chunksOf(`2026-11-21T08:00:00.000000000Z ${READY}`),
  };
  const running = () => model.containers.filter(({State}) => State?.Running);
  const made = await place(
    ([tool, ...args]) => model.run([{id: '', title: '', call: {tool: tool as 'docker', args}}]),
    () => running().map(agentNameInScalr),
    host,
    () => ({}),
  );
  const flags = ['--target', 'docker', '--url', made.api.url, '--isolation', 'shared', '--yes'];
  const {stderr, exit} = await runCommand(Install, flags, {
    ...made.deps,
    env: {SCALR_AGENT_TOKEN: OLD},
  });
  expect({exit}, stderr).toEqual({});
  made.calls.length = 0;
  const envFile = made.files.written.find(({path}) => path.endsWith('agent.env'))?.path as string;
  return {...made, model, envFile};
}

async function rotated({deps, api}: Place, ...argv: string[]) {
  const {stdout, stderr, exit} = await runCommand(
    RotateToken,
    [...argv, '--ca-file', 'ca.pem', '--yes', '--json'],
    deps,
  );
  expect(stdout + stderr).not.toContain(USER_TOKEN.split('.')[1]);
  for (const {id} of api.account.ofType('access-tokens'))
    expect(stdout + stderr).not.toContain(`"jti":"${id}"`);
  const document = JSON.parse(stdout);
  if (document.error === undefined) expect(violations('rotate-token', stdout), stdout).toEqual([]);
  return {...document, stderr, exit};
}

const tokensIn = ({api}: Place): string[] => api.account.ofType('access-tokens').map(({id}) => id);
const textOf = async ({files}: Place, path: string): Promise<string> =>
  String(await files.read(path));

describe('the service of a virtual machine', () => {
  test('gets a new token and restarts; the next rotation revokes it', async () => {
    const here = await service();
    const {api, pool, calls, files} = here;
    const first = await rotated(here, '--target', 'systemd', '--pool', 'edge');
    expect(first).toMatchObject({
      target: 'systemd',
      changed: true,
      revoked: null,
      agents: ['vm-1'],
    });
    expect(first.stderr).toContain(`${ENV_OF_SERVICE} does not record the ID of the old token.`);
    expect(calls).toEqual(['systemctl restart scalr-agent']);
    const text = await textOf(here, ENV_OF_SERVICE);
    expect(text).toContain(
      `SCALR_AGENT_TOKEN=${poolTokenOf(api.host, pool.id, first.token)}\nHTTPS_PROXY=`,
    );
    expect(text).toContain(`# scalr.io/token-id=${first.token}\n`);
    expect(text).not.toContain('scalr.io/restart');
    expect(files.written.every(({isPrivate}) => isPrivate)).toBe(true);
    const [{attributes}] = api.account.ofType('access-tokens') as [Stored];
    expect(attributes['description']).toMatch(
      /^scalr-agent-install machine=[0-9a-f]{16} release=scalr-agent$/,
    );
    expect(attributes['description']).not.toContain('0123456789abcdef');

    const second = await rotated(here, '--target', 'systemd');
    expect(second).toMatchObject({revoked: first.token});
    expect(tokensIn(here)).toEqual([second.token]);
    expect(await textOf(here, ENV_OF_SERVICE)).not.toContain('previous-token-id');
  });

  test('an interrupted rotation continues with its token', async () => {
    const here = await service();
    const {token: first} = await rotated(here, '--target', 'systemd', '--pool', 'edge');
    here.failNext('systemctl restart');
    expect(await rotated(here, '--target', 'systemd')).toMatchObject({
      error: {code: 'TOOL_NOT_FOUND'},
    });
    expect(tokensIn(here)).toHaveLength(2);
    const [, second] = tokensIn(here);
    expect(await rotated(here, '--target', 'systemd')).toMatchObject({
      revoked: first,
      steps: [{id: 'restart'}, {id: 'revoke-token'}],
    });
    expect(tokensIn(here)).toEqual([second]);
  });

  test('agents of others keep the old token valid', async () => {
    const here = await service();
    const {token: first} = await rotated(here, '--target', 'systemd', '--pool', 'edge');
    const theirs = here.api.account.agent(here.pool, 'of-others');
    here.api.afterNext('GET', /agents/, () => (theirs.attributes['status'] = 'idle'));
    const {error} = await rotated(
      {...here, deps: {...here.deps, sleep: keeping(here, theirs)}},
      '--target',
      'systemd',
    );
    expect(error).toMatchObject({
      code: 'OBJECT_NOT_OWNED',
      message: expect.stringContaining('of-others'),
    });
    expect(tokensIn(here)).toContain(first);
  });

  test('a token file replaces the token without the account', async () => {
    const here = await service();
    const deps = {...here.deps, env: {SCALR_AGENT_TOKEN: 'e30.e30.bmV3'}};
    const {stderr, exit} = await runCommand(RotateToken, ['--target', 'systemd', '--yes'], deps);
    expect({exit}, stderr).toEqual({});
    expect(stderr).toContain('Revoke the old token in Scalr');
    expect(await textOf(here, ENV_OF_SERVICE)).toContain('SCALR_AGENT_TOKEN=e30.e30.bmV3\n');
    expect(here.api.sent).toEqual([]);
    expect(
      (await runCommand(RotateToken, ['--target', 'systemd', '--yes'], deps)).stderr,
    ).toContain('Nothing was changed.');
  });

  test('a token file that cannot be written leaves no token in the account', async () => {
    const here = await service();
    const refused = {...here.files, write: async () => Promise.reject(FAILED)};
    const {error} = await rotated(
      {...here, deps: {...here.deps, files: refused}},
      '--target',
      'systemd',
      '--pool',
      'edge',
    );
    expect(error).toMatchObject({
      code: 'TOOL_NOT_FOUND',
      message: expect.stringContaining('The new token was revoked.'),
    });
    expect([tokensIn(here), here.calls]).toEqual([[], []]);
    expect(await textOf(here, ENV_OF_SERVICE)).toContain(OLD);
  });

  test('a dry run shows the plan and changes nothing', async () => {
    const here = await service();
    const {stderr} = await runCommand(
      RotateToken,
      ['--target', 'systemd', '--pool', 'edge', '--ca-file', 'ca.pem', '--dry-run'],
      here.deps,
    );
    expect(stderr).toMatch(
      /1\. Create a token of agent pool edge[\s\S]*1\. Restart service scalr-agent to load the new token/,
    );
    expect([here.calls, here.files.written, here.api.changes()]).toEqual([[], [], []]);
  });

  test('a token that another program manages is not replaced', async () => {
    const here = await service();
    await here.files.write(ENV_OF_SERVICE, 'SCALR_URL=https://acme.scalr.io\n', {isPrivate: true});
    expect((await rotated(here, '--target', 'systemd', '--pool', 'edge')).error).toMatchObject({
      code: 'OBJECT_NOT_OWNED',
    });
    expect(here.api.changes()).toEqual([]);
  });
});

/** Heartbeats of this machine, while an agent of another one works too. */
const keeping =
  ({deps}: Place, {attributes}: Stored) =>
  async (milliseconds: number, signal: AbortSignal): Promise<void> => {
    await deps?.sleep?.(milliseconds, signal);
    attributes['status'] = 'idle';
  };

describe('agents in Docker', () => {
  test('are replaced with the recorded settings, and the old token is revoked', async () => {
    const here = await docker();
    const {api, pool, model, envFile} = here;
    const [before] = model.containers.map(({Id}) => Id);
    const first = await rotated(here, '--target', 'docker', '--pool', 'edge');
    expect(first, first.stderr).toMatchObject({
      target: 'docker',
      release: 'scalr-agent',
      changed: true,
      revoked: null,
    });
    expect(model.summary).toEqual(['scalr-agent runs']);
    expect(model.containers[0]?.Id).not.toBe(before);
    expect(first.agents).toEqual(model.containers.map(agentNameInScalr));
    expect(await textOf(here, envFile)).toContain(
      `SCALR_AGENT_TOKEN=${poolTokenOf(api.host, pool.id, first.token)}\n`,
    );
    expect(api.account.ofType('access-tokens')[0]?.attributes['description']).toBe(
      'scalr-agent-install engine=ENGINE:1 release=scalr-agent',
    );
    const second = await rotated(here, '--target', 'docker');
    expect(second).toMatchObject({revoked: first.token});
    expect(tokensIn(here)).toEqual([second.token]);
    const again = await runCommand(
      Install,
      [
        '--target',
        'docker',
        '--answers',
        envFile.replace('agent.env', 'install-answers.yaml'),
        '--yes',
      ],
      {
        ...here.deps,
        env: {},
      },
    );
    expect(again.stderr).toContain('is up to date and ready');
  });

  test.each([
    'docker create',
    'docker stop',
    'docker rename scalr-agent ',
    'docker start',
    'docker rm',
  ])('a rotation that ends at %s continues with its token', async (call) => {
    const here = await docker();
    const {token: first} = await rotated(here, '--target', 'docker', '--pool', 'edge');
    here.failNext(call);
    expect(await rotated(here, '--target', 'docker')).toMatchObject({
      error: {code: 'TOOL_NOT_FOUND'},
    });
    expect(tokensIn(here)).toHaveLength(2);
    const [, second] = tokensIn(here);
    const {revoked, exit, stderr} = await rotated(here, '--target', 'docker');
    expect({revoked, exit}, stderr).toEqual({revoked: first});
    expect(tokensIn(here)).toEqual([second]);
    expect(here.model.summary).toEqual(['scalr-agent runs']);
  });

  test('that differ from their settings, or have none, are left alone', async () => {
    const here = await docker();
    const answers = here.envFile.replace('agent.env', 'install-answers.yaml');
    await here.files.write(answers, `${await textOf(here, answers)}\nlog-format: plain\n`, {
      isPrivate: true,
    });
    expect((await rotated(here, '--target', 'docker', '--pool', 'edge')).error).toMatchObject({
      code: 'CONFLICTING_SETTINGS',
    });
    await here.files.remove(answers);
    expect((await rotated(here, '--target', 'docker', '--pool', 'edge')).error).toMatchObject({
      code: 'UNSUPPORTED_SETTING',
    });
    expect([here.calls, here.api.changes()]).toEqual([[], []]);
    expect(here.model.containers.map(containerName)).toEqual(['scalr-agent']);
    expect(here.model.containers.map(variablesOf)).not.toContainEqual(
      expect.objectContaining({SCALR_AGENT_TOKEN: expect.anything()}),
    );
  });
});
