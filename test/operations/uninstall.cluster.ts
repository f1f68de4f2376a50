import {randomBytes} from 'node:crypto';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout} from 'node:timers/promises';
import {execa} from 'execa';
import {afterAll, describe, expect, onTestFinished, test} from 'vitest';
import {stringify} from 'yaml';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import type {ClusterAccess} from '../../src/cluster/helm/releases.ts';
import {kubernetesClient} from '../../src/cluster/kubernetes/connect.ts';
import {inventoryOf} from '../../src/cluster/release/inventory.ts';
import type {InventoryReadings} from '../../src/cluster/release/inventory-readings.ts';
import {readInventory} from '../../src/cluster/release/read-inventory.ts';
import {readFacts} from '../../src/cluster/release/read-release.ts';
import type {ReleaseName} from '../../src/ground/command-line.ts';
import {nodeProcesses} from '../../src/ground/system/node-processes.ts';
import type {Values} from '../../src/ground/tree.ts';
import {planUninstall, type UninstallPlan} from '../../src/operations/uninstall.ts';
import type {Purgeable} from '../../src/operations/uninstall-keeps.ts';
import {type Uninstalled, uninstallRelease} from '../../src/operations/uninstall-release.ts';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {definition} from '../cluster/helm/definition.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {ours} from './uninstall-readings.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));
const kubectlPath = await findKubectl();
const URL = 'https://example.scalr.io';

interface Deps extends Workplace {
  helm: string;
}

const runHelm = async (
  {helm, namespace, kubeconfig}: Deps,
  args: readonly string[],
  input = '',
): Promise<string> =>
  (await execa(helm, [...args, '--namespace', namespace, '--kubeconfig', kubeconfig], {input}))
    .stdout;

async function install(
  deps: Deps,
  chart: ChartName,
  values: Values,
  version = '0.6.5',
): Promise<void> {
  await runHelm(
    deps,
    ['install', 'agent', await directoryOf({chart, version}, scratch), '--values', '-'],
    stringify(values),
  );
}

const nameIn = ({namespace, kubeconfig}: Deps): ReleaseName => ({
  release: 'agent',
  kubeTarget: {namespace, kubeconfig},
});
function accessTo(deps: Deps): ClusterAccess {
  const kubernetes = kubernetesClient(nameIn(deps).kubeTarget, {kubectl: kubectlPath});
  onTestFinished(() => kubernetes.close());
  return {kubernetes, processes: nodeProcesses({helm: deps.helm, kubectl: kubectlPath})};
}

async function readings(deps: Deps): Promise<InventoryReadings> {
  const name = nameIn(deps);
  const access = accessTo(deps);
  return readInventory(name, await readFacts(name, [], access), access);
}

interface Options {
  purge?: readonly Purgeable[];
  change?: (given: InventoryReadings) => InventoryReadings | Promise<InventoryReadings>;
  /** Called whenever runs are still in flight, or something is not gone. */
  onLook?: () => Promise<unknown>;
}

/** Plans from what is there, and does it. */
async function uninstall(
  clusterDeps: Deps,
  {purge = [], change = (given) => given, onLook}: Options = {},
): Promise<UninstallPlan & Pick<Uninstalled, 'removed' | 'notRemoved'>> {
  const choices = {purge: new Set(purge), drain: true, drainTimeoutSeconds: 30, timeoutSeconds: 30};
  const plan = async () =>
    planUninstall(
      nameIn(clusterDeps),
      inventoryOf(await change(await readings(clusterDeps))),
      choices,
    );
  const planned = await plan();
  const {signal} = new AbortController();
  const interrupts = {interrupt: signal, forceQuit: signal, release: () => undefined};
  const sleep = async (): Promise<void> => {
    await onLook?.();
    await setTimeout(200);
  };
  const deps = {
    ...accessTo(clusterDeps),
    interrupts,
    now: () => new Date(),
    sleep,
    onStep: () => undefined,
    onWait: () => undefined,
    timeoutMs: 30_000,
    planAgain: plan,
  };
  return {...planned, ...(await uninstallRelease(planned, nameIn(clusterDeps).kubeTarget, deps))};
}

