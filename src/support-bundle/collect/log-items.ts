import {deflateRawSync, inflateRawSync} from 'node:zlib';
import type {ContainerStatus, Pod} from '../../cluster/objects.ts';
import {cutMark} from './retain.ts';

/** From when on logs are wanted; without it from their beginning. */
export type Since = {seconds: number} | {time: string} | undefined;

/** One log that is to be read. */
export interface LogItem {
  /** Its name in the bundle: logs/<pod>/<container>.log, or .previous.log for what it said before it was restarted. */
  file: string;
  pod: string;
  container: string;
  isPrevious: boolean;
  /** Of the API server, with its query. */
  path: string;
  /** Bytes that were left out of its middle already, where it was followed. */
  cut?: number;
}

interface Options {
  since: Since;
  /** Only containers of this name. */
  container?: string | undefined;
}

/** The logs of all containers that have one: init and ephemeral ones too, and the one before wherever something restarted. Pure. */
export const logItems = (pods: readonly Pod[], namespace: string, {since, container}: Options): LogItem[] =>
  pods.flatMap((pod) =>
    statusesOf(pod)
      .filter(({name}) => container === undefined || name === container)
      .flatMap((status) => [
        ...(hasBegun(status) ? [item(pod, status.name, namespace, since, false)] : []),
        ...(hasPrevious(status) ? [item(pod, status.name, namespace, since, true)] : []),
      ]),
  );

/** How many containers they are of. */
export const containersOf = (logs: readonly LogItem[]): number => new Set(logs.map(({pod, container}) => `${pod}/${container}`)).size;

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
    // What was said before a restart is wanted whenever that was.
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

/** Beginning and end of a log that stays in memory for long: compressed, logs take a tenth of their size. Chunks are whole lines. */
export class KeptLog {
  /** Of text that is kept. */
  bytes = 0;
  /** Of text that was left out, between the first blocks and the rest. */
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
    // A copy: a small chunk would hold on to the buffer it came in.
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
