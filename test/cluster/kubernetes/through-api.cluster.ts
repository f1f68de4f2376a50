import {execa} from 'execa';
import {expect, inject, onTestFinished, test} from 'vitest';
import {
  annotate,
  applyObjects,
  createObject,
  label,
  replaceObject,
  scale,
} from '../../../src/cluster/kubernetes/changes.ts';
import {kubernetesClient} from '../../../src/cluster/kubernetes/connect.ts';
import {dryRunOf} from '../../../src/cluster/kubernetes/dry-runs.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import {throughApi} from '../../../src/cluster/kubernetes/through-api.ts';
import {type Call, callName} from '../../../src/ground/call.ts';
import {nodeProcesses} from '../../../src/ground/system/node-processes.ts';
import type {Processes} from '../../../src/ground/system/system.ts';
import {findKubectl} from '../../control-plane/kubectl.ts';
import {workplace} from '../../control-plane/workplace.ts';
import {chartFlags, installPlace, TOKEN} from '../../support/install-place.ts';
import {install, status} from '../../support/run-on-cluster.ts';
import {findHelm} from '../helm/find-helm.ts';

const config = (data: Readonly<Record<string, string>>): KubernetesObject & {data: object} => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name: 'settings'},
  data,
});
const CONFIG = {kind: 'ConfigMap', name: 'settings'};

/** A namespace, with processes that fail the test if a tool starts. */
async function place() {
  const {kubectl, namespace} = await workplace();
  const kubeTarget = {kubeconfig: inject('kubeconfig'), namespace};
  const client = kubernetesClient(kubeTarget, {kubectl: await findKubectl()});
  onTestFinished(() => client.close());
  const start = (): never => {
    throw new Error('Nobody expected a process.');
  };
  const processes: Processes = throughApi({run: start, start}, client);
  const applyAs = async (manager: string, object: object): Promise<unknown> =>
    execa(
      await findKubectl(),
      [
        'apply',
        '--server-side',
        '--force-conflicts',
        '--field-manager',
        manager,
        '--filename=-',
        '--namespace',
        namespace,
      ],
      {input: JSON.stringify(object), env: {KUBECONFIG: kubeTarget.kubeconfig}},
    );
  const read = async (path: string): Promise<string> =>
    kubectl('get', 'configmap', 'settings', `--output=jsonpath={${path}}`);
  return {kubectl, kubeTarget, client, processes, applyAs, read};
}

test('applies, annotates, labels, replaces and scales without a process', async () => {
  const {kubectl, kubeTarget, processes, read} = await place();
  const run = async (call: Parameters<Processes['start']>[0]): Promise<void> =>
    expect(await processes.start(call).outcome).toMatchObject({exitCode: 0, stderr: ''});
  await run(dryRunOf(applyObjects(kubeTarget, [config({a: '1'})])));
  expect(await kubectl('get', 'configmap', 'settings', '--ignore-not-found')).toBe('');
  await run(createObject(kubeTarget, config({a: '1'})));
  expect(await processes.run(createObject(kubeTarget, config({a: '1'})))).toMatchObject({
    exitCode: 1,
    stderr: 'Error from server (Conflict): configmaps "settings" already exists\n',
  });
  await run(
    applyObjects(kubeTarget, [config({a: '1'}), {...config({}), metadata: {name: 'other'}}]),
  );
  await run(annotate(kubeTarget, CONFIG, {note: 'yes'}));
  await run(label(kubeTarget, CONFIG, {team: 'own'}));
  expect([await read('.metadata.annotations.note'), await read('.metadata.labels.team')]).toEqual([
    'yes',
    'own',
  ]);
  await run(annotate(kubeTarget, CONFIG, {note: null}));
  const found = JSON.parse(await kubectl('get', 'configmap', 'settings', '--output=json'));
  expect(found.metadata.annotations).toBeUndefined();
  await run(replaceObject(kubeTarget, {...found, data: {b: '2'}}));
  expect(await read('.data')).toBe('{"b":"2"}');
  expect((await processes.run(replaceObject(kubeTarget, found))).stderr).toContain(
    'the object has been modified',
  );
  const labels = {app: 'sleep'};
  const template = {metadata: {labels}, spec: {containers: [{name: 'sleep', image: 'sleep'}]}};
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {name: 'sleep'},
    spec: {selector: {matchLabels: labels}, template},
  };
  await run(applyObjects(kubeTarget, [deployment]));
  await run(scale(kubeTarget, {kind: 'Deployment', name: 'sleep'}, 0));
  expect(await kubectl('get', 'deployment', 'sleep', '--output=jsonpath={.spec.replicas}')).toBe(
    '0',
  );
});

