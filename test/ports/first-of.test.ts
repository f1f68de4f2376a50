import {setTimeout as wait} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {firstOf} from '../../src/ports/first-of.ts';

test('it comes with the first, with its reason', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const signal = firstOf(one.signal, other.signal);
  other.abort('SIGTERM');
  one.abort('SIGINT');
  expect({aborted: signal.aborted, reason: signal.reason}).toEqual({aborted: true, reason: 'SIGTERM'});
});

test('it has come where one came before', () => {
  expect(firstOf(new AbortController().signal, AbortSignal.abort('SIGINT')).reason).toBe('SIGINT');
});

test('a timeout that nobody else holds comes, whatever is thrown away meanwhile', async () => {
  const signal = firstOf(new AbortController().signal, AbortSignal.timeout(300));
  const start = Date.now();
  while (!signal.aborted && Date.now() - start < 10_000) {
    Array.from({length: 100_000}, () => ({}));
    await wait(20, undefined, {signal}).catch(() => undefined);
  }
  expect(signal.aborted).toBe(true);
});
