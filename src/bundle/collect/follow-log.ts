import {LineBuffer, NEWLINE} from '../../ground/async.ts';
import type {ReadError} from '../../ground/fact.ts';
import type {ApiReader} from '../../kubernetes/client.ts';
import type {LogItem} from './log-items.ts';

/** Delay before a log is requested again; doubled after every error, up to MAX_PAUSE_MS. */
const PAUSE_MS = 2000;
const MAX_PAUSE_MS = 16_000;
/** Idle agents log nothing for a long time, so a silent connection is only reopened. */
const QUIET_MS = 60_000;

/** Container state of the last list. */
export interface LogContainerState {
  restarts: number;
  isRunning: boolean;
}

interface Deps {
  api: Pick<ApiReader, 'stream'>;
  signal: AbortSignal;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Undefined if the pod was deleted. */
  stateNow(): LogContainerState | undefined;
}

/** Follows one log across interrupted connections and container restarts, while its pod exists. */
export class FollowedLog {
  readonly item: LogItem;
  readonly position = new LogPosition();
  /** Error of the last connection. */
  #broken: ReadError | undefined;
  /** Set if lines are lost. */
  #lost: ReadError | undefined;
  readonly #deps: Deps;

  constructor(item: LogItem, deps: Deps) {
    this.item = item;
    this.#deps = deps;
  }

  /** Reason for missing lines. The end of the following is not one. */
  get error(): ReadError | undefined {
    return this.#lost ?? (this.#broken?.kind === 'aborted' ? undefined : this.#broken);
  }

  /** The pod exists, and more lines are possible. */
  get goesOn(): boolean {
    const state = this.#deps.stateNow();
    return state !== undefined && (this.#broken !== undefined || state.isRunning);
  }

  async *chunks(): AsyncGenerator<Buffer> {
    const {api, signal, stateNow} = this.#deps;
    const {path, isPrevious} = this.item;
    let restarts = stateNow()?.restarts ?? 0;
    let pause = PAUSE_MS;
    for (;;) {
      const from = this.position.from(isPrevious ? path : `${path}&follow=true`);
      const stream = await api.stream(from, {signal, idleMs: QUIET_MS, follows: true});
      if (stream.error === undefined) yield* this.position.news(stream.chunks);
      this.#broken = stream.error ?? (await stream.end);
      pause = stream.error === undefined ? PAUSE_MS : Math.min(2 * pause, MAX_PAUSE_MS);
      const state = await this.#next(restarts, pause);
      if (state === undefined) break;
      if (state.restarts > restarts && this.#broken !== undefined && this.#broken.kind !== 'not-started')
        this.#lost = {kind: 'truncated', message: 'the container restarted while the connection was interrupted'};
      restarts = state.restarts;
    }
    yield this.position.rest();
  }

  /** Waits until more lines are possible; undefined if there will be none. */
  async #next(restarts: number, pause: number): Promise<LogContainerState | undefined> {
    const {signal, sleep, stateNow} = this.#deps;
    if (this.item.isPrevious && this.#broken === undefined) return undefined;
    for (;;) {
      await sleep(pause, signal);
      const state = stateNow();
      if (signal.aborted || state === undefined) return undefined;
      if (this.#broken !== undefined || state.isRunning || state.restarts > restarts) return state;
    }
  }
}

/** Timestamp that the kubelet adds to every line. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d+))?(?:Z|[+-]\d\d:\d\d)(?= )/;
const MAX_TIME_LENGTH = 40;

/** Read position in a log with timestamps, to resume it without duplicate or missing lines. */
export class LogPosition {
  /** Time of the last line, and number of lines with that time. */
  #time: string | undefined;
  #count = 0;
  readonly #lines = new LineBuffer();

  /** Path to resume the log. Kubelets use whole seconds, so some lines are sent again. */
  from(path: string): string {
    if (this.#time === undefined) return path;
    const [base, query] = path.split('?');
    const wanted = new URLSearchParams(query);
    wanted.delete('sinceSeconds');
    wanted.set('sinceTime', new Date(this.#time).toISOString().replace(/\.\d+/, ''));
    return `${base}?${wanted}`;
  }

  /** Complete new lines of a stream. */
  async *news(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const isNew = this.#newsFilter();
    // A line that was interrupted is sent again from its start.
    this.#lines.rest();
    for await (const chunk of chunks) {
      const lines = [...linesOf(this.#lines.push(chunk))].filter(isNew);
      if (lines.length > 0) yield Buffer.concat(lines);
    }
  }

  /** An incomplete line at the end. */
  rest = (): Buffer => this.#lines.rest();

  /** Filters lines that were already read; a line without a timestamp is always new. */
  #newsFilter(): (line: Buffer) => boolean {
    const last = this.#time;
    let again = this.#count;
    let isBehind = last !== undefined;
    return (line) => {
      const [time] = TIME.exec(line.toString('latin1', 0, MAX_TIME_LENGTH)) ?? [];
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
