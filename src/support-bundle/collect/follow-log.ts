import type {ApiReader} from '../../kubernetes/client.ts';
import type {ApiError} from '../../ports/log-stream.ts';
import type {LogItem} from './log-items.ts';

/** Before a log is asked for again; doubled after every refusal, up to LONGEST_PAUSE_MS. */
const PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 16_000;
/** Agents without work are silent for long, so a silent connection is only replaced. */
const QUIET_MS = 60_000;

/** A container as it was listed last. */
export interface ContainerState {
  restarts: number;
  isRunning: boolean;
}

interface Deps {
  api: Pick<ApiReader, 'stream'>;
  /** Ends the following. */
  over: AbortSignal;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Undefined when the pod is gone. */
  stateNow(): ContainerState | undefined;
}

/** Follows one log across broken connections and restarts of its container, for as long as its pod exists. */
export class FollowedLog {
  readonly item: LogItem;
  readonly position = new LogPosition();
  /** Why the last connection ended early. */
  #broken: ApiError | undefined;
  /** Set when lines are lost for good. */
  #lost: ApiError | undefined;
  readonly #deps: Deps;

  constructor(item: LogItem, deps: Deps) {
    this.item = item;
    this.#deps = deps;
  }

  /** Why something is missing. That the following ended is no reason. */
  get trouble(): ApiError | undefined {
    return this.#lost ?? (this.#broken?.kind === 'over' ? undefined : this.#broken);
  }

  /** Its pod exists, and there may be more to read. */
  get goesOn(): boolean {
    const state = this.#deps.stateNow();
    return state !== undefined && (this.#broken !== undefined || state.isRunning);
  }

  async *chunks(): AsyncGenerator<Buffer> {
    const {api, over, stateNow} = this.#deps;
    const {path, isPrevious} = this.item;
    let restarts = stateNow()?.restarts ?? 0;
    let pause = PAUSE_MS;
    for (;;) {
      const from = this.position.from(isPrevious ? path : `${path}&follow=true`);
      const stream = await api.stream(from, {over, idleMs: QUIET_MS, follows: true});
      if (stream.trouble === undefined) yield* this.position.news(stream.chunks);
      this.#broken = stream.trouble ?? (await stream.end);
      pause = stream.trouble === undefined ? PAUSE_MS : Math.min(2 * pause, LONGEST_PAUSE_MS);
      const state = await this.#next(restarts, pause);
      if (state === undefined) break;
      if (state.restarts > restarts && this.#broken !== undefined && this.#broken.kind !== 'not-started')
        this.#lost = {kind: 'truncated', message: 'its container restarted while the connection was broken'};
      restarts = state.restarts;
    }
    yield this.position.rest();
  }

  /** Waits until there may be more to read; undefined when there will be nothing. */
  async #next(restarts: number, pause: number): Promise<ContainerState | undefined> {
    const {over, sleep, stateNow} = this.#deps;
    if (this.item.isPrevious && this.#broken === undefined) return undefined;
    for (;;) {
      await sleep(pause, over);
      const state = stateNow();
      if (over.aborted || state === undefined) return undefined;
      if (this.#broken !== undefined || state.isRunning || state.restarts > restarts) return state;
    }
  }
}

const NEWLINE = 10;
const EMPTY = Buffer.alloc(0);
/** A longer line is passed on in pieces. */
const LONGEST_LINE = 1024 * 1024;
/** As kubelets put it before every line. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d+))?(?:Z|[+-]\d\d:\d\d)(?= )/;
const LONGEST_TIME = 40;

/** How far a log with times has been read, so that where it broke off it is read on: no line twice, and none left out. */
export class LogPosition {
  /** Of the last line, and how many lines had the same. */
  #time: string | undefined;
  #count = 0;
  /** A line that has not ended. */
  #begun: Buffer = EMPTY;

  /** The same log from here on. Kubelets know seconds, so some lines come again. */
  from(path: string): string {
    if (this.#time === undefined) return path;
    const [base, query] = path.split('?');
    const wanted = new URLSearchParams(query);
    wanted.delete('sinceSeconds');
    wanted.set('sinceTime', new Date(this.#time).toISOString().replace(/\.\d+/, ''));
    return `${base}?${wanted}`;
  }

  /** Whole lines of what comes that were not there yet. */
  async *news(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const isNew = this.#newsFilter();
    // What broke off in the middle of a line comes again from its beginning.
    this.#begun = EMPTY;
    for await (const chunk of chunks) {
      const held = Buffer.concat([this.#begun, chunk]);
      const end = held.length > LONGEST_LINE ? held.length : held.lastIndexOf(NEWLINE) + 1;
      this.#begun = held.subarray(end);
      const lines = [...linesOf(held.subarray(0, end))].filter(isNew);
      if (lines.length > 0) yield Buffer.concat(lines);
    }
  }

  /** The beginning of a line whose end never came. */
  rest(): Buffer {
    const rest = this.#begun;
    this.#begun = EMPTY;
    return rest;
  }

  /** Says of one line after the other whether it was there before; one without a time never was. */
  #newsFilter(): (line: Buffer) => boolean {
    const last = this.#time;
    let again = this.#count;
    let isBehind = last !== undefined;
    return (line) => {
      const [time] = TIME.exec(line.toString('latin1', 0, LONGEST_TIME)) ?? [];
      if (time === undefined) return true;
      if (isBehind && time === last && again > 0) {
        again -= 1;
        return false;
      }
      if (isBehind && time !== last && nanosecondsOf(time) < nanosecondsOf(last as string)) return false;
      isBehind &&= time === last;
      this.#count = time === this.#time ? this.#count + 1 : 1;
      this.#time = time;
      return true;
    };
  }
}

function* linesOf(text: Buffer): Generator<Buffer> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf(NEWLINE, from) + 1 || text.length;
    yield text.subarray(from, end);
    from = end;
  }
}

function nanosecondsOf(time: string): bigint {
  const [, fraction = ''] = TIME.exec(`${time} `) ?? [];
  return BigInt(Date.parse(time.replace(/\.\d+/, ''))) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9));
}
