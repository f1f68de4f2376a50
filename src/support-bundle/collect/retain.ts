const NEWLINE = 10;
/** A line that is longer may be cut. */
const LONGEST_LINE = 16 * 1024;
/** The end of a log that is held in memory while it is read. */
const LARGEST_TAIL = 4 * 1024 * 1024;
/** A smaller part of a log would say nothing. */
export const SMALLEST_SHARE = 16 * 1024;

/** Stands where bytes were left out, on a line of its own. */
export const cutMark = (bytes: number): string => `[… ${bytes} bytes left out here: --max-size …]\n`;

/** How a log is kept in the room that it has, in bytes. */
interface Room {
  limit: number;
  /** How much of its end may be held in memory. */
  longestTail?: number;
  /** Asks for so many bytes beyond the limit. */
  grant?(bytes: number): boolean;
  onCut(bytes: number): void;
}

/**
 * The beginning and the end of a log, in whole lines, with a mark where bytes were left out. A third of the limit, and whatever is granted,
 * is for the beginning: what happened last matters more.
 */
export async function* retain(
  chunks: AsyncIterable<Buffer>,
  {limit, longestTail = LARGEST_TAIL, grant, onCut}: Room,
): AsyncGenerator<Buffer> {
  const tailLimit = Math.min(Math.ceil((limit * 2) / 3), longestTail, LARGEST_TAIL);
  let headRoom = limit - tailLimit;
  let endsLine = true;
  let lost = 0;
  const tail: Buffer[] = [];
  let held = 0;
  for await (const lines of wholeLines(chunks)) {
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

/** Chunks that end where a line ends, except within a line of more than LONGEST_LINE. */
async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let open: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const all = open.length > 0 ? Buffer.concat([open, chunk]) : chunk;
    const end = all.lastIndexOf(NEWLINE) + 1;
    const whole = end === 0 && all.length > LONGEST_LINE ? all.length : end;
    if (whole > 0) yield all.subarray(0, whole);
    open = all.subarray(whole);
  }
  if (open.length > 0) yield open;
}

/** As many whole lines as fit; a part of one that fits nowhere. */
function headOf(lines: Buffer, room: number): Buffer {
  if (lines.length <= room) return lines;
  const end = lines.subarray(0, room).lastIndexOf(NEWLINE) + 1;
  return lines.subarray(0, end > 0 || lines.indexOf(NEWLINE) >= 0 ? end : room);
}

/** Takes lines of at least so many bytes off the front. */
function shiftLines(tail: Buffer[], bytes: number): Buffer {
  const [first = Buffer.alloc(0)] = tail;
  if (bytes >= first.length) return tail.shift() as Buffer;
  const end = first.indexOf(NEWLINE, bytes - 1) + 1 || bytes;
  if (end === first.length) return tail.shift() as Buffer;
  tail[0] = first.subarray(end);
  return first.subarray(0, end);
}

/**
 * Divides so many bytes among logs. Each begins with an equal part of what is left, so that what small logs do not use is there for those
 * that begin later.
 */
export class Shares {
  #left: number;
  #logs: number;
  /** What is kept for each log that has not begun. */
  readonly #equal: number;

  constructor(bytes: number, logs: number) {
    this.#left = bytes;
    this.#logs = logs;
    this.#equal = Math.floor(bytes / Math.max(logs, 1));
  }

  /** For the next log. */
  take(): number {
    const share = Math.max(Math.floor(this.#left / Math.max(this.#logs, 1)), SMALLEST_SHARE);
    this.#logs -= 1;
    this.#left -= share;
    return share;
  }

  /** More than its part for a log that has begun: only what others turned out not to need. */
  grant(bytes: number): boolean {
    if (this.#left - bytes < this.#logs * this.#equal) return false;
    this.#left -= bytes;
    return true;
  }

  /** What a log had too much of. */
  giveBack(bytes: number): void {
    this.#left += bytes;
  }
}
