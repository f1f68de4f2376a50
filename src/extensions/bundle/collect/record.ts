import type {ApiReader} from '../../../cluster/kubernetes/client.ts';
import type {KubernetesObject, Pod} from '../../../cluster/kubernetes/objects.ts';
import {hasEnded} from '../../../cluster/kubernetes/pod-specs.ts';
import {listAll, listObjects} from '../../../cluster/kubernetes/resources.ts';
import {anySignal, type Clock} from '../../../ground/async.ts';
import type {ReadError} from '../../../ground/fact.ts';
import type {LogStream} from '../../../ground/system/system.ts';
import {knownSecretsOf, type SecretContent} from '../redact/find-secrets.ts';
import {followLog, type LogContainerState, type RecordedLog} from './follow-log.ts';
import {type LogItem, logItems, type Since, statusesOf} from './log-items.ts';
import type {PreparedBundle} from './prepare.ts';
import {BUNDLED_KINDS, type Gap, type NamespaceKind, objectFiles} from './read-objects.ts';
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
export async function record(
  options: Options,
  {api, until, now, sleep, onLog}: RecordDeps,
): Promise<Recording> {
  const {namespace, releases, run, readsSecrets} = options;
  const ended = new AbortController();
  const signal = anySignal(until, ended.signal);
  const kinds = WATCHED.map((kind) => new WatchedKind(kind, namespace, now()));
  const seen = new Map<string, KubernetesObject>();
  const following = new Map<string, Promise<RecordedLog>>();
  const secrets: Promise<readonly SecretContent[]>[] = [];
  const podsOfRun = new Set<string>();
  let states: ReadonlyMap<string, LogContainerState> = new Map();
  let left = options.maxBytes;
  for (let isOver = false; !until.aborted && !isOver; await sleep(POLL_INTERVAL_MS, until)) {
    await Promise.all(kinds.map((kind) => kind.list(api, signal, now)));
    const listed = kinds.flatMap(({objects}) => objects);
    const {objects, pods} = bundleScope(listed, releases, run);
    for (const object of objects)
      seen.set(object.metadata.uid ?? `${object.kind}/${object.metadata.name}`, object);
    states = statesOf(pods);
    const items = logItems(pods, namespace, options).filter(({file}) => !following.has(file));
    if (items.length > 0 && readsSecrets) secrets.push(listSecrets(namespace, api, signal));
    for (const item of items) {
      const limit = Math.max(Math.floor(left * PART), MIN_PART_BYTES);
      left -= limit;
      onLog(item);
      const stateNow = (): LogContainerState | undefined =>
        states.get(`${item.pod}/${item.container}`);
      const log = followLog(item, limit, {api, signal, sleep, stateNow});
      following.set(item.file, log);
      void log.then(({content}) => {
        left += limit - content.bytes;
      });
    }
    const ofRun = run === undefined ? [] : pods.filter((pod) => hasRunId(pod, run));
    for (const {metadata} of ofRun) podsOfRun.add(metadata.name);
    // All seen pods of the run have finished or were deleted.
    isOver = podsOfRun.size > 0 && ofRun.every(hasEnded);
  }
  ended.abort();
  return {
    logs: await Promise.all(following.values()),
    objects: [...seen.values()],
    secrets: (await Promise.all(secrets)).flat(),
    gaps: [
      ...kinds.flatMap((kind) => kind.gap()),
      ...notSeen(options, podsOfRun.size, following.size),
    ],
  };
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
    if (this.#error !== undefined && elapsed > this.#longestMs)
      [this.#longestMs, this.#longestFrom] = [elapsed, this.#listedAt];
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

type LogApi = Pick<ApiReader, 'stream'>;

/** Combines current objects with recorded ones: deleted objects, and followed logs instead of a second read. */
export function withRecording(
  prepared: PreparedBundle,
  recording: Recording,
  api: LogApi,
): {prepared: PreparedBundle; api: LogApi} {
  const {objects, logs, secrets, gaps} = recording;
  const existing = new Set(prepared.scope.objects.map(({metadata}) => metadata.uid));
  const gone = objects.filter(({metadata}) => !existing.has(metadata.uid));
  const recorded = new Map(logs.map((log) => [log.item.path, log]));
  const files = new Set(logs.map(({item}) => item.file));
  return {
    prepared: {
      ...prepared,
      scope: {...prepared.scope, objects: [...prepared.scope.objects, ...gone]},
      texts: (hideIn) => [
        ...prepared.texts(hideIn),
        ...objectFiles(gone, hideIn, (name) => `gone/${name}`),
      ],
      logs: [
        ...prepared.logs.filter(({file}) => !files.has(file)),
        ...logs.map(({item, content: {cut}}) => (cut > 0 ? {...item, cut} : item)),
      ],
      // Runs create Secrets that did not exist at the start.
      knownSecrets: [...prepared.knownSecrets, ...knownSecretsOf(secrets, objects)],
      gaps: [...prepared.gaps, ...gaps],
    },
    api: {
      stream: async (path, options) => {
        const log = recorded.get(path);
        return log === undefined
          ? api.stream(path, options)
          : replay(log, (rest) => api.stream(rest, options));
      },
    },
  };
}

/** The kept part of a log, and new lines since. */
function replay(
  {item, content, rest, error}: RecordedLog,
  read: (path: string) => ReturnType<LogApi['stream']>,
): LogStream {
  let settle: (error: ReadError | undefined) => void = () => undefined;
  const end = new Promise<ReadError | undefined>((resolve) => {
    settle = resolve;
  });
  async function* chunks(): AsyncGenerator<Buffer> {
    let missing = error;
    try {
      yield* content.chunks();
      if (rest === undefined) return;
      const stream = await read(rest.from(item.path));
      if (stream.error === undefined) {
        yield* rest.news(stream.chunks);
        yield rest.rest();
        missing = await stream.end;
      }
      // The pod was deleted at the end of the recording.
      else if (stream.error.kind !== 'not-found') missing = stream.error;
    } finally {
      settle(missing);
    }
  }
  return {chunks: chunks(), end};
}
