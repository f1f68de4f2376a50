import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {Agent, request} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {proxy} from '../../src/cluster/kubernetes/kubectl.ts';
import {type ApiProxy, startProxy} from '../../src/cluster/kubernetes/kubectl-processes.ts';
import type {Pod} from '../../src/cluster/kubernetes/objects.ts';
import {zipArchives} from '../../src/ground/system/zip-archive.ts';
import {findHelm} from '../../test/cluster/helm/find-helm.ts';
import {until} from '../../test/control-plane/api.ts';
import {findKubectl, kubectlFor} from '../../test/control-plane/kubectl.ts';
import {fillLog, setLogs} from '../../test/control-plane/logs.ts';
import {DEFAULT_NODES} from '../../test/control-plane/nodes.ts';
import {pod} from '../../test/control-plane/objects.ts';
import {startCluster} from '../../test/control-plane/start-cluster.ts';
import {PROGRAM} from '../../test/package/built.ts';
import {PEAK_FD, PEAK_PRELOAD, peakBelow} from '../../test/support/peak-memory.ts';
import {median, report, row} from './measure.ts';
import {AGENT} from './redaction.ts';

const LIMIT_MB = 256;
const RECORDED_API = join(import.meta.dirname, 'recorded-api.cli.ts');
const MIB = 1024 * 1024;

interface Place {
  kubeconfig: string;
  namespace: string;
  kubectl: string;
  helm: string;
  folder: string;
}

interface Run {
  milliseconds: number;
  /** From the first log that is asked for. */
  readingMs?: number;
  /** Of logs, as they came or as they lie in the bundle. */
  bytes?: number | undefined;
  peakMb?: number;
  proxyMb?: number;
}

type Way = (place: Place) => Promise<Run>;

/** The READMEs' loop with its zip: the default container of each pod, or here every one, and nothing else. */
const loop: Way = async ({kubeconfig, kubectl, namespace, folder}) => {
  const place = `--kubeconfig '${kubeconfig}' -n ${namespace}`;
  const each = `'${kubectl}' ${place} get pods -o 'jsonpath={range .items[*]}{range .spec.containers[*]}{.name}{" "}{end}{.metadata.name}{"\\n"}{end}'`;
  const read = `while read -r line; do pod=\${line##* }; for container in \${line% *}; do '${kubectl}' ${place} logs "$pod" -c "$container" --timestamps > "logs/$pod.$container.log"; done; done`;
  const script = `mkdir logs && ${each} | ${read} && cat logs/* | wc -c && zip -qr loop.zip logs && rm -rf logs loop.zip`;
  const start = performance.now();
  const {stdout} = await execa('sh', ['-c', script], {cwd: folder});
  return {milliseconds: performance.now() - start, bytes: Number(stdout)};
};

/** All that cannot be spared: the list of the pods and their logs, as many at a time, and nobody looks at what comes. */
const http: Way = async ({kubeconfig, kubectl, namespace}) => {
  const start = performance.now();
  const {socketPath, stop} = (await startProxy(
    (socket) => proxy({kubeconfig, namespace}, socket),
    kubectl,
    new AbortController().signal,
  )) as ApiProxy;
  const agent = new Agent({keepAlive: true, maxSockets: 24});
  const get = (path: string, onChunk: (chunk: Buffer) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      request({socketPath, agent, path, headers: {host: 'localhost'}}, (response) =>
        response.on('data', onChunk).on('end', resolve).on('error', reject),
      )
        .on('error', reject)
        .end();
    });
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const list: Buffer[] = [];
  await get(pods, (chunk) => list.push(chunk));
  const {items} = JSON.parse(Buffer.concat(list).toString('utf8')) as {items: Pod[]};
  const paths = items.flatMap(({metadata, spec}) =>
    (spec?.containers ?? []).map(
      ({name}) => `${pods}/${metadata.name}/log?container=${name}&timestamps=true`,
    ),
  );
  const begun = performance.now();
  let bytes = 0;
  await Promise.all(
    paths.map((path) =>
      get(path, (chunk) => {
        bytes += chunk.length;
      }),
    ),
  );
  const readingMs = performance.now() - begun;
  agent.destroy();
  await stop();
  return {milliseconds: performance.now() - start, readingMs, bytes};
};

