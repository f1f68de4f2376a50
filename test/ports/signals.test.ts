import {getEventListeners} from 'node:events';
import {setTimeout as wait} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import {abortReason, anySignal, followSignal, withTimeout} from '../../src/signals.ts';
import {toolGap} from '../../src/support-bundle/collect/tools.ts';

describe('anySignal', () => {
  test('it comes with the first, with its reason', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const signal = anySignal(one.signal, other.signal);
    other.abort('SIGTERM');
    one.abort('SIGINT');
    expect({aborted: signal.aborted, reason: signal.reason}).toEqual({aborted: true, reason: 'SIGTERM'});
  });

  test('it has come where one came before', () => {
    expect(anySignal(new AbortController().signal, AbortSignal.abort('SIGINT')).reason).toBe('SIGINT');
  });

  test('a timeout that nobody else holds comes, whatever is thrown away meanwhile', async () => {
    const signal = anySignal(new AbortController().signal, AbortSignal.timeout(300));
    const start = Date.now();
    while (!signal.aborted && Date.now() - start < 10_000) {
      Array.from({length: 100_000}, () => ({}));
      await wait(20, undefined, {signal}).catch(() => undefined);
    }
    expect(signal.aborted).toBe(true);
  });
});

describe('followSignal', () => {
  test('it comes with the first, also with one that has come already', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const {signal} = followSignal(one.signal, other.signal);
    other.abort('SIGINT');
    expect(signal.reason).toBe('SIGINT');
    expect(followSignal(one.signal, other.signal).signal.aborted).toBe(true);
  });

  test('nothing listens once it is released', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const {signal, release} = followSignal(one.signal, other.signal);
    release();
    one.abort();
    expect(signal.aborted).toBe(false);
    expect([one, other].flatMap((each) => getEventListeners(each.signal, 'abort'))).toEqual([]);
  });
});

describe('withTimeout', () => {
  const aborted = (signal: AbortSignal) =>
    new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve(String(signal.reason))));

  test('the time is over', async () => {
    expect(await withTimeout(1, new AbortController().signal, aborted)).toContain('TimeoutError');
  });

  test('whoever asks for an end is heard before the time is over', async () => {
    const controller = new AbortController();
    const ended = withTimeout(60_000, controller.signal, aborted);
    controller.abort('SIGINT');
    expect(await ended).toBe('SIGINT');
    expect(await withTimeout(60_000, controller.signal, async (signal) => signal.aborted)).toBe(true);
  });

  test('nothing listens afterwards, however it ended', async () => {
    const {signal} = new AbortController();
    await withTimeout(60_000, signal, async () => 'done');
    await expect(withTimeout(60_000, signal, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('many calls may have the same signal', async () => {
    const {signal} = new AbortController();
    const warnings: Error[] = [];
    process.on('warning', (warning) => warnings.push(warning));
    await Promise.all(Array.from({length: 20}, () => withTimeout(60_000, signal, () => new Promise(setImmediate))));
    expect(warnings).toEqual([]);
  });
});

describe('abortReason', () => {
  const NO_ANSWER = {exitCode: 1, stdout: '', stderr: 'error: there was no answer in time'};

  test('a time that is over and a signal of the system are told apart, through all that follow them', async () => {
    const late = anySignal(AbortSignal.timeout(1), new AbortController().signal);
    await new Promise((resolve) => late.addEventListener('abort', resolve));
    expect(abortReason(followSignal(late).signal)).toBe('--timeout was over');
    expect(abortReason(AbortSignal.abort('SIGINT'))).toBe('interrupted');
    expect(abortReason(AbortSignal.abort())).toBe('nobody waits for it any more');
  });

  test('what helm did not say says which it was, where it was one of them', () => {
    const gap = (over: AbortSignal) => toolGap('releases of helm', NO_ANSWER, over).trouble;
    expect(gap(AbortSignal.abort('SIGTERM'))).toEqual({kind: 'over', message: 'interrupted'});
    expect(gap(new AbortController().signal)).toEqual({kind: 'stalled', message: NO_ANSWER.stderr});
  });
});
