import {once} from 'node:events';
import {mkdtemp, readFile, writeFile} from 'node:fs/promises';
import {type AddressInfo, createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseAllDocuments} from 'yaml';
import {type Api, connect, until} from './api.ts';
import {issueCertificates} from './certificates.ts';
import {startGuard} from './guard.ts';
import {writeKubeconfig} from './kubeconfig.ts';
import {kwokConfig} from './kwok-config.ts';
import {controlPlane} from './modules/build.ts';
import {DEFAULT_NODES, type NodeSpec, nodeObject} from './nodes.ts';
import * as programs from './programs.ts';

export interface Cluster {
  /** Path of an admin kubeconfig. */
  kubeconfig: string;
  server: string;
  stop(): Promise<void>;
}

/** Starts a cluster that can schedule pods. It stops with this process at the latest. */
export async function startCluster({
  nodes = DEFAULT_NODES,
  podSeconds = 0,
}: {
  nodes?: readonly NodeSpec[];
  /** Until a pod is ready. */
  podSeconds?: number;
} = {}): Promise<Cluster> {
  const binaries = await controlPlane();
  const directory = await mkdtemp(join(tmpdir(), 'test-cluster-'));
  const guard = startGuard(directory);
  try {
    const setup = await prepare(directory);
    const server = `https://127.0.0.1:${setup.ports.server}`;
    await writeFile(join(directory, programs.ETCD_ADDRESS), `http://127.0.0.1:${setup.ports.etcd}`);
    await writeFile(
      join(directory, 'kwok.yaml'),
      await kwokConfig(setup, binaries.stages, podSeconds),
    );
    guard.run('etcd', binaries.etcd, programs.etcd(setup));
    guard.run('kube-apiserver', binaries['kube-apiserver'], programs.apiServer(setup));
    const api = await connect(server, setup.certificates);
    const boot = async (): Promise<void> => {
      await until('the API server is ready', async () => (await api('GET', '/readyz')) === 'ok');
      guard.run(
        'kube-controller-manager',
        binaries['kube-controller-manager'],
        programs.controllerManager(setup),
      );
      guard.run('kube-scheduler', binaries['kube-scheduler'], programs.scheduler(setup));
      await createObjects(api, await documents(binaries.objects));
      await createObjects(api, nodes.map(nodeObject));
      guard.run('kwok', binaries.kwok, programs.kwok(setup));
      await until('all nodes are ready', () => nodesAreReady(api));
      // Pods are rejected until the default service account exists.
      await until('there is a service account', async () =>
        Boolean(await api('GET', '/api/v1/namespaces/default/serviceaccounts/default')),
      );
    };
    await Promise.race([boot(), guard.failure]);
    return {kubeconfig: setup.kubeconfigs.admin, server, stop: guard.stop};
  } catch (error) {
    await guard.stop();
    throw error;
  }
}

async function prepare(directory: string): Promise<programs.Setup> {
  const certificates = await issueCertificates(directory);
  const [etcd, etcdPeer, server, kubelet] = (await freePorts(4)) as [
    number,
    number,
    number,
    number,
  ];
  const kubeconfig = (
    file: string,
    client: 'admin' | 'controllerManager' | 'scheduler',
  ): Promise<string> =>
    writeKubeconfig(
      join(directory, file),
      `https://127.0.0.1:${server}`,
      certificates.ca,
      certificates[client],
    );
  const kubeconfigs = {
    admin: await kubeconfig('kubeconfig', 'admin'),
    controllerManager: await kubeconfig('controller-manager.kubeconfig', 'controllerManager'),
    scheduler: await kubeconfig('scheduler.kubeconfig', 'scheduler'),
  };
  return {directory, certificates, ports: {etcd, etcdPeer, server, kubelet}, kubeconfigs};
}

/** Free ports, reserved at the same time so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({length: count}, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((each) => once(each, 'listening')));
  const ports = servers.map((each) => (each.address() as AddressInfo).port);
  await Promise.all(servers.map((each) => once(each.close(), 'close')));
  return ports;
}

/** Skips the empty documents of a leading `---`. */
async function documents(path: string): Promise<object[]> {
  return parseAllDocuments(await readFile(path, 'utf8')).flatMap((each) => each.toJS() ?? []);
}

const PATHS: Readonly<Record<string, string>> = {
  Node: '/api/v1/nodes',
  StorageClass: '/apis/storage.k8s.io/v1/storageclasses',
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
};

async function createObjects(api: Api, objects: readonly object[]): Promise<void> {
  for (const object of objects as {kind: string}[])
    await api('POST', PATHS[object.kind] as string, object);
}

interface NodeList {
  items: {
    spec: {taints?: {key: string}[]};
    status: {conditions?: {type: string; status: string}[]};
  }[];
}

async function nodesAreReady(api: Api): Promise<boolean> {
  const {items} = await api<NodeList>('GET', '/api/v1/nodes');
  return items.every(
    ({spec, status}) =>
      status.conditions?.some(({type, status: is}) => type === 'Ready' && is === 'True') &&
      !spec.taints?.some(({key}) => key === 'node.kubernetes.io/not-ready'),
  );
}
