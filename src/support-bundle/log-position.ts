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
