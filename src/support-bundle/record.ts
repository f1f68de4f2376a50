import type {KubernetesObject, Pod} from '../cluster/objects.ts';
import type {ApiReader} from '../kubernetes/client.ts';
import {listAll} from '../kubernetes/queries.ts';
import type {ApiError} from '../ports/log-stream.ts';
import {anySignal} from '../ports/signals.ts';
import {redacted} from './collect.ts';
import {FollowedLog, type Life} from './follow-log.ts';
import {type LogItem, logItems, type Since, statusesOf} from './log-items.ts';
import type {LogPosition} from './log-position.ts';
import {NAMESPACE_KINDS} from './namespace-kinds.ts';
import {PackedLog} from './packed-log.ts';
import type {Gap} from './read-namespace.ts';
import type {Redactor} from './redaction/redactor.ts';
import {hasRunId} from './run-id.ts';
import {type BundledRelease, scopeOf} from './scope.ts';
import type {SecretContent} from './seeds-of.ts';
import {WatchedKind} from './watched-kind.ts';

/** How often it is looked for new pods; those of a run live a minute longer than the run. */
const EVERY_MS = 2000;
/** Runs change from minute to minute; everything else is read at the end. */
const WATCHED = NAMESPACE_KINDS.filter(({kind}) => ['ReplicaSet', 'Job', 'Pod', 'Event'].includes(kind));
/** What a log may hold in memory: a part of what others have left. */
const PART = 16;
const LEAST = 64 * 1024;

export interface Recorded {
  item: LogItem;
  /** As it goes into the bundle, with a mark where something is left out. */
  content: Pick<PackedLog, 'bytes' | 'cut' | 'pieces'>;
  /** From where on there may be more; undefined when it came to its end. */
  goesOnAt: LogPosition | undefined;
  /** Why something of it is missing. */
  trouble: ApiError | undefined;
}

export interface Recording {
  /** Everything that was seen, as it was seen last, whether it is still there or not. */
  objects: readonly KubernetesObject[];
  logs: readonly Recorded[];
  /** Those of runs come and go with them. */
  secrets: readonly SecretContent[];
  gaps: readonly Gap[];
}

interface Wish {
  namespace: string;
  releases: readonly BundledRelease[];
  since: Since;
  container?: string | undefined;
  /** Ends with the last pod of this run. */
  run?: string | undefined;
  maxBytes: number;
  readsSecrets: boolean;
}

interface World {
  api: ApiReader;
  redactor: Pick<Redactor, 'file'>;
  /** The recording ends with it, and is kept. */
  until: AbortSignal;
  now(): Date;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  onLog(item: LogItem): void;
}

/** Follows the logs of every container as it appears, and keeps the last state of what vanishes, until it is told to end. */
export async function record(wish: Wish, {api, redactor, until, now, sleep, onLog}: World): Promise<Recording> {
  const seen = new Map<string, KubernetesObject>();
  const following = new Map<string, Promise<Recorded>>();
  const ended = new AbortController();
  const over = anySignal(until, ended.signal);
  const kinds = WATCHED.map((kind) => new WatchedKind(kind, wish.namespace, {api, over, now}));
  const reading: Promise<readonly SecretContent[]>[] = [];
  let lives: ReadonlyMap<string, Life> = new Map();
  let left = wish.maxBytes;
  const runs = new Map<string, Pod>();
  let isOver = false;
  while (!until.aborted && !isOver) {
    const found = (await Promise.all(kinds.map((kind) => kind.look()))).flat();
    const {objects, pods} = scopeOf(found, wish.releases, wish.run);
    for (const object of objects) seen.set(keyOf(object), object);
    lives = livesOf(pods);
    const items = logItems(pods, wish.namespace, wish).filter(({file}) => !following.has(file));
    if (items.length > 0 && wish.readsSecrets) reading.push(secretsNow(wish.namespace, api, over));
    for (const item of items) {
      const limit = Math.max(Math.floor(left / PART), LEAST);
      left -= limit;
      onLog(item);
      const lifeNow = (): Life | undefined => lives.get(`${item.pod}/${item.container}`);
      const log = follow(new FollowedLog(item, {api, over, sleep, lifeNow}), limit, redactor);
      following.set(item.file, log);
      void log.then(({content}) => {
        left += limit - content.bytes;
      });
    }
    isOver = hasEnded(wish.run, pods, runs);
    await sleep(EVERY_MS, until);
  }
  ended.abort();
  const logs = await Promise.all(following.values());
  return {
    objects: [...seen.values()],
    logs,
    secrets: (await Promise.all(reading)).flat(),
    gaps: [...kinds.flatMap((kind) => kind.gap()), ...unseen(wish, runs.size, following.size)],
  };
}

async function follow(log: FollowedLog, limit: number, redactor: Pick<Redactor, 'file'>): Promise<Recorded> {
  const {item, position} = log;
  const content = new PackedLog(limit);
  for await (const chunk of redacted(log.chunks(), redactor.file(item.file))) content.push(chunk);
  return {item, content, goesOnAt: log.goesOn ? position : undefined, trouble: log.trouble};
}

/** What it was told to look for, and never saw. */
function unseen({run, container}: Wish, runs: number, logs: number): Gap[] {
  const gap = (what: string, message: string): Gap => ({what, trouble: {kind: 'not-found', message}});
  return [
    ...(run !== undefined && runs === 0 ? [gap(`run ${run}`, 'it was not seen')] : []),
    ...(container !== undefined && logs === 0 ? [gap(`container ${container}`, 'none of this name was seen to begin')] : []),
  ];
}

const keyOf = ({kind, metadata: {uid, name}}: KubernetesObject): string => uid ?? `${kind}/${name}`;

/** What cannot be read is said of those that are there at the end. Helm's records are large and hold nothing of a run. */
async function secretsNow(namespace: string, api: ApiReader, over: AbortSignal): Promise<readonly SecretContent[]> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets?fieldSelector=type%21%3Dhelm.sh%2Frelease.v1`;
  return (await listAll(api, path, {over})).items as SecretContent[];
}

const livesOf = (pods: readonly Pod[]): ReadonlyMap<string, Life> =>
  new Map(
    pods.flatMap((pod) =>
      statusesOf(pod).map(({name, restartCount = 0, state}): [string, Life] => [
        `${pod.metadata.name}/${name}`,
        {restarts: restartCount, isRunning: state?.running !== undefined},
      ]),
    ),
  );

/** Every pod of the run that was seen has ended, or is no more. */
function hasEnded(run: string | undefined, pods: readonly Pod[], runs: Map<string, Pod>): boolean {
  if (run === undefined) return false;
  const there = new Map(pods.filter((pod) => hasRunId(pod, run)).map((pod) => [pod.metadata.name, pod]));
  for (const [name, pod] of there) runs.set(name, pod);
  return runs.size > 0 && [...runs.keys()].every((name) => isDone(there.get(name)));
}

const isDone = (pod: Pod | undefined): boolean => pod === undefined || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