/** A disk for one claim of the namespace, bound by Kubernetes' own controller; its class has the same name. */
async function disk({kubectl}: Workplace): Promise<string> {
  const name = `disk-${randomBytes(4).toString('hex')}`;
  await kubectl.apply(
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: {name},
      provisioner: 'kubernetes.io/no-provisioner',
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: {name},
      spec: {
        capacity: {storage: '100Gi'},
        accessModes: ['ReadWriteOnce', 'ReadWriteMany'],
        storageClassName: name,
        persistentVolumeReclaimPolicy: 'Delete',
        hostPath: {path: `/tmp/${name}`},
      },
    },
  );
  return name;
}

const local = (storageClassName: string): Values => ({
  agent: {
    url: URL,
    shutdownMode: 'force',
    tokenExistingSecret: {name: 'scalr-agent-token', key: 'token'},
  },
  terminationGracePeriodSeconds: 10,
  persistence: {cache: {enabled: true, persistentVolumeClaim: {storageClassName}}},
});
const names = async ({kubectl}: Workplace, ...args: string[]): Promise<string> =>
  kubectl('get', ...args, '--output', 'name', '--ignore-not-found');
const phase = ({kubectl}: Workplace, volume: string): Promise<string> =>
  kubectl(
    'get',
    'persistentvolume',
    volume,
    '--ignore-not-found',
    '--output',
    'jsonpath={.status.phase}',
  );
const keptNames = ({keeps}: UninstallPlan): string[] => keeps.map(({what}) => what);

