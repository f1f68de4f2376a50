import {getEventListeners} from 'node:events';
import {expect, test} from 'vitest';
import {follow} from '../../src/ports/follow.ts';

test('it comes with the first, also with one that has come already', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const {signal} = follow(one.signal, other.signal);
  other.abort('SIGINT');
  expect(signal.reason).toBe('SIGINT');
  expect(follow(one.signal, other.signal).signal.aborted).toBe(true);
});

test('nothing listens once it is released', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const {signal, release} = follow(one.signal, other.signal);
  release();
  one.abort();
  expect(signal.aborted).toBe(false);
  expect([one, other].flatMap((each) => getEventListeners(each.signal, 'abort'))).toEqual([]);
});
