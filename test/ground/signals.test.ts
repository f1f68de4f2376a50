import {getEventListeners} from 'node:events';
import {setTimeout as wait} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import {toolGap} from '../../src/extensions/bundle/collect/tools.ts';
import {abortReason, anySignal, followSignal, withTimeout} from '../../src/ground/async.ts';

describe('anySignal', () => {
  test('is aborted with the first signal, and with its reason', () => {
    const one = new AbortController();
    const other = new AbortController();
    const signal = anySignal(one.signal, other.signal);
    other.abort('SIGTERM');
    one.abort('SIGINT');
    expect({aborted: signal.aborted, reason: signal.reason}).toEqual({
      aborted: true,
      reason: 'SIGTERM',
    });
  });

  test('is aborted when one signal already is', () => {
    expect(anySignal(new AbortController().signal, AbortSignal.abort('SIGINT')).reason).toBe(
      'SIGINT',
    );
  });

  test('keeps a timeout alive that nothing else references', async () => {
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
  test('is aborted with the first signal, even if it already is', () => {
    const one = new AbortController();
    const other = new AbortController();
    const {signal} = followSignal(one.signal, other.signal);
    other.abort('SIGINT');
    expect(signal.reason).toBe('SIGINT');
    expect(followSignal(one.signal, other.signal).signal.aborted).toBe(true);
  });

  test('removes its listeners when it is released', () => {
    const one = new AbortController();
    const other = new AbortController();
    const {signal, release} = followSignal(one.signal, other.signal);
    release();
    one.abort();
    expect(signal.aborted).toBe(false);
    expect([one, other].flatMap((each) => getEventListeners(each.signal, 'abort'))).toEqual([]);
  });
});

describe('withTimeout', () => {
  const aborted = (signal: AbortSignal) =>
    new Promise<string>((resolve) =>
      signal.addEventListener('abort', () => resolve(String(signal.reason))),
    );

  test('times out', async () => {
    expect(await withTimeout(1, new AbortController().signal, aborted)).toContain('TimeoutError');
  });

  test('is aborted before the timeout', async () => {
    const controller = new AbortController();
    const ended = withTimeout(60_000, controller.signal, aborted);
    controller.abort('SIGINT');
    expect(await ended).toBe('SIGINT');
    expect(await withTimeout(60_000, controller.signal, async (signal) => signal.aborted)).toBe(
      true,
    );
  });

  test('removes its listeners afterwards', async () => {
    const {signal} = new AbortController();
    await withTimeout(60_000, signal, async () => 'done');
    await expect(
      withTimeout(60_000, signal, () => Promise.reject(new Error('broken'))),
    ).rejects.toThrow('broken');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('many calls can share one signal', async () => {
    const {signal} = new AbortController();
    const warnings: Error[] = [];
    process.on('warning', (warning) => warnings.push(warning));
    await Promise.all(
      Array.from({length: 20}, () => withTimeout(60_000, signal, () => new Promise(setImmediate))),
    );
    expect(warnings).toEqual([]);
  });
});

describe('abortReason', () => {
  const NO_ANSWER = {
    exitCode: 1,
    stdout: '',
    stderr: 'error: timed out waiting for a response',
    isTimedOut: true as const,
  };

  test('distinguishes timeouts and system signals, also through followers', async () => {
    const late = anySignal(AbortSignal.timeout(1), new AbortController().signal);
    await new Promise((resolve) => late.addEventListener('abort', resolve));
    expect(abortReason(followSignal(late).signal)).toBe('timed out (--timeout)');
    expect(abortReason(AbortSignal.abort('SIGINT'))).toBe('interrupted');
    expect(abortReason(AbortSignal.abort())).toBe('canceled');
  });

  test('explains an empty error of helm after an abort', () => {
    const gap = (signal: AbortSignal) => toolGap('Helm releases', NO_ANSWER, signal).error;
    expect(gap(AbortSignal.abort('SIGTERM'))).toEqual({kind: 'aborted', message: 'interrupted'});
    expect(gap(new AbortController().signal)).toEqual({kind: 'stalled', message: NO_ANSWER.stderr});
  });
});
