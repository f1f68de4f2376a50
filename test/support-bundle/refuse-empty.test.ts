import {describe, expect, test} from 'vitest';
import {ExpectedError} from '../../src/errors.ts';
import type {Prepared} from '../../src/support-bundle/collect/prepare.ts';
import {refuseEmpty} from '../../src/support-bundle/collect-from-cluster.ts';

const policy = {kind: 'NetworkPolicy', metadata: {name: 'deny-all'}};
const nothing: Prepared = {
  releases: [],
  scope: {objects: [policy], pods: []},
  texts: () => [],
  logs: [],
  seeds: [],
  gaps: [{what: 'Role objects', trouble: {kind: 'forbidden', message: 'may not list them'}, isMinor: true}],
};

function refused(more: Partial<Prepared>, release?: string): Pick<ExpectedError, 'code' | 'exit' | 'message' | 'suggestions'> | undefined {
  try {
    refuseEmpty({...nothing, ...more}, {place: {namespace: 'many'}, release});
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const {code, exit, message, suggestions} = error;
    return {code, exit, message, suggestions};
  }
}

describe('a bundle of nothing is refused', () => {
  test('with the releases that are there, where another one was named', () => {
    expect(refused({present: {releases: ['one', 'two'], runs: []}}, 'nope')).toEqual({
      code: 'RELEASE_NOT_FOUND',
      exit: 1,
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

  test('with a whole command that gives what an account lacks', () => {
    const gaps = [{what: 'Pod objects', trouble: {kind: 'forbidden', message: 'may not list them'}}] as const;
    expect(refused({gaps})).toMatchObject({
      code: 'FORBIDDEN',
      message: 'Nothing of namespace many could be read, and no bundle was written. Pod objects: may not list them',
      suggestions: [
        expect.stringMatching(/: kubectl create rolebinding collect-logs --clusterrole=view --namespace=many --user=<YOU>$/),
        expect.stringContaining('--serviceaccount=<NAMESPACE>:<NAME>'),
      ],
    });
  });
});

test('one object of an agent is enough', () => {
  const pod = {kind: 'Pod', metadata: {name: 'agent-1'}};
  expect(refused({scope: {objects: [policy, pod], pods: [pod]}})).toBeUndefined();
});
