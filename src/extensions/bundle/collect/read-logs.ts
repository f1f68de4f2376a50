import {setImmediate} from 'node:timers/promises';
import {LogMatcher, type LogRecord} from '../../../checks/diagnose/log-matcher.ts';
import type {ApiReader} from '../../../cluster/kubernetes/client.ts';
import {abortReason, pooled} from '../../../ground/async.ts';
import type {Archive} from '../../../ground/system/system.ts';
import type {Redactor} from '../redact/redactor.ts';
import {type LogItem, OMITTED, retain, Shares} from './log-items.ts';
import type {Gap, TextFile} from './read-objects.ts';

const MAX_CONCURRENT_READS = 24;
/** Memory for the ends of all logs that are read concurrently. */
const TAILS = 24 * 1024 * 1024;
/** A node that sends nothing for longer is skipped. */
const IDLE_MS = 15_000;

export interface ReadDeps {
  api: Pick<ApiReader, 'stream'>;
  archive: Pick<Archive, 'add'>;
  redactor: Pick<Redactor, 'file' | 'text'>;
  signal: AbortSignal;
  onFile(done: number): void;
}

/** Writes redacted texts and logs to the archive. Incomplete ones are gaps; `moved` are texts in which redaction changed line numbers. */
export async function readLogs(
  texts: readonly TextFile[],
  logs: readonly LogItem[],
  maxBytes: number,
  {api, archive, redactor, signal, onFile}: ReadDeps,
) {
  const gaps: Gap[] = [];
  const moved = new Set<string>();
  const records: LogRecord[] = [];
  const write = async ({name, text}: TextFile): Promise<void> => {
    const clean: Buffer[] = [];
    for await (const part of redacted(partsOf(Buffer.from(text, 'utf8')), redactor.file(name)))
      clean.push(part);
    if (Buffer.concat(clean).toString('utf8').split('\n').length !== text.split('\n').length)
      moved.add(name);
    await archive.add(name, Buffer.concat(clean));
  };
  const shares = new Shares(maxBytes, logs.length);
  const longestTail = Math.floor(TAILS / Math.min(Math.max(logs.length, 1), MAX_CONCURRENT_READS));
  const read = async ({file, path, cut = 0}: LogItem): Promise<void> => {
    let room = shares.take();
    const gap = (error: Gap['error'], at?: string): void =>
      void gaps.push({what: file, error, at, isMinor: error.kind === 'not-started'});
    if (signal.aborted) return gap({kind: 'aborted', message: `not read: ${abortReason(signal)}`});
    const stream = await api.stream(path, {signal, idleMs: IDLE_MS});
    if (stream.error) {
      shares.giveBack(room);
      return gap(stream.error);
    }
    const record: LogRecord = {
      file,
      bytes: 0,
      tail: '',
      lines: 0,
      matches: [],
      ...(cut > 0 ? {cut} : {}),
    };
    const grant = (bytes: number): boolean => {
      const isGranted = shares.grant(bytes);
      if (isGranted) room += bytes;
      return isGranted;
    };
    const onCut = (bytes: number): void => {
      record.cut = cut + bytes;
    };
    const kept = retain(redacted(stream.chunks, redactor.file(file)), {
      limit: room,
      longestTail,
      grant,
      onCut,
    });
    const {bytes} = await archive.add(file, remembering(kept, record));
    record.bytes = bytes;
    shares.giveBack(room - bytes);
    records.push(record);
    const error = await stream.end;
    if (error === undefined) return;
    record.isPart = true;
    gap(
      bytes === 0 ? error : {...error, message: `incomplete: ${error.message}`},
      lastTime(record.tail),
    );
  };
  let done = 0;
  const counted =
    <T>(work: (item: T) => Promise<void>) =>
    async (item: T): Promise<void> => {
      await work(item);
      onFile(++done);
    };
  await Promise.all([
    pooled(logs, MAX_CONCURRENT_READS, counted(read)),
    pooled(texts, 1, counted(write)),
  ]);
  return {logs: records.toSorted((one, other) => one.file.localeCompare(other.file)), gaps, moved};
}

/** Bytes that are redacted in one turn of the event loop. */
const TURN = 64 * 1024;

function* partsOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += TURN)
    yield bytes.subarray(start, start + TURN);
}

async function* redacted(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  file: ReturnType<Redactor['file']>,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    for (const part of partsOf(chunk)) {
      // Signals and time-outs are served between two parts.
      await setImmediate();
      const clean = file.push(part);
      if (clean.length > 0) yield clean;
    }
  }
  yield file.end();
}

/** Time of the last line that begins with one. */
const lastTime = (text: string): string | undefined =>
  text.match(/^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)(?= )/gm)?.at(-1);

/** Maximum lines per meaning that a finding requires. */
export const TAIL = 8 * 1024;

async function* remembering(
  chunks: AsyncIterable<Buffer>,
  record: LogRecord,
): AsyncGenerator<Buffer> {
  let tail: Buffer = Buffer.alloc(0);
  const matcher = new LogMatcher();
  for await (const chunk of chunks) {
    matcher.push(chunk);
    const end =
      record.cut === undefined || record.cutAfter !== undefined ? -1 : chunk.indexOf(OMITTED);
    if (end !== -1)
      record.cutAfter = lastTime(Buffer.concat([tail, chunk.subarray(0, end)]).toString('utf8'));
    tail = (chunk.length < TAIL ? Buffer.concat([tail, chunk]) : chunk).subarray(-TAIL);
    yield chunk;
  }
  Object.assign(record, matcher.end(), {tail: tail.toString('utf8')});
}
