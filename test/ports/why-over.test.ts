import {expect, test} from 'vitest';
import {firstOf} from '../../src/ports/first-of.ts';
import {follow} from '../../src/ports/follow.ts';
import {whyOver} from '../../src/ports/why-over.ts';
import {toolGap} from '../../src/support-bundle/collect/tools.ts';

const NO_ANSWER = {exitCode: 1, stdout: '', stderr: 'error: there was no answer in time'};

test('a time that is over and a signal of the system are told apart, through all that follow them', async () => {
  const late = firstOf(AbortSignal.timeout(1), new AbortController().signal);
  await new Promise((resolve) => late.addEventListener('abort', resolve));
  expect(whyOver(follow(late).signal)).toBe('--timeout was over');
  expect(whyOver(AbortSignal.abort('SIGINT'))).toBe('interrupted');
  expect(whyOver(AbortSignal.abort())).toBe('nobody waits for it any more');
});

test('what helm did not say says which it was, where it was one of them', () => {
  const gap = (over: AbortSignal) => toolGap('releases of helm', NO_ANSWER, over).trouble;
  expect(gap(AbortSignal.abort('SIGTERM'))).toEqual({kind: 'over', message: 'interrupted'});
  expect(gap(new AbortController().signal)).toEqual({kind: 'stalled', message: NO_ANSWER.stderr});
});
