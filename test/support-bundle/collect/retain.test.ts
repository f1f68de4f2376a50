import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {KeptLog} from '../../../src/support-bundle/collect/log-items.ts';
import {retain, Shares} from '../../../src/support-bundle/collect/retain.ts';

async function* inChunks(text: string, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (let turn = 0; at < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield Buffer.from(text.slice(at, at + size));
    at += size;
  }
}

async function kept(text: string, limit: number, sizes: readonly number[] = [64], grant: (bytes: number) => boolean = () => false) {
  let cut = 0;
  const chunks: Buffer[] = [];
  const onCut = (bytes: number): void => {
    cut = bytes;
  };
  for await (const chunk of retain(inChunks(text, sizes), {limit, onCut, grant})) chunks.push(chunk);
  return {text: Buffer.concat(chunks).toString('utf8'), cut};
}

const lines = (count: number): string => Array.from({length: count}, (_, index) => `line ${index}\n`).join('');

describe('a log', () => {
  test('that fits is kept whole', () =>
    fc.assert(
      fc.asyncProperty(fc.nat(50), fc.array(fc.integer({min: 1, max: 90}), {minLength: 1}), async (count, sizes) => {
        const text = lines(count);
        expect(await kept(text, text.length + 10, sizes)).toEqual({text, cut: 0});
      }),
    ));

  test('that is too long keeps its beginning and its end, with a mark that counts', () =>
    fc.assert(
      fc.asyncProperty(fc.integer({min: 100, max: 400}), fc.array(fc.integer({min: 1, max: 300}), {minLength: 1}), async (count, sizes) => {
        const text = lines(count);
        const {text: found, cut} = await kept(text, 600, sizes);
        const [head, tail] = found.split(/^\[… \d+ bytes left out here: --max-size …\]\n/m);
        expect(text.startsWith(head as string)).toBe(true);
        expect(text.endsWith(tail as string)).toBe(true);
        expect(head).toMatch(/\nline \d+\n$/);
        expect(tail).toMatch(/^line \d+\n/);
        expect((head as string).length + (tail as string).length + cut).toBe(text.length);
        expect(found.length).toBeLessThanOrEqual(600 + 60);
      }),
    ));

  test('of which only so much of the end is held has more of its beginning', async () => {
    const text = lines(400);
    const chunks: Buffer[] = [];
    for await (const chunk of retain(inChunks(text, [64]), {limit: 2000, longestTail: 100, onCut: () => undefined})) chunks.push(chunk);
    const [head = '', tail = ''] = Buffer.concat(chunks)
      .toString('utf8')
      .split(/^\[… .*…\]\n/m);
    expect({begins: text.startsWith(head), ends: text.endsWith(tail)}).toEqual({begins: true, ends: true});
    expect(head.length).toBeGreaterThanOrEqual(1890);
    expect(tail.length).toBeGreaterThan(50);
    expect(tail.length).toBeLessThanOrEqual(100);
  });

  test('has what others do not need, in one piece, until there is no more', async () => {
    const text = lines(400);
    expect(await kept(text, 600, [64], () => true)).toEqual({text, cut: 0});
    let left = 1000;
    const found = await kept(text, 600, [64], (bytes) => {
      left -= bytes;
      return left >= 0;
    });
    const [head = ''] = found.text.split('[…');
    expect(text.startsWith(head)).toBe(true);
    expect(head.length).toBeGreaterThan(1000);
    expect(text.endsWith(found.text.slice(-300))).toBe(true);
  });

  test('keeps half a line before the mark only where it is a long one, and then the mark has a line of its own', async () => {
    const long = 'y'.repeat(40_000);
    const {text, cut} = await kept(`first\n${long}\n${lines(9000)}`, 60_000);
    expect(text).toMatch(/^first\ny{19994}\n\[… \d+ bytes left out here: --max-size …\]\nline \d+\n/);
    expect(`first\n${long}\n${lines(9000)}`).toHaveLength(text.length + cut - `\n[… ${cut} bytes left out here: --max-size …]\n`.length);
  });

  test('of one endless line keeps something of its end too', async () => {
    const {text, cut} = await kept('x'.repeat(10_000), 900);
    expect(text.endsWith('x'.repeat(100))).toBe(true);
    expect(cut).toBe(10_000 - (text.length - `\n[… ${cut} bytes left out here: --max-size …]\n`.length));
  });
});

describe('a log that is kept in memory', () => {
  const log = (limit: number, ...chunks: readonly string[]) => {
    const made = new KeptLog(limit);
    for (const chunk of chunks) made.push(Buffer.from(chunk));
    return {made, text: Buffer.concat([...made.chunks()]).toString('utf8')};
  };

  test('and fits is kept whole, and can be read twice', () =>
    fc.assert(
      fc.property(fc.array(fc.nat(3000), {maxLength: 20}), (counts) => {
        const chunks = counts.map(lines);
        const {made, text} = log(10_000_000, ...chunks);
        expect({text, again: Buffer.concat([...made.chunks()]).toString('utf8'), cut: made.cut}).toEqual({
          text: chunks.join(''),
          again: chunks.join(''),
          cut: 0,
        });
        expect(made.bytes).toBe(text.length);
      }),
      {numRuns: 20},
    ));

  test('and is too long keeps its beginning and its end in whole lines, with a mark that counts', () => {
    const chunks = Array.from({length: 2000}, (_, index) => `chunk ${index}\n${'x'.repeat(500)}\n`);
    const all = chunks.join('');
    const {made, text} = log(256 * 1024, ...chunks);
    const [head = '', tail = ''] = text.split(/^\[… \d+ bytes left out here: --max-size …\]\n/m);
    expect({begins: all.startsWith(head), ends: all.endsWith(tail)}).toEqual({begins: true, ends: true});
    expect(head.length + tail.length + made.cut).toBe(all.length);
    expect(text).toContain(`[… ${made.cut} bytes left out here`);
    expect(made.bytes).toBeLessThan(256 * 1024 + 20_000);
    expect(tail.length).toBeGreaterThan(head.length);
    expect(head.length).toBeGreaterThan(50_000);
    expect([head.at(-1), tail.startsWith('chunk')]).toEqual(['\n', true]);
  });
});

test('what small logs do not need is there for those that begin later', () => {
  const shares = new Shares(1_000_000, 4);
  const first = shares.take();
  expect(first).toBe(250_000);
  shares.giveBack(first - 10_000);
  expect(shares.take()).toBe(330_000);
  expect(shares.take()).toBe(330_000);
  expect(shares.take()).toBe(330_000);
});

test('what is kept for logs that have not begun is granted to nobody', () => {
  const shares = new Shares(1_000_000, 4);
  const first = shares.take();
  expect(shares.grant(1)).toBe(false);
  shares.giveBack(first - 50_000);
  expect(shares.grant(200_000)).toBe(true);
  expect(shares.grant(1)).toBe(false);
});

test('a log of very many still gets a page', () => expect(new Shares(1000, 500).take()).toBe(16_384));
