import {expect, test} from 'vitest';
import {applyObjects} from '../../src/cluster/kubernetes/changes.ts';
import {toolFailure} from '../../src/ground/tool-errors.ts';
import {claim, deployment, pod} from './objects.ts';
import {type Workplace, workplace} from './workplace.ts';

/** These messages come from the real scheduler, controllers and admission. */
const wanting = (requests: object): object => ({
  containers: [{name: 'agent', image: 'scalr/agent:1', resources: {requests}}],
});

test('a pod that fits on no node is not scheduled', async () => {
  const {kubectl} = await workplace();
  await kubectl.apply(pod('agent', {spec: wanting({cpu: '1000'})}));
  await kubectl('wait', 'pod/agent', '--for=condition=PodScheduled=false', '--timeout=10s');
  const events = (): Promise<string> =>
    kubectl('get', 'events', '--field-selector', 'reason=FailedScheduling');
  await expect.poll(events).toMatch(/0\/\d+ nodes are available: .*Insufficient cpu/);
});

test('a claim is bound with a storage class, and waits without one', async () => {
  const {kubectl} = await workplace();
  await kubectl.apply(claim('default'), claim('none', ''), claim('missing', 'no-such-class'));
  await kubectl('wait', 'pvc/default', '--for=jsonpath={.status.phase}=Bound', '--timeout=10s');
  const events = (): Promise<string> =>
    kubectl('get', 'events', '--field-selector', 'involvedObject.kind=PersistentVolumeClaim');
  await expect.poll(events).toContain('storageclass.storage.k8s.io "no-such-class" not found');
  await expect
    .poll(events)
    .toContain('no persistent volumes available for this claim and no storage class is set');
  expect(
    await kubectl(
      'get',
      'pvc',
      '-o',
      'jsonpath={range .items[*]}{.metadata.name}={.status.phase} {end}',
    ),
  ).toBe('default=Bound missing=Pending none=Pending ');
});

/** What the program makes of the message of kubectl. */
async function codeOf(kubectl: Workplace['kubectl'], object: object): Promise<string> {
  const refused = await kubectl.apply(object).catch(({stderr}: {stderr: string}) => stderr);
  const outcome = {exitCode: 1, stdout: '', stderr: String(refused)};
  return toolFailure(applyObjects({namespace: 'any'}, []), outcome).code;
}

test('a namespace that is being deleted takes no object, and a claim keeps its class', async () => {
  const {kubectl, namespace} = await workplace();
  const metadata = {name: 'held', finalizers: ['test.scalr.io/held']};
  await kubectl.apply({...claim('held'), metadata});
  expect(await codeOf(kubectl, claim('held', 'another'))).toBe('IMMUTABLE_FIELD');
  await kubectl('delete', 'namespace', namespace, '--wait=false');
  expect(await codeOf(kubectl, claim('new'))).toBe('NAMESPACE_TERMINATING');
});

test('PodSecurity refuses what the namespace forbids', async () => {
  const {kubectl} = await workplace({'pod-security.kubernetes.io/enforce': 'baseline'});
  const volumes = [{name: 'host', hostPath: {path: '/var'}}];
  await expect(kubectl.apply(pod('agent', {spec: {volumes}}))).rejects.toThrow(
    'violates PodSecurity "baseline:latest": hostPath volumes',
  );
});

test('a quota refuses the pods of a Deployment', async () => {
  const {kubectl} = await workplace();
  await kubectl('create', 'quota', 'tight', '--hard=pods=1');
  // A quota applies only after its controller has processed it.
  await kubectl('wait', 'quota/tight', '--for=jsonpath={.status.hard.pods}=1', '--timeout=10s');
  await kubectl.apply(deployment('agent', 2));
  await kubectl('wait', 'deployment/agent', '--for=condition=ReplicaFailure', '--timeout=10s');
  expect(await kubectl('get', 'deployment', 'agent', '-o', 'yaml')).toContain(
    'exceeded quota: tight',
  );
});
