import type {ApiReader} from '../../../cluster/kubernetes/client.ts';
import type {KubernetesObject, Pod} from '../../../cluster/kubernetes/objects.ts';
import {hasEnded} from '../../../cluster/kubernetes/pod-specs.ts';
import {listAll, listObjects} from '../../../cluster/kubernetes/resources.ts';
import {anySignal, type Clock} from '../../../ground/async.ts';
import type {ReadError} from '../../../ground/fact.ts';
import type {SecretContent} from '../redact/find-secrets.ts';
import {followLog, type LogContainerState, type RecordedLog} from './follow-log.ts';
import type {Gap} from './gap.ts';
import {type LogItem, logItems, type Since, statusesOf} from './log-items.ts';
import {BUNDLED_KINDS, type NamespaceKind} from './read-objects.ts';
import {type BundledRelease, bundleScope, hasRunId} from './scope.ts';

/** Interval between two lists; the pods of a run exist a minute longer than the run. */
const POLL_INTERVAL_MS = 2000;
/** If lists fail for less than this time, no run can be missed. */
const MAX_LIST_GAP_MS = 45_000;
/** Kinds that change with runs; all others are read at the end. */
const WATCHED = BUNDLED_KINDS.filter(({kind}) =>
  ['ReplicaSet', 'Job', 'Pod', 'Event'].includes(kind),
);
/** Each log can keep this share of the remaining memory. */
const PART = 1 / 16;
const MIN_PART_BYTES = 256 * 1024;

export interface Recording {
  /** Last state of all objects, including deleted ones. */
  objects: readonly KubernetesObject[];
  logs: readonly RecordedLog[];
  /** Secrets of runs are created and deleted with them. */
  secrets: readonly SecretContent[];
  gaps: readonly Gap[];
}

interface Options {
  namespace: string;
  releases: readonly BundledRelease[];
  since: Since;
  container?: string | undefined;
  /** The recording ends with the last pod of this run. */
  run?: string | undefined;
  /** Total for all logs. */
  maxBytes: number;
  readsSecrets: boolean;
}

export interface RecordDeps extends Clock {
  api: ApiReader;
  /** Stops the recording, which is kept. */
  until: AbortSignal;
  onLog(item: LogItem): void;
}

/** Follows the log of every new container, and keeps the last state of deleted objects. */
export const record = (options: Options, deps: RecordDeps): Promise<Recording> =>
  new Recorder(options, deps).run();

class Recorder {
  readonly #options: Options;
  readonly #deps: RecordDeps;
  /** Ends the following of logs with the recording. */
  readonly #ended = new AbortController();
  readonly #signal: AbortSignal;
  readonly #kinds: readonly WatchedKind[];
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #logs = new Map<string, Promise<RecordedLog>>();
  readonly #secrets: Promise<readonly SecretContent[]>[] = [];
  /** Names of all pods of the run that were seen. */
  readonly #podsOfRun = new Set<string>();
  #states: ReadonlyMap<string, LogContainerState> = new Map();
  /** Memory for logs that are not followed yet. */
  #freeBytes: number;

  constructor(options: Options, deps: RecordDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#signal = anySignal(deps.until, this.#ended.signal);
    this.#kinds = WATCHED.map((kind) => new WatchedKind(kind, options.namespace, deps.now()));
    this.#freeBytes = options.maxBytes;
  }

