import {MAX_LINE_BYTES, NEWLINE, wholeLines} from '../../../ground/line-streams.ts';

/** Maximum end of a log that is kept in memory while it is read. */
const MAX_TAIL_BYTES = 4 * 1024 * 1024;

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
