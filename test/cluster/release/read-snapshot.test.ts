import {expect, test} from 'vitest';
import {agentsOf} from '../../../src/checks/diagnose/agent-log.ts';
import {readSnapshot} from '../../../src/checks/diagnose/read-snapshot.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import {
  afterStart,
  READY_DEPLOYMENT,
  readyPod,
  replicaSet,
  START,
} from '../../checks/diagnose/objects.ts';
import {type FakeObject, fakeKubernetes} from '../../support/fake-kubernetes.ts';

const NAME = {release: 'acme', kubeTarget: {namespace: 'scalr'}};
const READY = `${START} The agent is ready to receive tasks`;
const RUNS = (count: number): string =>
  Array.from({length: count}, (_, run) => `${START} run-${run} finished`).join('\n');

/** What the log of the agent comes to, and how often it was asked for. */
async function agentWith(log: string, {kept = log} = {}) {
  let asked = 0;
  const typed = (object: KubernetesObject): FakeObject => ({
    ...object,
    kind: object.kind as string,
    apiVersion: object.kind === 'Pod' ? 'v1' : 'apps/v1',
  });
  const kubernetes = fakeKubernetes({
    objects: [READY_DEPLOYMENT, replicaSet(), readyPod()].map(typed),
    log: (_pod, _container, query) => {
      asked += 1;
      if (query.get('tailLines') === '50') return log.split('\n').slice(-50).join('\n');
      expect(query.get('limitBytes')).toBe('65536');
      return kept;
    },
  });
  const {snapshot} = await readSnapshot(NAME, kubernetes, new AbortController().signal);
  return {asked, state: agentsOf(snapshot, afterStart(300))[0]?.state};
}

test.each([
  ['at the end of the log', `${RUNS(100)}\n${READY}`, {}, 1, 'registered'],
  ['at the start of a long log', `${READY}\n${RUNS(100)}`, {}, 2, 'registered'],
  [
    'in log lines that the node has discarded',
    `${READY}\n${RUNS(100)}`,
    {kept: RUNS(80)},
    2,
    'unknown',
  ],
  ['nowhere in a short log', RUNS(10), {}, 1, 'unknown'],
])('reads the agent state when readiness was logged %s', async (_, log, kept, asked, state) => {
  expect(await agentWith(log, kept)).toEqual({asked, state});
});
