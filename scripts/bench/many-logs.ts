import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {Agent, request} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {buffer} from 'node:stream/consumers';
import type {ApiReader} from '../../src/cluster/kubernetes/client.ts';
import {kubernetesClient} from '../../src/cluster/kubernetes/connect.ts';
import {proxy} from '../../src/cluster/kubernetes/kubectl.ts';
import {
  type ApiProxy,
  rawClient,
  startProxy,
} from '../../src/cluster/kubernetes/kubectl-processes.ts';
import {zipArchives} from '../../src/ground/system/zip-archive.ts';
import {findKubectl, kubectlFor} from '../../test/control-plane/kubectl.ts';
import {setLogs} from '../../test/control-plane/logs.ts';
import {pod} from '../../test/control-plane/objects.ts';
import {startCluster} from '../../test/control-plane/start-cluster.ts';
import {median, row} from './measure.ts';

const PODS = 20;
const CONTAINERS = 10;
const LINES = 200;
const THEIRS = 'kubectl logs, one by one';

interface Log {
  pod: string;
  container: string;
}

interface Bench {
  kubeconfig: string;
  kubectl: string;
  namespace: string;
  logs: readonly Log[];
  folder: string;
}

const signal = new AbortController().signal;
const pathOf = ({pod, container}: Log, namespace: string): string =>
  `/api/v1/namespaces/${namespace}/pods/${pod}/log?container=${container}`;

const WAYS: Readonly<Record<string, (bench: Bench) => Promise<number> | number>> = {
  [THEIRS]({kubeconfig, kubectl, namespace, logs}) {
    const loop = logs.map(
      ({pod, container}) =>
        `'${kubectl}' --kubeconfig '${kubeconfig}' -n ${namespace} logs ${pod} -c ${container}`,
    );
    return spawnSync('sh', ['-c', loop.join('\n')], {maxBuffer: 1024 ** 3}).stdout.length;
  },
  'HTTP over the same socket': async ({kubeconfig, kubectl, namespace, logs}) => {
    const {socketPath, stop} = (await startProxy(
      (socket) => proxy({kubeconfig, namespace}, socket),
      kubectl,
      signal,
    )) as ApiProxy;
    const agent = new Agent({keepAlive: true, maxSockets: 24});
    const one = (log: Log): Promise<number> =>
      new Promise((resolve, reject) => {
        request(
          {socketPath, agent, path: pathOf(log, namespace), headers: {host: 'localhost'}},
          (response) => resolve(buffer(response).then(({length}) => length)),
        )
          .on('error', reject)
          .end();
      });
    const lengths = await Promise.all(logs.map(one));
    agent.destroy();
    await stop();
    return sum(lengths);
  },
  'the API of this program': async ({kubeconfig, kubectl, namespace, logs}) => {
    const api = kubernetesClient({kubeconfig, namespace}, {kubectl});
    const lengths = await Promise.all(
      logs.map(async (log) => (await buffer(await chunksOf(api, log, namespace))).length),
    );
    await api.close();
    return sum(lengths);
  },
  'the same into a zip': async ({kubeconfig, kubectl, namespace, logs, folder}) => {
    const api = kubernetesClient({kubeconfig, namespace}, {kubectl});
    const archive = await zipArchives.create(join(folder, 'bundle.zip'));
    await Promise.all(
      logs.map(async (log) =>
        archive.add(`${log.pod}/${log.container}.log`, await chunksOf(api, log, namespace)),
      ),
    );
    const {entries} = await archive.close({manifest: (all) => JSON.stringify(all)});
    await api.close();
    return sum(entries.map(({bytes}) => bytes));
  },
  'a kubectl for each request': async ({kubeconfig, kubectl, namespace, logs}) => {
    const api = rawClient({kubeconfig, namespace}, kubectl);
    return sum(
      await Promise.all(
        logs.map(async (log) => (await buffer(await chunksOf(api, log, namespace))).length),
      ),
    );
  },
};

async function chunksOf(
  api: ApiReader,
  log: Log,
  namespace: string,
): Promise<AsyncIterable<Buffer>> {
  const opened = await api.stream(pathOf(log, namespace), {signal});
  if (opened.error) throw new Error(opened.error.message);
  return opened.chunks;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);

/** The logs of 200 containers, as a part of what as many calls of kubectl take. Starts a cluster. */
export async function manyLogs(rounds: number): Promise<void> {
  const cluster = await startCluster();
  const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  try {
    const bench = await prepare(cluster.kubeconfig, folder);
    const times = Object.fromEntries(
      Object.keys(WAYS).map((name): [string, number[]] => [name, []]),
    );
    const sizes = new Set<number>();
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, way] of Object.entries(WAYS)) {
        const start = performance.now();
        sizes.add(await way(bench));
        times[name]?.push(performance.now() - start);
      }
    }
    if (sizes.size !== 1) throw new Error(`They are not the same logs: ${[...sizes]} bytes`);
    const theirs = median(times[THEIRS] ?? []);
    for (const [name, measured] of Object.entries(times))
      row('many-logs', name, median(measured), theirs, `${bench.logs.length} × kubectl logs`);
  } finally {
    rmSync(folder, {recursive: true, force: true});
    await cluster.stop();
  }
}

async function prepare(kubeconfig: string, folder: string): Promise<Bench> {
  const namespace = 'default';
  const range = (count: number): number[] => Array.from({length: count}, (_, index) => index);
  const lines = range(LINES).map(
    (index) => `INFO run-${index} polled the queue of the account and found nothing to do`,
  );
  await setLogs(kubeconfig, {namespace}, {'*': {current: lines}});
  const kubectl = await kubectlFor(kubeconfig);
  const spec = {
    containers: range(CONTAINERS).map((index) => ({name: `c${index}`, image: 'scalr/agent:1'})),
  };
  await kubectl.apply(...range(PODS).map((index) => pod(`agent-${index}`, {spec})));
  await kubectl('wait', 'pod', '--all', '--for=condition=Ready', '--timeout=60s');
  const logs = range(PODS).flatMap((one) =>
    range(CONTAINERS).map((other) => ({pod: `agent-${one}`, container: `c${other}`})),
  );
  return {kubeconfig, kubectl: await findKubectl(), namespace, logs, folder};
}