/** The built program, as users run it. */
const command =
  (...argv: readonly string[]): Way =>
  async ({kubeconfig, kubectl, helm, namespace, folder}) => {
    const out = join(folder, 'bundle.zip');
    rmSync(out, {force: true});
    const where = [
      '--namespace',
      namespace,
      '--kubeconfig',
      kubeconfig,
      '--kubectl',
      kubectl,
      '--helm',
      helm,
    ];
    const start = performance.now();
    const running = execa(
      process.execPath,
      [
        '--import',
        PEAK_PRELOAD,
        PROGRAM,
        'collect-logs',
        ...where,
        '--out',
        out,
        '--json',
        ...argv,
      ],
      {
        stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
      },
    );
    let proxy = 0;
    const watching = setInterval(() => {
      proxy = Math.max(proxy, peakBelow(running.pid ?? 0, 'proxy'));
    }, 100);
    const {stdout, stdio} = await running.finally(() => clearInterval(watching));
    const milliseconds = performance.now() - start;
    const {complete, file} = JSON.parse(stdout) as {complete: boolean; file?: string};
    if (!complete) throw new Error(`The bundle of ${namespace} is not complete: ${stdout}`);
    const bytes = file === undefined ? undefined : await bytesOfLogs(file);
    return {milliseconds, bytes, peakMb: Number(stdio[PEAK_FD]) / 1024, proxyMb: proxy / 1024};
  };

async function bytesOfLogs(file: string): Promise<number> {
  const archive = await zipArchives.open(file);
  archive.close();
  return archive.entries
    .filter(({name}) => name.startsWith('logs/'))
    .reduce((sum, {bytes}) => sum + bytes, 0);
}

const LOOP = 'kubectl logs, one by one, and zip';
const HTTP = 'HTTP over the same socket';
const ALL = 'collect-logs, all kept';
const DEFAULT = 'collect-logs, 100 MiB kept';
/** Everything it does besides the logs: it starts, asks helm, lists what there is and says what it would read. */
const NOTHING = 'collect-logs --dry-run';

const BUNDLES: Readonly<Record<string, Way>> = {
  [HTTP]: http,
  [ALL]: command('--max-size', '8Gi'),
  [DEFAULT]: command(),
  [NOTHING]: command('--dry-run'),
};

interface Case {
  pods: number;
  containers: number;
  /** Of every log. */
  lines: number;
  /** Instead of these lines, of every log or of that of one pod. */
  bytes?: number;
  only?: string;
  ways: Readonly<Record<string, Way>>;
  most: number;
  /** As if the API server ran elsewhere and answered so late: here it shares the cores with what is measured. */
  latencyMs?: number;
}

const CASES: Readonly<Record<string, Case>> = {
  '200 logs of 200 lines': {
    pods: 20,
    containers: 10,
    lines: 200,
    ways: {[LOOP]: loop, ...BUNDLES},
    most: 15,
  },
  '200 logs of 200 lines from elsewhere': {
    pods: 20,
    containers: 10,
    lines: 200,
    ways: {[LOOP]: loop, ...BUNDLES},
    most: 15,
    latencyMs: 5,
  },
  '20 logs of 5 MiB': {pods: 20, containers: 1, lines: 0, bytes: 5 * MIB, ways: BUNDLES, most: 5},
  '1 GiB beside 499 logs': {
    pods: 500,
    containers: 1,
    lines: 200,
    bytes: 1024 * MIB,
    only: 'agent-250',
    ways: BUNDLES,
    most: 1,
  },
};

/** The whole command beside what cannot be done without. More memory than the limit is an error. Starts a cluster. */
export async function wholeBundle(rounds: number): Promise<void> {
  const cluster = await startCluster({
    nodes: DEFAULT_NODES.map((node) => ({...node, capacity: {...node.capacity, pods: '300'}})),
  });
  const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  try {
    const [kubectl, helms] = await Promise.all([findKubectl(), findHelm()]);
    const tools = {kubeconfig: cluster.kubeconfig, kubectl, helm: helms[0]?.path ?? 'helm', folder};
    for (const [index, [name, each]] of Object.entries(CASES).entries()) {
      const kubeTarget = {...tools, namespace: `bench-${index}`};
      await prepare(kubeTarget, each);
      process.stdout.write(`${name}\n`);
      tell(`whole-bundle, ${name}`, await measured(kubeTarget, each, Math.min(rounds, each.most)));
      await (await kubectlFor(cluster.kubeconfig, kubeTarget.namespace))(
        'delete',
        'pods',
        '--all',
        '--grace-period=0',
        '--force',
        '--wait=false',
      );
    }
  } finally {
    rmSync(folder, {recursive: true, force: true});
    await cluster.stop();
  }
}

type Runs = Readonly<Record<string, readonly Run[]>>;

