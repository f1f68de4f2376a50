import {describe, expect, test} from 'vitest';
import CollectLogs from '../../../src/commands/collect-logs.ts';
import type {Gap} from '../../../src/extensions/bundle/collect/gap.ts';
import type {PreparedBundle} from '../../../src/extensions/bundle/collect/prepare.ts';
import {missingAccess} from '../../../src/extensions/bundle/missing-access.ts';
import {emptyError, requireExisting} from '../../../src/extensions/bundle/refuse-empty.ts';
import {ExpectedError} from '../../../src/ground/errors.ts';
import {runCommand} from '../../support/run-command.ts';

const policy = {kind: 'NetworkPolicy', metadata: {name: 'deny-all'}};
const nothing: PreparedBundle = {
  name: 'many',
  api: {stream: () => Promise.reject(new Error('no log is read'))},
  releases: [],
  scope: {objects: [policy], pods: []},
  texts: () => [],
  logs: [],
  knownSecrets: [],
  gaps: [
    {what: 'Role objects', error: {kind: 'forbidden', message: 'may not list them'}, isMinor: true},
  ],
};

function refused(more: Partial<PreparedBundle>, release?: string, access?: string) {
  const {code, exit, message, suggestions} = emptyError(
    {...nothing, ...more},
    {kubeTarget: {namespace: 'many'}, release},
    access,
  );
  return {code, exit, message, suggestions};
}

describe('an empty bundle is rejected', () => {
  test('with the existing releases when another one was requested', () => {
    expect(refused({present: {releases: ['one', 'two'], runs: []}}, 'nope')).toEqual({
      code: 'RELEASE_NOT_FOUND',
      exit: 2,
      message: 'No Scalr agent release nope found in namespace many.',
      suggestions: ['Existing releases: one, two', 'Omit --release to collect all releases'],
    });
  });

  test('with the command for other namespaces when there is none', () => {
    expect(refused({present: {releases: [], runs: []}})).toMatchObject({
      message: 'No Scalr agent found in namespace many.',
      suggestions: [
        expect.stringContaining('--namespace'),
        expect.stringContaining('status --all-namespaces'),
      ],
    });
  });

  test('with the roles that grant missing access', () => {
    const gaps = [
      {what: 'Pod objects', error: {kind: 'forbidden', message: 'may not list them'}},
    ] as const;
    expect(refused({gaps}, undefined, 'Ask an administrator')).toMatchObject({
      code: 'FORBIDDEN',
      message: 'Cannot read namespace many. No bundle was written. Pod objects: may not list them',
      suggestions: ['Ask an administrator'],
    });
  });
});

describe('the roles that grant missing access', () => {
  const refusal =
    'pods is forbidden: User "system:serviceaccount:ci:deployer" cannot list resource "pods" in API group ""';
  const gap: Gap = {what: 'Pod objects', error: {kind: 'forbidden', message: refusal}};
  const access = (
    user: string | undefined,
    gaps: readonly Gap[] = [gap],
  ): Promise<string | undefined> => {
    const post = async () => ({status: 201, body: {status: {userInfo: {username: user}}}});
    return missingAccess(
      gaps,
      {namespace: 'many'},
      {api: {post}, signal: new AbortController().signal},
    );
  };

  test('contain the account, and everything that a bundle reads', async () => {
    const text = await access('jane');
    for (const each of [
      'name: scalr-agent:collect-logs:jane\n',
      'pods/log',
      'agenttasktemplates',
      'persistentvolumes',
    ])
      expect(text).toContain(each);
  });

  test('use the account name of the error message when the API server does not return it', async () => {
    expect(await access(undefined)).toMatch(
      /kind: ServiceAccount\n +name: deployer\n +namespace: ci/,
    );
  });

  test('are absent when no access is missing', async () => {
    expect(await access('jane', [{...gap, isMinor: true}])).toBeUndefined();
    expect(
      await access('jane', [{...gap, error: {kind: 'server', message: 'oops'}}]),
    ).toBeUndefined();
  });
});

const podOf = (name: string, ...containers: readonly string[]) => ({
  kind: 'Pod',
  metadata: {name},
  spec: {initContainers: [{name: 'prepare'}], containers: containers.map((each) => ({name: each}))},
});
const objects = [
  podOf('agent-1', 'agent'),
  podOf('w-run-abc1', 'worker', 'runner'),
  {kind: 'Event', metadata: {name: 'w-run-gone1.17af', uid: 'e'}},
];
const there: PreparedBundle = {
  name: 'many',
  api: {stream: () => Promise.reject(new Error('no log is read'))},
  releases: [],
  scope: {objects, pods: objects.slice(0, 2)},
  present: {releases: [], runs: ['run-abc1']},
  texts: () => [],
  logs: [],
  knownSecrets: [],
  gaps: [],
};

function unknown(
  options: {run?: string; container?: string},
  more: Partial<PreparedBundle> = {},
): string | undefined {
  try {
    requireExisting({...there, ...more}, {...options, kubeTarget: {namespace: 'many'}});
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    expect({exit: error.exit, code: error.code}).toEqual({exit: 2, code: 'INVALID_SETTING'});
    return [error.message, ...error.suggestions].join('\n');
  }
}

describe('requested names must exist', () => {
  test('an existing run, or one with only events, is accepted', () => {
    expect(
      [{run: 'run-abc1'}, {run: 'run-gone1'}, {container: 'runner'}, {container: 'prepare'}].map(
        (options) => unknown(options),
      ),
    ).toEqual(Array(4).fill(undefined));
  });

  test('an unknown run is rejected with the existing ones', () => {
    expect(unknown({run: 'nope'})).toBe(
      'Run nope not found in namespace many.\nExisting runs: run-abc1\nFollow the run from its start: --watch --run nope',
    );
    expect(unknown({run: 'nope'}, {present: {releases: [], runs: []}})).toContain('No runs found');
  });

  test('an unknown container is rejected with the existing ones', () => {
    expect(unknown({container: 'nope'})).toBe(
      'Container nope not found in namespace many.\nExisting containers: agent, prepare, runner, worker',
    );
  });

  test('unless pods could not be listed, or none can have it', () => {
    const gaps = [
      {what: 'Pod objects', error: {kind: 'forbidden', message: 'may not list them'}},
    ] as const;
    expect(unknown({run: 'nope', container: 'nope'}, {gaps})).toBeUndefined();
    expect(unknown({container: 'nope'}, {scope: {objects: [], pods: []}})).toBeUndefined();
  });
});

test.each([
  'run',
  'container',
  'docker',
  'out',
])('an empty --%s is rejected before anything is read', async (flag) => {
  const {stderr, exit} = await runCommand(CollectLogs, [`--${flag}`, '']);
  expect({exit, stderr}).toEqual({exit: 2, stderr: expect.stringContaining(`--${flag} is empty.`)});
});
