import {createHash} from 'node:crypto';
import {zipArchives} from '../../src/ground/system/zip-archive.ts';

/** `memory.cli.ts PATH MEGABYTES`: three logs that are written at once, one of them of that size, and read back. */
const [path = '', megabytes = '1'] = process.argv.slice(2);
const MIB = 1024 * 1024;
const start = performance.now();

/** Lines as an agent writes them, no two of which are equal, in the pieces in which a socket gives them. */
async function* log(bytes: number): AsyncGenerator<Buffer> {
  for (let given = 0, line = 0; given < bytes; ) {
    let text = '';
    for (; text.length < 64 * 1024; line += 1)
      text += `2026-11-21T12:00:00.${line}Z INFO agent run-${(line * 7919) % 104729} polled the queue\n`;
    const piece = Buffer.from(text);
    given += piece.length;
    yield piece;
    // As a socket does; without it nothing else would get a turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const archive = await zipArchives.create(path);
await Promise.all([
  archive.add('large.log', log(Number(megabytes) * MIB)),
  ...['a', 'b'].map((name) => archive.add(`${name}.log`, log(4 * MIB))),
]);
await archive.close({
  manifest: (entries) => JSON.stringify(entries),
  check: async (opened) => {
    const hash = createHash('sha256');
    for (const {name} of opened.entries)
      for await (const chunk of opened.read(name)) hash.update(chunk);
    return undefined;
  },
});
const seconds = (performance.now() - start) / 1000;
process.stdout.write(JSON.stringify({peakMb: process.resourceUsage().maxRSS / 1024, seconds}));
