import type {ApiReader} from '../../../cluster/kubernetes/client.ts';
import {LineBuffer, NEWLINE} from '../../../ground/async.ts';
import type {ReadError} from '../../../ground/fact.ts';
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
export async function followLog(
  item: LogItem,
  limit: number,
  {api, signal, sleep, stateNow}: Deps,
): Promise<RecordedLog> {
  const {path, isPrevious} = item;
  const content = new KeptLog(limit);
  const position = new LogPosition();
  /** Error of the last connection. */
  let broken: ReadError | undefined;
  /** An error that lost lines. */
  let lost: ReadError | undefined;
  let restarts = stateNow()?.restarts ?? 0;
  let pause = PAUSE_MS;
  /** Waits until more lines are possible; undefined if there will be none. */
  const nextState = async (): Promise<LogContainerState | undefined> => {
    if (isPrevious && broken === undefined) return undefined;
    for (;;) {
      await sleep(pause, signal);
      const state = stateNow();
      if (signal.aborted || state === undefined) return undefined;
      if (broken !== undefined || state.isRunning || state.restarts > restarts) return state;
    }
  };
  for (;;) {
    const stream = await api.stream(position.from(isPrevious ? path : `${path}&follow=true`), {
      signal,
      idleMs: QUIET_MS,
      follows: true,
    });
    if (stream.error === undefined)
      for await (const chunk of position.news(stream.chunks)) content.push(chunk);
    broken = stream.error ?? (await stream.end);
    pause = stream.error === undefined ? PAUSE_MS : Math.min(2 * pause, MAX_PAUSE_MS);
    const state = await nextState();
    if (state === undefined) break;
    if (state.restarts > restarts && broken !== undefined && broken.kind !== 'not-started')
      lost = {
        kind: 'truncated',
        message: 'the container restarted while the connection was interrupted',
      };
    restarts = state.restarts;
  }
  content.push(position.rest());
  const last = stateNow();
  const goesOn = last !== undefined && (broken !== undefined || last.isRunning);
  return {
    item,
    content,
    ...(goesOn ? {rest: position} : {}),
    error: lost ?? (broken?.kind === 'aborted' ? undefined : broken),
  };
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