const jobChart = {
  agent: {url: URL, tokenExistingSecret: {name: 'scalr-agent-token', key: 'token'}},
};
describe.each(await findHelmMatrix())('with Helm $major', ({path: helm}) => {
  const deps = async (labels: Record<string, string> = {}): Promise<Deps> => ({
    ...(await workplace(labels)),
    helm,
  });

  test('deletes a PVC despite a keep annotation that is not in the stored manifest', async () => {
    const here = await deps();
    await install(here, 'agent-local', local(await disk(here)));
    await here.kubectl(
      'annotate',
      'persistentvolumeclaim',
      '--all',
      'helm.sh/resource-policy=keep',
    );
    await runHelm(here, ['uninstall', 'agent']);
    await here.kubectl('wait', '--for=delete', 'persistentvolumeclaim', '--all', '--timeout=30s');
    expect(await names(here, 'persistentvolumeclaims')).toBe('');
  });

  test('retains data for the next release, and deletes it with --purge=claims', async () => {
    const here = await deps();
    const volume = await disk(here);
    await install(here, 'agent-local', local(volume));
    await expect.poll(() => phase(here, volume)).toBe('Bound');
    const first = await uninstall(here);
    expect(keptNames(first)[0]).toContain(`Volume ${volume}`);
    expect(first.needsConfirmation).toBe(false);
    expect(await names(here, 'deployments,pods,persistentvolumeclaims,secrets')).toBe('');
    await expect.poll(() => phase(here, volume)).toBe('Available');

    await install(here, 'agent-local', local(volume));
    await expect.poll(() => phase(here, volume)).toBe('Bound');
    const second = await uninstall(here, {purge: ['claims']});
    expect(second.needsConfirmation).toBe(true);
    expect(second.notRemoved).toEqual([]);
    expect(await phase(here, volume)).toBe('');
  });

  test('deletes a retained volume after the release is gone, unless it has been modified', async () => {
    const here = await deps();
    const volume = await disk(here);
    await install(here, 'agent-local', local(volume));
    await expect.poll(() => phase(here, volume)).toBe('Bound');
    await uninstall(here);
    expect(keptNames(await uninstall(here))[0]).toContain(`Volume ${volume}`);
    await expect.poll(() => phase(here, volume)).toBe('Available');
    const change = async (given: InventoryReadings): Promise<InventoryReadings> => {
      await here.kubectl('label', 'persistentvolume', volume, 'somebody=else');
      return given;
    };
    const {removed, notRemoved} = await uninstall(here, {purge: ['claims'], change});
    expect(removed).toEqual([]);
    expect(notRemoved).toMatchObject([
      {why: expect.stringContaining('the object has been modified')},
    ]);
    expect((await uninstall(here, {purge: ['claims']})).notRemoved).toEqual([]);
    expect(await phase(here, volume)).toBe('');
  });

  test('waits for the last run of agent-job before deleting the ServiceAccount, then purges the namespace', async () => {
    const here = await deps((ours() as {labels: Record<string, string>}).labels);
    const {kubectl} = here;
    const metadata = {name: 'scalr-agent-token', ...ours()};
    await kubectl.apply({apiVersion: 'v1', kind: 'Secret', metadata, stringData: {token: 'x'}});
    await install(here, 'agent-job', jobChart);
    await kubectl.apply(run('atask-1'));
    await kubectl('wait', '--for=jsonpath={.status.active}=1', 'job/atask-1', '--timeout=30s');
    expect(inventoryOf(await readings(here)).runs).toEqual([
      {kind: 'Job', name: 'atask-1', isCertain: true},
    ]);

    const seen: string[] = [];
    const planned = await uninstall(here, {
      purge: ['secrets', 'namespace'],
      onLook: async () => {
        seen.push(
          await kubectl('get', 'deployment', '--output', 'jsonpath={.items[*].spec.replicas}'),
          await names(here, 'serviceaccount'),
        );
        await kubectl('delete', 'job', 'atask-1', '--ignore-not-found');
      },
    });
    expect(seen[0]).toBe('0');
    expect(seen[1]).toContain('serviceaccount/agent-scalr-agent');
    expect(keptNames(planned).filter((each) => !each.startsWith('CRD'))).toEqual([]);
    await expect.poll(() => names(here, 'namespace', here.namespace)).toBe('');
  });

  test('keeps a CRD of agent-job while another release uses it, and deletes that of another version', async () => {
    const here = await deps();
    const there = await deps();
    await here.kubectl.apply(definition('atasks', 'AgentTask'));
    await here.kubectl(
      'wait',
      '--for=condition=Established',
      'customresourcedefinition',
      '--all',
      '--timeout=30s',
    );
    await install(here, 'agent-job', jobChart);
    await install(there, 'agent-job', jobChart);
    // The cluster is full of releases of other tests.
    const isOurs = ({namespace}: {namespace?: string}): boolean =>
      [here.namespace, there.namespace].includes(namespace ?? '');
    const ours = (given: InventoryReadings): InventoryReadings => ({
      ...given,
      releases: given.releases?.filter(isOurs),
      revisions: given.revisions?.filter(isOurs),
      customResources: given.customResources?.filter(({metadata}) => isOurs(metadata)),
    });
    const planned = await uninstall(here, {purge: ['crds'], change: ours});
    const why = planned.keeps.find(({what}) => what === 'CRD agenttasktemplates.scalr.io')?.why;
    expect(why).toContain(`release ${there.namespace}/agent (agent-job-0.6.5)`);
    expect(why).toContain(`AgentTaskTemplate ${there.namespace}/`);

    // Releases of this version do not use the old one.
    expect(planned.removed).toContain('CRD atasks.scalr.io');
    expect(planned.notRemoved).toEqual([]);
    expect(await names(there, 'customresourcedefinition', 'atasks.scalr.io')).toBe('');
    await uninstall(there, {change: ours});
    expect(await names(there, 'deployments')).toBe('');
  });

  test('cleans the directory of agent-k8s on every node, and leaves no cleanup objects', async () => {
    const here = await deps();
    const path = `/var/lib/${here.namespace}`;
    const agent = {
      url: URL,
      tokenExistingSecret: 'scalr-agent-token',
      data_home: path,
      kubernetes_task_labels: {team: 'a'},
    };
    await install(here, 'agent-k8s', {
      agent,
      workerNodeSelector: {'topology.kubernetes.io/zone': 'test-1b'},
      terminationGracePeriodSeconds: 1,
    });
    const inventory = inventoryOf(await readings(here));
    expect(inventory.nodeData).toEqual([
      {path, nodes: [{name: 'node-b', isReady: true}], sharedBy: [], isSafe: true},
    ]);
    const planned = await uninstall(here, {purge: ['node-data']});
    expect(keptNames(planned).filter((each) => each.includes(path))).toEqual([]);
    expect(await names(here, 'jobs,daemonsets,deployments')).toBe('');
  });
});

/** As the controller of agent-job makes one, and it does not end by itself. */
function run(name: string): object {
  const labels = {
    'app.kubernetes.io/name': 'scalr-agent',
    'app.kubernetes.io/instance': 'agent',
    'app.kubernetes.io/component': 'task',
  };
  const annotations = {'test.scalr.io/outcome': 'unready'};
  const spec = {
    restartPolicy: 'Never',
    containers: ['runner', 'worker'].map((each) => ({name: each, image: 'scalr/agent'})),
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {name},
    spec: {template: {metadata: {labels, annotations}, spec}},
  };
}
