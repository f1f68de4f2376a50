import {deflateRawSync, inflateRawSync} from 'node:zlib';
import type {ContainerStatus, Pod} from '../../kubernetes/objects.ts';
import {cutMark} from './retain.ts';

/** Start of the logs; without it, logs are read from their beginning. */
export type Since = {seconds: number} | {time: string} | undefined;

/** A log to read. */
export interface LogItem {
  /** Name in the bundle: logs/<pod>/<container>.log, or .previous.log for the log before a restart. */
  file: string;
  pod: string;
  container: string;
  isPrevious: boolean;
  /** API path with its query. */
  path: string;
  /** Bytes that were already cut from the middle of a followed log. */
  cut?: number;
}

interface Options {
  since: Since;
  container?: string | undefined;
}

/** Logs of all started containers, including init and ephemeral ones, and previous logs of restarted ones. Pure. */
export const logItems = (pods: readonly Pod[], namespace: string, {since, container}: Options): LogItem[] =>
  pods.flatMap((pod) =>
    statusesOf(pod)
      .filter(({name}) => container === undefined || name === container)
      .flatMap((status) => [
        ...(hasBegun(status) ? [item(pod, status.name, namespace, since, false)] : []),
        ...(hasPrevious(status) ? [item(pod, status.name, namespace, since, true)] : []),
      ]),
  );

/** Number of containers. */
export const logContainers = (logs: readonly LogItem[]): number => new Set(logs.map(({pod, container}) => `${pod}/${container}`)).size;

export const statusesOf = ({status}: Pod): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
  ...(status?.ephemeralContainerStatuses ?? []),
];

const hasBegun = ({state, lastState}: ContainerStatus): boolean =>
  state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined;

const hasPrevious = ({restartCount = 0, lastState}: ContainerStatus): boolean => restartCount > 0 || lastState?.terminated !== undefined;

function item({metadata: {name}}: Pod, container: string, namespace: string, since: Since, isPrevious: boolean): LogItem {
  const query = new URLSearchParams({
    container,
    timestamps: 'true',
    ...(isPrevious ? {previous: 'true'} : {}),
    // Logs before a restart are collected regardless of the time range.
    ...(since === undefined || isPrevious ? {} : 'seconds' in since ? {sinceSeconds: String(since.seconds)} : {sinceTime: since.time}),
  });
  return {
    file: `logs/${name}/${container}${isPrevious ? '.previous' : ''}.log`,
    pod: name,
    container,
    isPrevious,
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/log?${query}`,
  };
}

const BLOCK = 16 * 1024;

interface Block {
  bytes: number;
  packed: Buffer;
}

/** Start and end of a log that stays in memory for a long time, compressed to about a tenth. Chunks are whole lines. */
export class KeptLog {
  /** Size of the kept text. */
  bytes = 0;
  /** Size of the omitted text between the first blocks and the rest. */
  cut = 0;
  readonly #limit: number;
  readonly #blocks: Block[] = [];
  #firstBlocks = 0;
  /** Not compressed yet. */
  #open: Buffer[] = [];
  #openBytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    // A copy: a small chunk would keep its whole buffer in memory.
    this.#open.push(Buffer.from(chunk));
    this.#openBytes += chunk.length;
    this.bytes += chunk.length;
    if (this.#openBytes >= BLOCK) this.#pack();
  }

  *chunks(): Generator<Buffer> {
    for (const [index, {packed}] of this.#blocks.entries()) {
      if (this.cut > 0 && index === this.#firstBlocks) yield Buffer.from(cutMark(this.cut));
      yield inflateRawSync(packed);
    }
    if (this.cut > 0 && this.#blocks.length === this.#firstBlocks) yield Buffer.from(cutMark(this.cut));
    yield* this.#open;
  }

  #pack(): void {
    this.#blocks.push({bytes: this.#openBytes, packed: Buffer.from(deflateRawSync(Buffer.concat(this.#open), {level: 1}))});
    [this.#open, this.#openBytes] = [[], 0];
    while (this.bytes > this.#limit && this.#blocks.length > 1) {
      if (this.cut === 0) this.#firstBlocks = Math.floor(this.#blocks.length / 3);
      const [{bytes}] = this.#blocks.splice(this.#firstBlocks, 1) as [Block];
      this.bytes -= bytes;
      this.cut += bytes;
    }
  }
}
