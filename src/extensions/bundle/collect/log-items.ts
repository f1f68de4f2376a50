import {deflateRawSync, inflateRawSync} from 'node:zlib';
import type {ContainerStatus, Pod} from '../../../cluster/kubernetes/objects.ts';
import {MAX_LINE_BYTES, NEWLINE, wholeLines} from '../../../ground/async.ts';

/** Maximum end of a log that is kept in memory while it is read. */
const MAX_TAIL_BYTES = 4 * 1024 * 1024;
/** Minimum useful size of a log. */
export const MIN_SHARE_BYTES = 16 * 1024;

/** Marks omitted bytes, on a separate line. */
export const cutMark = (bytes: number): string => `[… ${bytes} ${OMITTED}\n`;
export const OMITTED = 'bytes omitted: --max-size …]';

/** How a log is kept within its limit, in bytes. */
interface Room {
  limit: number;
  /** Maximum end of the log in memory. */
  longestTail?: number;
  /** Requests this many bytes beyond the limit. */
  grant?(bytes: number): boolean;
  onCut(bytes: number): void;
}

/**
 * Keeps the start and the end of a log, in whole lines, with a mark for omitted bytes. A third of the limit, plus granted bytes,
 * is used for the start: the end is more important.
 */
export async function* retain(
  chunks: AsyncIterable<Buffer>,
  {limit, longestTail = MAX_TAIL_BYTES, grant, onCut}: Room,
): AsyncGenerator<Buffer> {
  const tailLimit = Math.min(Math.ceil((limit * 2) / 3), longestTail, MAX_TAIL_BYTES);
  let headRoom = limit - tailLimit;
  let endsLine = true;
  let lost = 0;
  const tail: Buffer[] = [];
  let held = 0;
  for await (const lines of wholeLines(chunks, MAX_LINE_BYTES)) {
    const head = headOf(lines, headRoom);
    if (head.length > 0) {
      endsLine = head.at(-1) === NEWLINE;
      yield head;
    }
    headRoom = head.length < lines.length ? 0 : headRoom - head.length;
    if (head.length === lines.length) continue;
    tail.push(lines.subarray(head.length));
    held += lines.length - head.length;
    while (held > tailLimit) {
      const old = shiftLines(tail, held - tailLimit);
      held -= old.length;
      if (lost === 0 && grant?.(old.length)) {
        endsLine = old.at(-1) === NEWLINE;
        yield old;
      } else lost += old.length;
    }
  }
  if (lost > 0) {
    onCut(lost);
    yield Buffer.from(`${endsLine ? '' : '\n'}${cutMark(lost)}`);
  }
  yield* tail;
}

/** The whole lines that fit; a part of a line that is too long. */
function headOf(lines: Buffer, room: number): Buffer {
  if (lines.length <= room) return lines;
  const end = lines.subarray(0, room).lastIndexOf(NEWLINE) + 1;
  return lines.subarray(0, end > 0 || lines.indexOf(NEWLINE) >= 0 ? end : room);
}

/** Removes lines of at least this many bytes from the front. */
function shiftLines(tail: Buffer[], bytes: number): Buffer {
  const [first = Buffer.alloc(0)] = tail;
  if (bytes >= first.length) return tail.shift() as Buffer;
  const end = first.indexOf(NEWLINE, bytes - 1) + 1 || bytes;
  if (end === first.length) return tail.shift() as Buffer;
  tail[0] = first.subarray(end);
  return first.subarray(0, end);
}

/**
 * Divides the total size among logs. Each log starts with an equal share of the rest, so that the unused share of small logs is available
 * to later ones.
 */
export class Shares {
  #left: number;
  #logs: number;
  /** Reserved for each log that has not started. */
  readonly #equal: number;

  constructor(bytes: number, logs: number) {
    this.#left = bytes;
    this.#logs = logs;
    this.#equal = Math.floor(bytes / Math.max(logs, 1));
  }

  /** Share of the next log. */
  take(): number {
    const share = Math.max(Math.floor(this.#left / Math.max(this.#logs, 1)), MIN_SHARE_BYTES);
    this.#logs -= 1;
    this.#left -= share;
    return share;
  }

  /** Additional bytes for a started log: only what others did not use. */
  grant(bytes: number): boolean {
    if (this.#left - bytes < this.#logs * this.#equal) return false;
    this.#left -= bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#left += bytes;
  }
}

/** Start of the logs; without it, logs are read from their beginning. */
export type Since = {seconds: number} | {time: string} | undefined;

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

/** Logs of all started containers, including init and ephemeral ones, and previous logs of restarted ones. Pure. */
export const logItems = (
  pods: readonly Pod[],
  namespace: string,
  {since, container}: {since: Since; container?: string | undefined},
): LogItem[] =>
  pods.flatMap((pod) =>
    statusesOf(pod)
      .filter(({name}) => container === undefined || name === container)
      .flatMap((status) => [
        ...(hasBegun(status) ? [item(pod, status.name, namespace, since, false)] : []),
        ...(status.restartCount || status.lastState?.terminated
          ? [item(pod, status.name, namespace, since, true)]
          : []),
      ]),
  );

export const logContainers = (logs: readonly LogItem[]): number =>
  new Set(logs.map(({pod, container}) => `${pod}/${container}`)).size;

export const statusesOf = ({status}: Pod): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
  ...(status?.ephemeralContainerStatuses ?? []),
];

const hasBegun = ({state, lastState}: ContainerStatus): boolean =>
  state?.running !== undefined ||
  state?.terminated !== undefined ||
  lastState?.terminated !== undefined;

function sinceQuery(since: Since): Record<string, string> {
  if (since === undefined) return {};
  return 'seconds' in since ? {sinceSeconds: String(since.seconds)} : {sinceTime: since.time};
}

function item(
  {metadata: {name}}: Pod,
  container: string,
  namespace: string,
  since: Since,
  isPrevious: boolean,
): LogItem {
  const query = new URLSearchParams({
    container,
    timestamps: 'true',
    ...(isPrevious ? {previous: 'true'} : {}),
    // Logs before a restart are collected regardless of the time range.
    ...(isPrevious ? {} : sinceQuery(since)),
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
    if (this.cut > 0 && this.#blocks.length === this.#firstBlocks)
      yield Buffer.from(cutMark(this.cut));
    yield* this.#open;
  }

  #pack(): void {
    this.#blocks.push({
      bytes: this.#openBytes,
      packed: Buffer.from(deflateRawSync(Buffer.concat(this.#open), {level: 1})),
    });
    [this.#open, this.#openBytes] = [[], 0];
    while (this.bytes > this.#limit && this.#blocks.length > 1) {
      if (this.cut === 0) this.#firstBlocks = Math.floor(this.#blocks.length / 3);
      const [{bytes}] = this.#blocks.splice(this.#firstBlocks, 1) as [Block];
      this.bytes -= bytes;
      this.cut += bytes;
    }
  }
}
