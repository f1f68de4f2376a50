import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {PackedLog, PackedTail, PackedText} from '../../src/support-bundle/packed-log.ts';
import {retain} from '../../src/support-bundle/retain.ts';
import {Shares} from '../../src/support-bundle/shares.ts';

async function* inChunks(text: string, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (let turn = 0; at < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield Buffer.from(text.slice(at, at + size));
    at += size;
  }
}

type Room = Partial<Parameters<typeof retain>[1]>;

async function keptIn(room: Room, text: string, limit: number, sizes: readonly number[] = [64], grant?: (bytes: number) => boolean) {
  let cut = 0;
  const chunks: Buffer[] = [];
  const onCut = ({bytes}: {bytes: number}): void => {
    cut = bytes;
  };
  for await (const chunk of retain(inChunks(text, sizes), {...room, limit, onCut, ...(grant ? {grant} : {})})) chunks.push(chunk);
  return {text: Buffer.concat(chunks).toString('utf8'), cut};
}

const lines = (count: number): string => Array.from({length: count}, (_, index) => `line ${index}\n`).join('');

describe.each([
  {where: 'in a ring', room: {}},
  {where: 'packed', room: {tail: (limit: number) => new PackedTail(limit)}},
])('a log whose end is held $where', ({room}) => {
  const kept = keptIn.bind(undefined, room);

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
    for await (const chunk of retain(inChunks(text, [64]), {...room, limit: 2000, longestEnd: 100, onCut: () => undefined}))
      chunks.push(chunk);
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

test('a packed log is what would have been kept of it, and can be read twice', async () => {
  const text = lines(4000);
  const log = new PackedLog(2000);
  for await (const chunk of inChunks(text, [64])) log.push(chunk);
  const read = (): string => Buffer.concat([...log.pieces()]).toString('utf8');
  const {text: expected, cut} = await keptIn({tail: (limit) => new PackedTail(limit)}, text, 2000);
  expect([read(), read(), log.cut()]).toEqual([expected, expected, {bytes: cut}]);
  expect(log.bytes).toBeLessThanOrEqual(2000);
});

test('packed text comes out as it went in, the oldest first', () =>
  fc.assert(
    fc.property(fc.array(fc.uint8Array({maxLength: 40})), fc.integer({min: 1, max: 30}), fc.nat(5), (chunks, blockSize, taken) => {
      const packed = new PackedText(blockSize);
      const all = Buffer.concat(chunks);
      for (const chunk of chunks) packed.push(Buffer.from(chunk));
      const out = Array.from({length: taken}, () => packed.shift());
      expect(packed.bytes).toBe(all.length - Buffer.concat(out).length);
      expect(Buffer.concat([...out, ...packed.pieces()])).toEqual(all);
    }),
  ));

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
