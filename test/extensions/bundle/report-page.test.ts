import {randomBytes} from 'node:crypto';
import {expect, test} from 'vitest';
import {contentOfPage, ReportPage} from '../../../src/extensions/bundle/report-page.ts';

const TEMPLATE = '<main><!--first--></main><!--data--><script></script>';
const MIB = 1024 * 1024;

/** Lines that cannot be compressed well. */
function* noise(bytes: number): Generator<Buffer> {
  for (let written = 0; written < bytes; written += 96 * 1024)
    yield Buffer.from(
      randomBytes(72 * 1024)
        .toString('base64')
        .replace(/.{95}/g, '$&\n'),
    );
}

async function* logWith(lines: readonly string[]): AsyncGenerator<Buffer> {
  yield Buffer.from('first line\n');
  for (const line of lines) {
    yield* noise(MIB);
    yield Buffer.from(`${line}\n`);
  }
  yield* noise(21 * MIB);
  yield Buffer.from('last line\n');
}

test('a page of longer logs has their beginning, their end and the lines of findings', async () => {
  const page = new ReportPage(TEMPLATE);
  const lines = [
    'agent failed: connection refused',
    'nothing of interest',
    'Errno 28: No space left on device',
  ];
  for await (const _ of page.recording('logs/a/agent.log', logWith(lines)));
  const held: Buffer[] = [];
  for await (const part of contentOfPage(page.html(Buffer.from('<h1>Fine.</h1>')))) held.push(part);
  const text = Buffer.concat(held).toString('latin1');
  expect(text.length).toBeLessThan(22 * MIB);
  const kept = ['first line', ...lines, 'last line'].filter((each) => text.includes(each));
  expect(kept).toEqual([
    'first line',
    'agent failed: connection refused',
    'Errno 28: No space left on device',
    'last line',
  ]);
});
