import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {KeptLog} from '../../../../src/extensions/bundle/collect/kept-log.ts';
import {retain} from '../../../../src/extensions/bundle/collect/retain.ts';
import {Shares} from '../../../../src/extensions/bundle/collect/shares.ts';

async function* inChunks(text: string, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (let turn = 0; at < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield Buffer.from(text.slice(at, at + size));
    at += size;
  }
}

async function kept(
  text: string,
  limit: number,
  sizes: readonly number[] = [64],
  grant: (bytes: number) => boolean = () => false,
) {
  let cut = 0;
  const chunks: Buffer[] = [];
  const onCut = (bytes: number): void => {
    cut = bytes;
  };
  for await (const chunk of retain(inChunks(text, sizes), {limit, onCut, grant}))
    chunks.push(chunk);
  return {text: Buffer.concat(chunks).toString('utf8'), cut};
}

const lines = (count: number): string =>
  Array.from({length: count}, (_, index) => `line ${index}\n`).join('');

describe('a log', () => {
  test('is kept completely when it fits', () =>
    fc.assert(
      fc.asyncProperty(
        fc.nat(50),
        fc.array(fc.integer({min: 1, max: 90}), {minLength: 1}),
        async (count, sizes) => {
          const text = lines(count);
          expect(await kept(text, text.length + 10, sizes)).toEqual({text, cut: 0});
        },
      ),
    ));

  test('keeps its start and end when it is too long, with a mark', () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({min: 100, max: 400}),
        fc.array(fc.integer({min: 1, max: 300}), {minLength: 1}),
        async (count, sizes) => {
          const text = lines(count);
          const {text: found, cut} = await kept(text, 600, sizes);
          const [head, tail] = found.split(/^\[… \d+ bytes omitted: --max-size …\]\n/m);
          expect(text.startsWith(head as string)).toBe(true);
          expect(text.endsWith(tail as string)).toBe(true);
          expect(head).toMatch(/\nline \d+\n$/);
          expect(tail).toMatch(/^line \d+\n/);
          expect((head as string).length + (tail as string).length + cut).toBe(text.length);
          expect(found.length).toBeLessThanOrEqual(600 + 60);
        },
      ),
    ));

  test('keeps more of its start when its end is limited', async () => {
    const text = lines(400);
    const chunks: Buffer[] = [];
    for await (const chunk of retain(inChunks(text, [64]), {
      limit: 2000,
      longestTail: 100,
      onCut: () => undefined,
    }))
      chunks.push(chunk);
    const [head = '', tail = ''] = Buffer.concat(chunks)
      .toString('utf8')
      .split(/^\[… .*…\]\n/m);
    expect({begins: text.startsWith(head), ends: text.endsWith(tail)}).toEqual({
      begins: true,
      ends: true,
    });
    expect(head.length).toBeGreaterThanOrEqual(1890);
    expect(tail.length).toBeGreaterThan(50);
    expect(tail.length).toBeLessThanOrEqual(100);
  });

  test('uses the unused share of other logs, in one piece, while available', async () => {
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

  test('keeps a partial line before the mark only if the line is long, and the mark is on its own line', async () => {
    const long = 'y'.repeat(40_000);
    const {text, cut} = await kept(`first\n${long}\n${lines(9000)}`, 60_000);
    expect(text).toMatch(/^first\ny{19994}\n\[… \d+ bytes omitted: --max-size …\]\nline \d+\n/);
    expect(`first\n${long}\n${lines(9000)}`).toHaveLength(
      text.length + cut - `\n[… ${cut} bytes omitted: --max-size …]\n`.length,
    );
  });

  test('keeps the end of a single endless line too', async () => {
    const {text, cut} = await kept('x'.repeat(10_000), 900);
    expect(text.endsWith('x'.repeat(100))).toBe(true);
    expect(cut).toBe(10_000 - (text.length - `\n[… ${cut} bytes omitted: --max-size …]\n`.length));
  });
});

describe('a log that is kept in memory', () => {
  const log = (limit: number, ...chunks: readonly string[]) => {
    const made = new KeptLog(limit);
    for (const chunk of chunks) made.push(Buffer.from(chunk));
    return {made, text: Buffer.concat([...made.chunks()]).toString('utf8')};
  };

  test('is kept completely when it fits, and can be read twice', () =>
    fc.assert(
      fc.property(fc.array(fc.nat(3000), {maxLength: 20}), (counts) => {
        const chunks = counts.map(lines);
        const {made, text} = log(10_000_000, ...chunks);
        expect({
          text,
          again: Buffer.concat([...made.chunks()]).toString('utf8'),
          cut: made.cut,
        }).toEqual({
          text: chunks.join(''),
          again: chunks.join(''),
          cut: 0,
        });
        expect(made.bytes).toBe(text.length);
      }),
      {numRuns: 20},
    ));

  test('keeps its start and end in whole lines when it is too long, with a mark', () => {
    const chunks = Array.from({length: 2000}, (_, index) => `chunk ${index}\n${'x'.repeat(500)}\n`);
    const all = chunks.join('');
    const {made, text} = log(256 * 1024, ...chunks);
    const [head = '', tail = ''] = text.split(/^\[… \d+ bytes omitted: --max-size …\]\n/m);
    expect({begins: all.startsWith(head), ends: all.endsWith(tail)}).toEqual({
      begins: true,
      ends: true,
    });
    expect(head.length + tail.length + made.cut).toBe(all.length);
    expect(text).toContain(`[… ${made.cut} bytes omitted`);
    expect(made.bytes).toBeLessThan(256 * 1024 + 20_000);
    expect(tail.length).toBeGreaterThan(head.length);
    expect(head.length).toBeGreaterThan(50_000);
    expect([head.at(-1), tail.startsWith('chunk')]).toEqual(['\n', true]);
  });
});

test('the unused share of small logs is available to later ones', () => {
  const shares = new Shares(1_000_000, 4);
  const first = shares.take();
  expect(first).toBe(250_000);
  shares.giveBack(first - 10_000);
  expect(shares.take()).toBe(330_000);
  expect(shares.take()).toBe(330_000);
  expect(shares.take()).toBe(330_000);
});

test('the share of logs that have not started is reserved', () => {
  const shares = new Shares(1_000_000, 4);
  const first = shares.take();
  expect(shares.grant(1)).toBe(false);
  shares.giveBack(first - 50_000);
  expect(shares.grant(200_000)).toBe(true);
  expect(shares.grant(1)).toBe(false);
});

test('each of very many logs still gets a page', () =>
  expect(new Shares(1000, 500).take()).toBe(16_384));
