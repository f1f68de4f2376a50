import type {KubernetesObject, Pod} from '../cluster/objects.ts';
import {type ClusterApi, listAll} from '../ports/cluster-api.ts';
import {firstOf} from '../ports/first-of.ts';
import {redacted} from './collect.ts';
import {type LogItem, logItems, type Since} from './log-items.ts';
import {NAMESPACE_KINDS} from './namespace-kinds.ts';
import type {Redactor} from './redaction/redactor.ts';
import {retain} from './retain.ts';
import {type BundledRelease, scopeOf} from './scope.ts';

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
  content: Buffer;
}

export interface Recording {
  /** Everything that was seen, as it was seen last, whether it is still there or not. */
  objects: readonly KubernetesObject[];
  logs: readonly Recorded[];
}

interface Wish {
  namespace: string;
  releases: readonly BundledRelease[];
  since: Since;
  container?: string | undefined;
  /** Ends with the last pod of this run. */
  run?: string | undefined;
  maxBytes: number;
}

interface World {
  api: ClusterApi;
  redactor: Pick<Redactor, 'file'>;
  /** The recording ends with it, and is kept. */
  until: AbortSignal;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  onLog(item: LogItem): void;
}

/** Follows the logs of every container as it appears, and keeps the last state of what vanishes, until it is told to end. */
export async function record(wish: Wish, world: World): Promise<Recording> {
  const {api, redactor, until, sleep, onLog} = world;
  const seen = new Map<string, KubernetesObject>();
  const following = new Map<string, Promise<Recorded | undefined>>();
  const ended = new AbortController();
  const listening = {api, redactor, over: firstOf(until, ended.signal)};
  let left = wish.maxBytes;
  let isOver = false;
  while (!until.aborted && !isOver) {
    const found = (await Promise.all(WATCHED.map((each) => listed(each, wish.namespace, api, until)))).flat();
    const {objects, pods} = scopeOf(found, wish.releases, wish.run);
    for (const object of objects) seen.set(object.metadata.uid ?? `${object.kind}/${object.metadata.name}`, object);
    for (const item of logItems(pods, wish.namespace, wish).filter(({file}) => !following.has(file))) {
      const limit = Math.max(Math.floor(left / PART), LEAST);
      left -= limit;
      onLog(item);
      const log = follow(item, limit, listening);
      following.set(item.file, log);
      void log.then((recorded) => {
        left += limit - (recorded?.content.length ?? 0);
      });
    }
    const {run} = wish;
    const runs = run === undefined ? [] : pods.filter(({metadata}) => metadata.name.includes(run));
    isOver = runs.length > 0 && runs.every(hasEnded);
    await sleep(EVERY_MS, until);
  }
  ended.abort();
  const logs = await Promise.all(following.values());
  return {objects: [...seen.values()], logs: logs.flatMap((each) => each ?? [])};
}

const hasEnded = ({status}: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

async function listed(
  {kind, path}: (typeof WATCHED)[number],
  namespace: string,
  api: ClusterApi,
  over: AbortSignal,
): Promise<KubernetesObject[]> {
  const {items} = await listAll(api, path(namespace), {over});
  return (items as KubernetesObject[]).map((item) => ({...item, kind}));
}

interface Listening extends Pick<World, 'api' | 'redactor'> {
  over: AbortSignal;
}

async function follow(item: LogItem, limit: number, {api, redactor, over}: Listening): Promise<Recorded | undefined> {
  const stream = await api.stream(item.isPrevious ? item.path : `${item.path}&follow=true`, {over});
  if (stream.trouble) return undefined;
  const chunks: Buffer[] = [];
  const onCut = (): void => undefined;
  for await (const chunk of retain(redacted(stream.chunks, redactor.file(item.file)), {limit, onCut})) chunks.push(chunk);
  return {item, content: Buffer.concat(chunks)};
}
