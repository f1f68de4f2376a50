import {mkdir, mkdtemp, rm, symlink, writeFile} from 'node:fs/promises';
import {createServer, type Server} from 'node:http';
import {type AddressInfo, connect} from 'node:net';
import {tmpdir} from 'node:os';
import {delimiter, isAbsolute, join, resolve} from 'node:path';
import {directoryOf, targets} from '../../test/cluster/helm/charts-under-test.ts';
import {findHelm} from '../../test/cluster/helm/find-helm.ts';
import {findKubectl, kubectlFor} from '../../test/control-plane/kubectl.ts';
import {setLogs} from '../../test/control-plane/logs.ts';
import {DEFAULT_NODES} from '../../test/control-plane/nodes.ts';
import {startCluster} from '../../test/control-plane/start-cluster.ts';
import {WIZARD} from '../../test/package/built.ts';

/** Where a shell finds the built program, helm, kubectl and a cluster. */
export interface Stage {
  directory: string;
  env: Readonly<Record<string, string>>;
  clear(): Promise<void>;
}

const NAME = 'production';
/** Small nodes of a platform that the program knows. */
const NODES = DEFAULT_NODES.map((node) => ({
  ...node,
  labels: {...node.labels, 'eks.amazonaws.com/nodegroup': 'runs'},
  capacity: {cpu: '2', memory: '8Gi'},
}));

/**
 * A cluster whose agents say that they have registered. What a reader sees of it is the same on every machine, and nothing
 * is rewritten for that: the cluster answers to a name of its own, and the charts lie in the working directory, where
 * Helm 3 looks before it asks a repository.
 */
export async function setStage(): Promise<Stage> {
  const cluster = await startCluster({nodes: NODES, podSeconds: 11});
  const directory = await mkdtemp(join(tmpdir(), 'recording-'));
  const proxy = await proxyTo(new URL(cluster.server));
  const clear = async (): Promise<void> => {
    proxy.close();
    proxy.closeAllConnections();
    await cluster.stop();
    await rm(directory, {recursive: true});
  };
  try {
    await setLogs(
      cluster.kubeconfig,
      {namespace: 'scalr-agent'},
      {'*': {current: ['The agent is ready to receive tasks']}},
    );
    const bin = join(directory, 'bin');
    const work = join(directory, 'work');
    await Promise.all([mkdir(bin), mkdir(work)]);
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(
      kubeconfig,
      await renamed(cluster.kubeconfig, (proxy.address() as AddressInfo).port),
      {mode: 0o600},
    );
    const helm = (await findHelm()).find(({major}) => major === 3)?.path;
    if (helm === undefined)
      throw new Error(
        'There is no Helm 3 here, and a newer one takes no chart from the working directory.',
      );
    const programs = {
      'scalr-agent-install': WIZARD,
      node: process.execPath,
      helm,
      kubectl: await findKubectl(),
    };
    for (const [name, path] of Object.entries(programs))
      if (isAbsolute(path)) await symlink(path, join(bin, name));
    const newest = new Map(targets.map((target) => [target.chart, target]));
    for (const [name, target] of newest)
      await symlink(resolve(await directoryOf(target, directory)), join(work, name));
    const path = [bin, process.env['PATH']].join(delimiter);
    const env = {
      PATH: path,
      HOME: directory,
      KUBECONFIG: kubeconfig,
      TERM: 'xterm',
      LANG: 'C.UTF-8',
      PS1: '$ ',
    };
    return {directory: work, env, clear};
  } catch (error) {
    await clear();
    throw error;
  }
}

interface Config {
  clusters: {cluster: object}[];
  users: {user: object}[];
}

/** The kubeconfig as somebody would have it whose cluster has a name and an address. */
async function renamed(kubeconfig: string, proxyPort: number): Promise<string> {
  const kubectl = await kubectlFor(kubeconfig);
  const {clusters, users}: Config = JSON.parse(
    await kubectl('config', 'view', '--raw', '--flatten', '--output', 'json'),
  );
  const way = {
    server: `https://${NAME}.example.com`,
    'proxy-url': `http://127.0.0.1:${proxyPort}`,
    'tls-server-name': '127.0.0.1',
  };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{name: NAME, cluster: {...clusters[0]?.cluster, ...way}}],
    users: [{name: NAME, user: users[0]?.user}],
    contexts: [{name: NAME, context: {cluster: NAME, user: NAME}}],
    'current-context': NAME,
  });
}

/** A proxy that leads to this server, whatever it is asked for. */
async function proxyTo({hostname, port}: URL): Promise<Server> {
  const proxy = createServer().on('connect', (_request, client) => {
    const server = connect(Number(port), hostname, () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    server.pipe(client).pipe(server);
    for (const [one, other] of [[server, client] as const, [client, server] as const])
      one.on('error', () => other.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return proxy;
}
