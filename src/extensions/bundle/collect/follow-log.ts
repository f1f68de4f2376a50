import type {ApiReader} from '../../../cluster/kubernetes/client.ts';
import type {ReadError} from '../../../ground/fact.ts';
import {LineBuffer, NEWLINE} from '../../../ground/line-streams.ts';
import {KeptLog} from './kept-log.ts';
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

export interface RecordedLog {
  item: LogItem;
  content: KeptLog;
  /** New lines that are still available in the API; nothing if the log has ended. */
  rest?: LogPosition;
  /** Reason for missing lines. The end of the following is not one. */
  error: ReadError | undefined;
}

/** Follows one log across interrupted connections and container restarts, while its pod exists. */
export const followLog = (item: LogItem, limit: number, deps: Deps): Promise<RecordedLog> =>
  new LogFollower(item, limit, deps).run();

class LogFollower {
  readonly #item: LogItem;
  readonly #deps: Deps;
  readonly #content: KeptLog;
  readonly #position = new LogPosition();
  /** Error of the last connection. */
  #broken: ReadError | undefined;
  /** An error that lost lines. */
  #lost: ReadError | undefined;
  #restarts: number;
  #pause = PAUSE_MS;

  constructor(item: LogItem, limit: number, deps: Deps) {
    this.#item = item;
    this.#deps = deps;
    this.#content = new KeptLog(limit);
    this.#restarts = deps.stateNow()?.restarts ?? 0;
  }

  async run(): Promise<RecordedLog> {
    do await this.#read();
    while (await this.#goesOn());
    this.#content.push(this.#position.rest());
    const last = this.#deps.stateNow();
    const hasRest = last !== undefined && (this.#broken !== undefined || last.isRunning);
    const broken = this.#broken?.kind === 'aborted' ? undefined : this.#broken;
    return {
      item: this.#item,
      content: this.#content,
      ...(hasRest ? {rest: this.#position} : {}),
      error: this.#lost ?? broken,
    };
  }

  /** Reads one connection to its end. */
  async #read(): Promise<void> {
    const {api, signal} = this.#deps;
    const {path, isPrevious} = this.#item;
    const from = this.#position.from(isPrevious ? path : `${path}&follow=true`);
    const stream = await api.stream(from, {signal, idleMs: QUIET_MS, follows: true});
    if (stream.error === undefined) {
      for await (const chunk of this.#position.news(stream.chunks)) this.#content.push(chunk);
      this.#broken = await stream.end;
      this.#pause = PAUSE_MS;
    } else {
      this.#broken = stream.error;
      this.#pause = Math.min(2 * this.#pause, MAX_PAUSE_MS);
    }
  }

  /** Waits until more lines are possible; false if there will be none. */
  async #goesOn(): Promise<boolean> {
    if (this.#item.isPrevious && this.#broken === undefined) return false;
    const {sleep, signal, stateNow} = this.#deps;
    for (;;) {
      await sleep(this.#pause, signal);
      const state = stateNow();
      if (signal.aborted || state === undefined) return false;
      const hasRestarted = state.restarts > this.#restarts;
      if (this.#broken === undefined && !state.isRunning && !hasRestarted) continue;
      if (hasRestarted && this.#broken !== undefined && this.#broken.kind !== 'not-started')
        this.#lost = LOST_AT_RESTART;
      this.#restarts = state.restarts;
      return true;
    }
  }
}

const LOST_AT_RESTART: ReadError = {
  kind: 'truncated',
  message: 'the container restarted while the connection was interrupted',
};

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
    const desired = new URLSearchParams(query);
    desired.delete('sinceSeconds');
    desired.set('sinceTime', new Date(this.#time).toISOString().replace(/\.\d+/, ''));
    return `${base}?${desired}`;
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
      if (isBehind && time !== last && nanosecondsOf(time) < nanosecondsOf(last as string))
        return false;
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
  return (
    BigInt(Date.parse(time.replace(/\.\d+/, ''))) * 1_000_000n +
    BigInt(fraction.padEnd(9, '0').slice(0, 9))
  );
}