test('takes fields over from people and Helm, and names those of other programs', async () => {
  const {kubeTarget, processes, applyAs, read} = await place();
  const apply = (takesOver: boolean) =>
    processes.run(applyObjects(kubeTarget, [config({a: 'own'})], {takesOver}));
  await applyAs('helm', config({a: 'helm'}));
  expect((await apply(false)).stderr).toContain(
    'Apply failed with 1 conflict: conflict with "helm"',
  );
  expect(await apply(true)).toMatchObject({exitCode: 0});
  expect(await read('.data.a')).toBe('own');
  await applyAs('argocd-controller', config({a: 'argocd'}));
  expect(await apply(true)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('conflict with "argocd-controller": .data.a'),
  });
  expect(await read('.data.a')).toBe('argocd');
});

/** Reads the UID of the cluster with the kubeconfig as it is now. */
const VERIFY = 'kubectl get';

test('an install, a change and a status start no process that a request can replace', async () => {
  const [{path: helm} = {path: 'helm'}] = await findHelm();
  const at = await installPlace();
  const flags = [...(await chartFlags('agent-local')), '--yes'];
  const start = new Date();
  const now = () => start;
  const startedBy = async (
    run: typeof install,
    argv: readonly string[],
    env: Record<string, string> = TOKEN,
  ): Promise<string[]> => {
    const started: string[] = [];
    const processes: typeof nodeProcesses = (paths) => {
      const tools = nodeProcesses(paths);
      const note = (call: Call): void => void started.push(callName(call));
      return {
        run(call, options) {
          note(call);
          return tools.run(call, options);
        },
        start(call) {
          note(call);
          return tools.start(call);
        },
      };
    };
    expect(await run(at, helm, argv, {env, processes, now})).toMatchObject({exit: 0});
    // The cluster is verified before the first change, and again before helm. Time stands still: a slow helm adds one more.
    const verified = started.filter((each) => each === VERIFY).length;
    expect(verified).toBeLessThanOrEqual(2);
    return [
      ...started.filter((each) => each !== VERIFY),
      ...(verified > 0 ? [VERIFY] : []),
    ].toSorted();
  };
  // helm list: helm can read another kubeconfig. kubectl apply is the dry run of the chart's objects, which it merges as helm does.
  const ofHelm = ['helm list', 'helm template', 'helm upgrade'];
  const ofKubectl = ['kubectl apply', 'kubectl config', VERIFY];
  const needed = [...ofHelm, ...ofKubectl];
  expect(await startedBy(install, [...flags, '--skip-preflight'])).toEqual(needed);
  // The Secret, the release and the pods that read the Secret.
  const changes = [...flags, '--skip-preflight', '--concurrency', '2'];
  expect(await startedBy(install, changes, {SCALR_AGENT_TOKEN: 'another'})).toEqual(needed);
  expect(await startedBy(install, [...flags, '--concurrency', '3'])).toEqual([
    ...ofHelm,
    'helm version',
    ...ofKubectl,
    'kubectl version',
  ]);
  expect(await startedBy(status, [])).toEqual(['kubectl config']);
});

test('runs kubectl where no proxy can run', async () => {
  const {kubeTarget, client, read} = await place();
  const unable = {send: async () => undefined};
  const processes = throughApi(nodeProcesses({kubectl: await findKubectl()}), unable);
  expect(await processes.start(applyObjects(kubeTarget, [config({a: '1'})])).outcome).toMatchObject(
    {exitCode: 0},
  );
  expect(await read('.data.a')).toBe('1');
  await client.close();
});
