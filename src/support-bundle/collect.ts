import type {Archive} from '../ports/archive.ts';
import type {ClusterApi, Trouble} from '../ports/cluster-api.ts';
import type {LogItem} from './log-items.ts';
import type {TextFile} from './object-files.ts';
import {pooled} from './pool.ts';
import type {Gap} from './read-namespace.ts';
import type {Redactor} from './redaction/redactor.ts';
import {retain} from './retain.ts';
import {Shares} from './shares.ts';

/** Logs that are read at the same time. */
const AT_ONCE = 8;
/** A node that says nothing for so long keeps its log. */
const IDLE_MS = 15_000;

export interface World {
  api: Pick<ClusterApi, 'stream'>;
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
  /** Bytes that were left out of its middle. */
  cut?: number;
}

/** Writes texts and logs into the archive, everything by way of redaction; what could not be read whole is said. */
export async function collect(
  texts: readonly TextFile[],
  logs: readonly LogItem[],
  maxBytes: number,
  {api, archive, redactor, over, onFile}: World,
): Promise<{logs: LogRecord[]; gaps: Gap[]}> {
  const gaps: Gap[] = [];
  const records: LogRecord[] = [];
  let done = 0;
  for (const {name, text} of texts) {
    await archive.add(name, Buffer.from(redactor.text(name, text), 'utf8'));
    onFile(++done);
  }
  const shares = new Shares(maxBytes, logs.length);
  await pooled(logs, AT_ONCE, async ({file, path}) => {
    const share = shares.take();
    const gap = (trouble: Trouble): void => void gaps.push({what: file, trouble});
    if (over.aborted) return gap({kind: 'over', message: 'time was over before it was read'});
    const stream = await api.stream(path, {over, idleMs: IDLE_MS});
    if (stream.trouble) {
      shares.giveBack(share);
      if (stream.trouble.kind !== 'not-started') gap(stream.trouble);
      return;
    }
    const record: LogRecord = {file, bytes: 0, tail: ''};
    const kept = retain(redacted(stream.chunks, redactor.file(file)), share, ({bytes}) => {
      record.cut = bytes;
    });
    const {bytes} = await archive.add(file, remembering(kept, record));
    record.bytes = bytes;
    shares.giveBack(share - bytes);
    records.push(record);
    const trouble = await stream.end;
    if (trouble) gap(trouble);
    onFile(++done);
  });
  return {logs: records.toSorted((one, other) => one.file.localeCompare(other.file)), gaps};
}

async function* redacted(chunks: AsyncIterable<Buffer>, file: ReturnType<Redactor['file']>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    const clean = file.push(chunk);
    if (clean.length > 0) yield clean;
  }
  yield file.end();
}

/** Enough for a finding to have its evidence. */
const TAIL = 16 * 1024;

async function* remembering(chunks: AsyncIterable<Buffer>, record: LogRecord): AsyncGenerator<Buffer> {
  let tail = Buffer.alloc(0);
  for await (const chunk of chunks) {
    tail = Buffer.concat([tail, chunk.subarray(-TAIL)]).subarray(-TAIL);
    yield chunk;
  }
  record.tail = tail.toString('utf8');
}
