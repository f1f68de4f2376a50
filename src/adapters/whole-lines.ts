import {PassThrough, Readable} from 'node:stream';

/** A line that is longer is let go in pieces. */
const LONGEST_LINE = 1024 * 1024;

/** Several outputs in one, line by line, each as it comes; who reads slowly holds all of them up. */
export function mergedLines(sources: readonly Readable[]): AsyncIterable<Buffer> {
  const merged = new PassThrough();
  let open = sources.length;
  for (const source of sources) {
    const lines = Readable.from(wholeLines(source), {objectMode: true});
    lines.pipe(merged, {end: false});
    lines.once('end', () => {
      open -= 1;
      if (open === 0) merged.end();
    });
    lines.once('error', (error) => merged.destroy(error));
  }
  // Its reader hears of it, and may come later.
  merged.on('error', () => undefined);
  return merged;
}

async function* wholeLines(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  for await (const chunk of source) {
    held = Buffer.concat([held, chunk]);
    const end = held.lastIndexOf('\n') + 1;
    const ready = end === 0 && held.length > LONGEST_LINE ? held.length : end;
    if (ready > 0) yield held.subarray(0, ready);
    held = held.subarray(ready);
  }
  if (held.length > 0) yield held;
}