  async run(): Promise<Recording> {
    const {until, sleep} = this.#deps;
    for (let isOver = false; !until.aborted && !isOver; await sleep(POLL_INTERVAL_MS, until)) {
      const pods = await this.#list();
      this.#follow(pods);
      isOver = this.#isRunOver(pods);
    }
    this.#ended.abort();
    return {
      logs: await Promise.all(this.#logs.values()),
      objects: [...this.#objects.values()],
      secrets: (await Promise.all(this.#secrets)).flat(),
      gaps: [
        ...this.#kinds.flatMap((kind) => kind.gap()),
        ...notSeen(this.#options, this.#podsOfRun.size, this.#logs.size),
      ],
    };
  }

  /** Reads all objects again, and returns the pods of the bundle. */
  async #list(): Promise<readonly Pod[]> {
    const {api, now} = this.#deps;
    const {releases, run} = this.#options;
    await Promise.all(this.#kinds.map((kind) => kind.list(api, this.#signal, now)));
    const listed = this.#kinds.flatMap(({objects}) => objects);
    const {objects, pods} = bundleScope(listed, releases, {run});
    for (const object of objects)
      this.#objects.set(object.metadata.uid ?? `${object.kind}/${object.metadata.name}`, object);
    this.#states = statesOf(pods);
    return pods;
  }

  /** Follows the logs of new containers. */
  #follow(pods: readonly Pod[]): void {
    const {namespace, readsSecrets} = this.#options;
    const items = logItems(pods, namespace, this.#options).filter(
      ({file}) => !this.#logs.has(file),
    );
    if (items.length > 0 && readsSecrets)
      this.#secrets.push(listSecrets(namespace, this.#deps.api, this.#signal));
    for (const item of items) {
      this.#deps.onLog(item);
      this.#logs.set(item.file, this.#followLog(item));
    }
  }

  async #followLog(item: LogItem): Promise<RecordedLog> {
    const {api, sleep} = this.#deps;
    const limit = Math.max(Math.floor(this.#freeBytes * PART), MIN_PART_BYTES);
    this.#freeBytes -= limit;
    const stateNow = (): LogContainerState | undefined =>
      this.#states.get(`${item.pod}/${item.container}`);
    const log = await followLog(item, limit, {api, signal: this.#signal, sleep, stateNow});
    this.#freeBytes += limit - log.content.bytes;
    return log;
  }

  /** Whether all seen pods of the run have finished or were deleted. */
  #isRunOver(pods: readonly Pod[]): boolean {
    const {run} = this.#options;
    const ofRun = run === undefined ? [] : pods.filter((pod) => hasRunId(pod, run));
    for (const {metadata} of ofRun) this.#podsOfRun.add(metadata.name);
    return this.#podsOfRun.size > 0 && ofRun.every(hasEnded);
  }
}

/** Objects of one kind, listed repeatedly. */
class WatchedKind {
  /** Objects of the last successful list. */
  objects: readonly KubernetesObject[] = [];
  readonly #kind: NamespaceKind;
  readonly #namespace: string;
  #listedAt: Date;
  #longestMs = 0;
  #longestFrom: Date | undefined;
  #error: ReadError | undefined;

  constructor(kind: NamespaceKind, namespace: string, now: Date) {
    this.#kind = kind;
    this.#namespace = namespace;
    this.#listedAt = now;
  }

  async list(api: ApiReader, signal: AbortSignal, now: () => Date): Promise<void> {
    const {items, error} = await listObjects<KubernetesObject>(api, this.#kind.resource, {
      namespace: this.#namespace,
      signal,
    });
    if (error !== undefined && error.kind !== 'aborted') this.#error = error;
    const elapsed = now().getTime() - this.#listedAt.getTime();
    if (this.#error !== undefined && elapsed > this.#longestMs) {
      this.#longestMs = elapsed;
      this.#longestFrom = this.#listedAt;
    }
    if (error !== undefined) return;
    this.objects = items.map((item) => ({...item, kind: this.#kind.kind}));
    this.#listedAt = now();
  }

  /** Reports a time in which objects may have been missed. */
  gap(): Gap[] {
    if (this.#error === undefined) return [];
    const message = `not watched for ${Math.ceil(this.#longestMs / 1000)} s: ${this.#error.message}`;
    const what = `${this.#kind.kind} objects (--watch)`;
    const isMinor = this.#longestMs < MAX_LIST_GAP_MS;
    return [
      {what, error: {...this.#error, message}, at: this.#longestFrom?.toISOString(), isMinor},
    ];
  }
}

/** Requested run and container that never appeared. */
function notSeen({run, container}: Options, podsOfRun: number, logs: number): Gap[] {
  const gap = (what: string, message: string): Gap => ({what, error: {kind: 'not-found', message}});
  return [
    ...(run !== undefined && podsOfRun === 0 ? [gap(`run ${run}`, 'not seen while watching')] : []),
    ...(container !== undefined && logs === 0
      ? [gap(`container ${container}`, 'no container with this name started while watching')]
      : []),
  ];
}

/** Without Helm release Secrets, which are large and irrelevant for runs. Errors are reported when the bundle is written. */
async function listSecrets(
  namespace: string,
  api: ApiReader,
  signal: AbortSignal,
): Promise<readonly SecretContent[]> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets?fieldSelector=type%21%3Dhelm.sh%2Frelease.v1`;
  return (await listAll(api, path, {signal})).items as SecretContent[];
}

const statesOf = (pods: readonly Pod[]): ReadonlyMap<string, LogContainerState> =>
  new Map(
    pods.flatMap((pod) =>
      statusesOf(pod).map(({name, restartCount = 0, state}): [string, LogContainerState] => [
        `${pod.metadata.name}/${name}`,
        {restarts: restartCount, isRunning: state?.running !== undefined},
      ]),
    ),
  );