async function measured(place: Place, each: Case, rounds: number): Promise<Runs> {
  if (each.latencyMs === undefined) return interleaved(place, each, rounds);
  const server = execa(
    process.execPath,
    ['--import', 'tsx', RECORDED_API, place.kubeconfig, String(each.latencyMs)],
    {stdin: 'pipe'},
  );
  try {
    const [kubeconfig] = (await once(server.stdout, 'data')).map((line) => String(line).trim()) as [
      string,
    ];
    const elsewhere = {...place, kubeconfig};
    // What is asked for is answered by the cluster itself for the first time.
    await interleaved(elsewhere, each, 1);
    return await interleaved(elsewhere, each, rounds);
  } finally {
    server.stdin.end();
    await server;
  }
}

async function interleaved(place: Place, {ways}: Case, rounds: number): Promise<Runs> {
  const runs: Record<string, Run[]> = Object.fromEntries(
    Object.keys(ways).map((name) => [name, []]),
  );
  for (let round = 0; round < rounds; round += 1)
    for (const [name, way] of Object.entries(ways)) runs[name]?.push(await way(place));
  const sizes = new Set(
    [LOOP, HTTP, ALL].flatMap((name) => runs[name] ?? []).map(({bytes}) => bytes),
  );
  if (sizes.size !== 1) throw new Error(`They are not the same logs: ${[...sizes]} bytes`);
  return runs;
}

function tell(part: string, runs: Runs): void {
  const time = (name: string, which: 'milliseconds' | 'readingMs' = 'milliseconds'): number =>
    median((runs[name] ?? []).map((run) => run[which] ?? Number.NaN));
  const most = (which: 'peakMb' | 'proxyMb'): number =>
    Math.max(...Object.values(runs).flatMap((each) => each.map((run) => run[which] ?? 0)));
  for (const name of Object.keys(runs)) row(part, name, time(name), time(HTTP), HTTP);
  row(
    part,
    '  of HTTP, the logs alone',
    time(HTTP, 'readingMs'),
    time(HTTP, 'readingMs'),
    'the same',
  );
  // Its bundle is finished, searched and closed in that time.
  row(
    part,
    '  of all kept, the same',
    time(ALL) - time(NOTHING),
    time(HTTP, 'readingMs'),
    'the logs alone of HTTP',
  );
  if (LOOP in runs)
    process.stdout.write(`${ALL} is ${(time(LOOP) / time(ALL)).toFixed(1)} times as fast as ${LOOP}
`);
  const peak = most('peakMb');
  const proxy = most('proxyMb');
  report({part, name: 'memory at most', value: peak, unit: 'MB'});
  report({part, name: '  and its kubectl proxy', value: proxy, unit: 'MB'});
  if (peak > LIMIT_MB) throw new Error(`${peak.toFixed(0)} MB are more than ${LIMIT_MB} MB`);
}

async function prepare(
  {kubeconfig, namespace}: Place,
  {pods, containers, lines, bytes, only}: Case,
): Promise<void> {
  const range = (count: number): number[] => Array.from({length: count}, (_, index) => index);
  const line = (index: number): string => AGENT(index).trimEnd();
  const kubectl = await kubectlFor(kubeconfig, namespace);
  await kubectl.apply({apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace}});
  await until('the namespace has a service account', async () =>
    Boolean(await kubectl('get', 'serviceaccount', 'default')),
  );
  const where = only === undefined ? {namespace} : {namespace, pod: only};
  await setLogs(kubeconfig, {namespace}, {'*': {current: range(lines).map(line)}});
  if (only !== undefined) await setLogs(kubeconfig, where, {'*': {}});
  if (bytes !== undefined) await fillLog(kubeconfig, where, '*', bytes, line);
  const labels = {'app.kubernetes.io/name': 'agent-local', 'app.kubernetes.io/instance': 'by-hand'};
  const spec = {
    containers: range(containers).map((index) => ({name: `c${index}`, image: 'scalr/agent:1'})),
  };
  await kubectl.apply(
    // What is in it is searched for in every byte, twice.
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {name: 'scalr-agent-token'},
      stringData: {token: 'eyJhbGciOiJIUzI1NiJ9.eyJhZ2VudCI6ImIifQ.Zm9yLWJlbmNo'},
    },
    ...range(pods).map((index) => ({
      ...pod(`agent-${index}`, {spec}),
      metadata: {name: `agent-${index}`, labels},
    })),
  );
  await kubectl('wait', 'pod', '--all', '--for=condition=Ready', '--timeout=180s');
}
