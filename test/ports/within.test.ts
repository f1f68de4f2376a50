import {getEventListeners} from 'node:events';
import {expect, test} from 'vitest';
import {within} from '../../src/ports/within.ts';

const aborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve(String(signal.reason))));

test('the time is over', async () => {
  expect(await within(1, new AbortController().signal, aborted)).toContain('TimeoutError');
});

test('whoever asks for an end is heard before the time is over', async () => {
  const controller = new AbortController();
  const ended = within(60_000, controller.signal, aborted);
  controller.abort('SIGINT');
  expect(await ended).toBe('SIGINT');
  expect(await within(60_000, controller.signal, async (signal) => signal.aborted)).toBe(true);
});

test('nothing listens afterwards, however it ended', async () => {
  const {signal} = new AbortController();
  await within(60_000, signal, async () => 'done');
  await expect(within(60_000, signal, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('many calls may have the same signal', async () => {
  const {signal} = new AbortController();
  const warnings: Error[] = [];
  process.on('warning', (warning) => warnings.push(warning));
  await Promise.all(Array.from({length: 20}, () => within(60_000, signal, () => new Promise(setImmediate))));
  expect(warnings).toEqual([]);
});
