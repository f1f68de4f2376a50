import {ExpectedError} from '../errors.ts';
import type {ApiReader} from '../kubernetes/client.ts';
import type {Archive} from '../ports/archive.ts';
import {abortReason} from '../ports/signals.ts';
import type {LogItem} from './log-items.ts';
import {LogWords, type Said} from './log-words.ts';
import type {TextFile} from './object-files.ts';
import {pooled} from './pool.ts';
import type {Gap} from './read-namespace.ts';
import type {Redactor} from './redaction/redactor.ts';
import {retain} from './retain.ts';
import {Shares} from './shares.ts';

/** Logs that are read at the same time. */
const AT_ONCE = 24;
/** What their ends, which are held until it is known that they are the ends, may take together. */
const ENDS = 24 * 1024 * 1024;
/** A node that says nothing for so long keeps its log. */
const IDLE_MS = 15_000;

export interface World {
  api: Pick<ApiReader, 'stream'>;
  archive: Pick<Archive, 'add'>;
  redactor: Pick<Redactor, 'file' | 'text'>;
  over: AbortSignal;
  onFile(done: number): void;
}

export interface LogRecord {
  file: string;
  bytes: number;
  /** The last lines as they went into the bundle. */
  tail: string;
  /** So many lines it has in the bundle, and what they say. */
  lines: number;
  said: readonly Said[];
  /** Bytes that were left out of its middle. */
  cut?: number;
  /** There is more, or may be, that could not be read. */
  isPart?: boolean;
}

export interface Collected {
  logs: LogRecord[];
  gaps: Gap[];
  /** Texts whose lines are not where they were before redaction. */
  moved: ReadonlySet<string>;
}

/** Writes texts and logs into the archive, everything by way of redaction; what could not be read whole is said. */
export async function collect(
  texts: readonly TextFile[],
  logs: readonly LogItem[],
  maxBytes: number,
  {api, archive, redactor, over, onFile}: World,
): Promise<Collected> {
  const gaps: Gap[] = [];
  const moved = new Set<string>();
  const records: LogRecord[] = [];
  let done = 0;
  let noRoom: Gap['trouble'] | undefined;
  /** Undefined when the disk is full; what was written is kept. */
  const add = async (name: string, source: Parameters<Archive['add']>[1]): Promise<number | undefined> => {
    try {
      return (await archive.add(name, source)).bytes;
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      noRoom = {kind: 'no-room', message: error.message};
      gaps.push({what: name, trouble: noRoom});
      return undefined;
    }
  };
  const write = async ({name, text}: TextFile): Promise<void> => {
    const clean = redactor.text(name, text);
    if (linesOf(clean) !== linesOf(text)) moved.add(name);
    await add(name, Buffer.from(clean, 'utf8'));
  };
  const shares = new Shares(maxBytes, logs.length);
  const longestEnd = Math.floor(ENDS / Math.min(Math.max(logs.length, 1), AT_ONCE));
  const read = async ({file, path, cut}: LogItem): Promise<void> => {
    const share = shares.take();
    const gap = (trouble: Gap['trouble']): void => void gaps.push({what: file, trouble, isMinor: trouble.kind === 'not-started'});
    if (noRoom) return gap(noRoom);
    if (over.aborted) return gap({kind: 'over', message: `it was not read any more: ${abortReason(over)}`});
    const stream = await api.stream(path, {over, idleMs: IDLE_MS});
    if (stream.trouble) {
      shares.giveBack(share);
      return gap(stream.trouble);
    }
    // The first logs come while texts are written; these go first, as long as the disk has room.
    await written;
    const record: LogRecord = {file, bytes: 0, tail: '', lines: 0, said: [], ...(cut === undefined ? {} : {cut})};
    let room = share;
    const grant = (more: number): boolean => {
      const isGranted = shares.grant(more);
      if (isGranted) room += more;
      return isGranted;
    };
    const onCut = ({bytes}: {bytes: number}): void => {
      record.cut = (cut ?? 0) + bytes;
    };
    const kept = retain(redacted(stream.chunks, redactor.file(file)), {limit: share, longestEnd, grant, onCut});
    const bytes = await add(file, remembering(kept, record));
    if (bytes === undefined) return;
    record.bytes = bytes;
    shares.giveBack(room - bytes);
    records.push(record);
    const trouble = await stream.end;
    if (trouble === undefined) return;
    record.isPart = true;
    gap(bytes === 0 ? trouble : {...trouble, message: `only a part came: ${trouble.message}`});
  };
  const counted =
    <T>(work: (item: T) => Promise<void>) =>
    async (item: T): Promise<void> => {
      await work(item);
      onFile(++done);
    };
  const written = pooled(texts, 1, counted(write));
  await Promise.all([pooled(logs, AT_ONCE, counted(read)), written]);
  return {logs: records.toSorted((one, other) => one.file.localeCompare(other.file)), gaps, moved};
}

const linesOf = (text: string): number => {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
};

export async function* redacted(chunks: AsyncIterable<Buffer>, file: ReturnType<Redactor['file']>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    const clean = file.push(chunk);
    if (clean.length > 0) yield clean;
  }
  yield file.end();
}

/** Enough for a finding to have its evidence. */
export const TAIL = 8 * 1024;

async function* remembering(chunks: AsyncIterable<Buffer>, record: LogRecord): AsyncGenerator<Buffer> {
  let tail: Buffer = Buffer.alloc(0);
  const words = new LogWords();
  for await (const chunk of chunks) {
    words.push(chunk);
    tail = (chunk.length < TAIL ? Buffer.concat([tail, chunk]) : chunk).subarray(-TAIL);
    yield chunk;
  }
  Object.assign(record, words.end(), {tail: tail.toString('utf8')});
}
