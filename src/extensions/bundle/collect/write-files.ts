import {setImmediate} from 'node:timers/promises';
import {LogMatcher, type LogRecord} from '../../../checks/diagnose/log-matcher.ts';
import type {ApiReader} from '../../../cluster/kubernetes/client.ts';
import {abortReason, pooled} from '../../../ground/async.ts';
import type {ReadError} from '../../../ground/fact.ts';
import type {Archive} from '../../../ground/system/system.ts';
import type {Redactor} from '../redact/redactor.ts';
import type {Gap} from './gap.ts';
import type {LogItem} from './log-items.ts';
import type {TextFile} from './read-objects.ts';
import {OMITTED, retain} from './retain.ts';
import {Shares} from './shares.ts';

const MAX_CONCURRENT_READS = 24;
/** Memory for the ends of all logs that are read concurrently. */
const TAILS = 24 * 1024 * 1024;
/** A node that sends nothing for longer is skipped. */
const IDLE_MS = 15_000;

/** What is written to a bundle: texts that are complete, and logs that are read now. */
export interface FileSources {
  texts: readonly TextFile[];
  logs: readonly LogItem[];
  api: Pick<ApiReader, 'stream'>;
  /** Total size of all logs. */
  maxBytes: number;
}

export interface ReadDeps {
  archive: Pick<Archive, 'add'>;
  redactor: Pick<Redactor, 'file'>;
  signal: AbortSignal;
  onFile(done: number): void;
}

export interface WrittenFiles {
  logs: readonly LogRecord[];
  /** Logs that are missing or incomplete. */
  gaps: readonly Gap[];
  /** Texts in which redaction changed line numbers. */
  moved: ReadonlySet<string>;
}

/** Writes redacted texts and logs to the archive. */
export async function writeBundleFiles(
  sources: FileSources,
  deps: ReadDeps,
): Promise<WrittenFiles> {
  const writer = new FileWriter(sources, deps);
  await Promise.all([
    pooled(sources.logs, MAX_CONCURRENT_READS, (log) => writer.writeLog(log)),
    pooled(sources.texts, 1, (text) => writer.writeText(text)),
  ]);
  const logs = writer.logs.toSorted((one, other) => one.file.localeCompare(other.file));
  return {logs, gaps: writer.gaps, moved: writer.moved};
}

class FileWriter {
  readonly logs: LogRecord[] = [];
  readonly gaps: Gap[] = [];
  readonly moved = new Set<string>();
  readonly #api: FileSources['api'];
  readonly #deps: ReadDeps;
  readonly #shares: Shares;
  readonly #longestTail: number;
  #done = 0;

  constructor({logs, api, maxBytes}: FileSources, deps: ReadDeps) {
    this.#api = api;
    this.#deps = deps;
    this.#shares = new Shares(maxBytes, logs.length);
    const concurrent = Math.min(Math.max(logs.length, 1), MAX_CONCURRENT_READS);
    this.#longestTail = Math.floor(TAILS / concurrent);
  }

  async writeText({name, text}: TextFile): Promise<void> {
    const {archive, redactor} = this.#deps;
    const parts: Buffer[] = [];
    for await (const part of redacted([Buffer.from(text, 'utf8')], redactor.file(name)))
      parts.push(part);
    const clean = Buffer.concat(parts);
    if (linesOf(clean.toString('utf8')) !== linesOf(text)) this.moved.add(name);
    await archive.add(name, clean);
    this.#countFile();
  }

  async writeLog(item: LogItem): Promise<void> {
    const {signal} = this.#deps;
    const share = this.#shares.take();
    if (signal.aborted)
      this.#addGap(item, {kind: 'aborted', message: `not read: ${abortReason(signal)}`});
    else {
      const stream = await this.#api.stream(item.path, {signal, idleMs: IDLE_MS});
      if (stream.error) {
        this.#shares.giveBack(share);
        this.#addGap(item, stream.error);
      } else {
        const log = await this.#keep(item, stream.chunks, share);
        this.#checkEnd(item, log, await stream.end);
      }
    }
    this.#countFile();
  }

  /** Writes what fits into the share of the log. */
  async #keep(
    {file, cut = 0}: LogItem,
    chunks: AsyncIterable<Buffer>,
    share: number,
  ): Promise<LogRecord> {
    const {archive, redactor} = this.#deps;
    const log: LogRecord = {file, bytes: 0, tail: '', lines: 0, matches: []};
    if (cut > 0) log.cut = cut;
    let room = share;
    const kept = retain(redacted(chunks, redactor.file(file)), {
      limit: share,
      longestTail: this.#longestTail,
      grant: (bytes) => {
        const isGranted = this.#shares.grant(bytes);
        if (isGranted) room += bytes;
        return isGranted;
      },
      onCut: (bytes) => {
        log.cut = cut + bytes;
      },
    });
    log.bytes = (await archive.add(file, remembering(kept, log))).bytes;
    this.#shares.giveBack(room - log.bytes);
    this.logs.push(log);
    return log;
  }

  #checkEnd(item: LogItem, log: LogRecord, error: ReadError | undefined): void {
    if (error === undefined) return;
    log.isPart = true;
    const message = log.bytes === 0 ? error.message : `incomplete: ${error.message}`;
    this.#addGap(item, {...error, message}, lastTime(log.tail));
  }

  #addGap({file}: LogItem, error: ReadError, at?: string): void {
    this.gaps.push({what: file, error, at, isMinor: error.kind === 'not-started'});
  }

  #countFile(): void {
    this.#done += 1;
    this.#deps.onFile(this.#done);
  }
}

const linesOf = (text: string): number => text.split('\n').length;

/** Bytes that are redacted in one turn of the event loop. */
const TURN = 64 * 1024;

async function* redacted(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  file: ReturnType<Redactor['file']>,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += TURN) {
      // Signals and time-outs are served between two parts.
      await setImmediate();
      const clean = file.push(chunk.subarray(start, start + TURN));
      if (clean.length > 0) yield clean;
    }
  }
  yield file.end();
}

/** Time of the last line that begins with one. */
const lastTime = (text: string): string | undefined =>
  text.match(/^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)(?= )/gm)?.at(-1);

/** Maximum lines per meaning that a finding requires. */
const TAIL = 8 * 1024;

/** Passes a log on, and keeps in `log` what findings need. */
async function* remembering(chunks: AsyncIterable<Buffer>, log: LogRecord): AsyncGenerator<Buffer> {
  let tail: Buffer = Buffer.alloc(0);
  const matcher = new LogMatcher();
  for await (const chunk of chunks) {
    matcher.push(chunk);
    const isCut = log.cut !== undefined && log.cutAfter === undefined;
    const end = isCut ? chunk.indexOf(OMITTED) : -1;
    if (end !== -1)
      log.cutAfter = lastTime(Buffer.concat([tail, chunk.subarray(0, end)]).toString('utf8'));
    tail = (chunk.length < TAIL ? Buffer.concat([tail, chunk]) : chunk).subarray(-TAIL);
    yield chunk;
  }
  Object.assign(log, matcher.end(), {tail: tail.toString('utf8')});
}
