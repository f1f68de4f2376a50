import {describe, expect, test} from 'vitest';
import CollectLogs from '../../src/commands/collect-logs.ts';
import {ExpectedError} from '../../src/errors.ts';
import {accessCommands} from '../../src/support-bundle/collect/access-commands.ts';
import type {Prepared} from '../../src/support-bundle/collect/prepare.ts';
import type {Gap} from '../../src/support-bundle/collect/read-namespace.ts';
import {emptyError, refuseUnknown} from '../../src/support-bundle/collect-from-cluster.ts';
import {runCommand} from '../support/run-command.ts';

const policy = {kind: 'NetworkPolicy', metadata: {name: 'deny-all'}};
const nothing: Prepared = {
  releases: [],
  scope: {objects: [policy], pods: []},
  texts: () => [],
  logs: [],
  seeds: [],
  gaps: [{what: 'Role objects', trouble: {kind: 'forbidden', message: 'may not list them'}, isMinor: true}],
};

function refused(more: Partial<Prepared>, release?: string, access?: readonly string[]) {
  const {code, exit, message, suggestions} = emptyError({...nothing, ...more}, {place: {namespace: 'many'}, release}, access);
  return {code, exit, message, suggestions};
}

describe('a bundle of nothing is refused', () => {
  test('with the releases that are there, where another one was named', () => {
    expect(refused({present: {releases: ['one', 'two'], runs: []}}, 'nope')).toEqual({
      code: 'RELEASE_NOT_FOUND',
      exit: 2,
      message: 'There is no release nope of a Scalr agent in namespace many.',
      suggestions: ['Releases that are there: one, two', 'Leave out --release for all of them'],
    });
  });

  test('with the way to other namespaces, where there is none', () => {
    expect(refused({present: {releases: [], runs: []}})).toMatchObject({
      message: 'There is nothing of a Scalr agent in namespace many.',
      suggestions: [expect.stringContaining('--namespace'), expect.stringContaining('helm list')],
    });
  });

  test('with the commands that give what an account lacks', () => {
    const gaps = [{what: 'Pod objects', trouble: {kind: 'forbidden', message: 'may not list them'}}] as const;
    expect(refused({gaps}, undefined, ['kubectl create role', 'kubectl create rolebinding'])).toMatchObject({
      code: 'FORBIDDEN',
      message: 'Nothing of namespace many could be read, and no bundle was written. Pod objects: may not list them',
      suggestions: [expect.stringContaining('administrator'), 'kubectl create role', 'kubectl create rolebinding'],
    });
  });
});

describe('the commands that give what an account lacks', () => {
  const refusal = 'pods is forbidden: User "system:serviceaccount:ci:deployer" cannot list resource "pods" in API group ""';
  const gap: Gap = {what: 'Pod objects', trouble: {kind: 'forbidden', message: refusal}};
  const commands = (user: string | undefined, gaps: readonly Gap[] = [gap]): Promise<string[]> => {
    const post = async () => ({status: 201, body: {status: {userInfo: {username: user}}}});
    return accessCommands(gaps, 'many', {api: {post}, over: new AbortController().signal});
  };

  test('name the account, and everything that a bundle reads', async () => {
    const [role, binding] = await commands('jane');
    expect(role).toMatch(
      /^kubectl create role collect-logs --verb=get,list --resource=secrets,pods\/log,deployments\.apps,.*,events --namespace many$/,
    );
    expect(binding).toBe('kubectl create rolebinding collect-logs --role=collect-logs --user=jane --namespace many');
  });

  test('take the name from the refusal where the API server does not tell it', async () => {
    expect((await commands(undefined))[1]).toContain(' --serviceaccount=ci:deployer ');
  });

  test('are none where nothing is missing that the account could be given', async () => {
    expect(await commands('jane', [{...gap, isMinor: true}])).toEqual([]);
    expect(await commands('jane', [{...gap, trouble: {kind: 'server', message: 'oops'}}])).toEqual([]);
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
const there: Prepared = {
  releases: [],
  scope: {objects, pods: objects.slice(0, 2)},
  present: {releases: [], runs: ['run-abc1']},
  texts: () => [],
  logs: [],
  seeds: [],
  gaps: [],
};

function unknown(wish: {run?: string; container?: string}, more: Partial<Prepared> = {}): string | undefined {
  try {
    refuseUnknown({...there, ...more}, {...wish, place: {namespace: 'many'}});
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    expect({exit: error.exit, code: error.code}).toEqual({exit: 2, code: 'INVALID_SETTING'});
    return [error.message, ...error.suggestions].join('\n');
  }
}

describe('what is named has to be there', () => {
  test('a run that is there, or of which only events are left', () => {
    expect([{run: 'run-abc1'}, {run: 'run-gone1'}, {container: 'runner'}, {container: 'prepare'}].map((wish) => unknown(wish))).toEqual(
      Array(4).fill(undefined),
    );
  });

  test('another run: those that are there are named', () => {
    expect(unknown({run: 'nope'})).toBe(
      'There is no run nope in namespace many.\nRuns that are there: run-abc1\nFollow it from its beginning: --watch --run nope',
    );
    expect(unknown({run: 'nope'}, {present: {releases: [], runs: []}})).toContain('No run is there');
  });

  test('another container: those that are there are named', () => {
    expect(unknown({container: 'nope'})).toBe(
      'There is no container nope in namespace many.\nContainers that are there: agent, prepare, runner, worker',
    );
  });

  test('unless nobody could look, or there is no pod that could have it', () => {
    const gaps = [{what: 'Pod objects', trouble: {kind: 'forbidden', message: 'may not list them'}}] as const;
    expect(unknown({run: 'nope', container: 'nope'}, {gaps})).toBeUndefined();
    expect(unknown({container: 'nope'}, {scope: {objects: [], pods: []}})).toBeUndefined();
  });
});

test.each(['run', 'container', 'docker', 'inspect', 'out'])('--%s without a word is refused before anything is read', async (flag) => {
  const {stderr, exit} = await runCommand(CollectLogs, [`--${flag}`, '']);
  expect({exit, stderr}).toEqual({exit: 2, stderr: expect.stringContaining(`--${flag} names nothing.`)});
});
