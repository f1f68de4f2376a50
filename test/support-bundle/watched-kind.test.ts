import {expect, test} from 'vitest';
import type {Answer, ApiReader} from '../../src/kubernetes/client.ts';
import {NAMESPACE_KINDS} from '../../src/support-bundle/namespace-kinds.ts';
import {WatchedKind} from '../../src/support-bundle/watched-kind.ts';

const PODS = NAMESPACE_KINDS.find(({kind}) => kind === 'Pod') as (typeof NAMESPACE_KINDS)[number];
const listed = (...names: string[]): Answer => ({status: 200, body: {items: names.map((name) => ({metadata: {name, uid: name}}))}});
const failed: Answer = {trouble: {kind: 'server', message: 'etcd has no leader', status: 500}};

/** Looks once for each answer, so many seconds after the one before. */
async function look(...answers: readonly [seconds: number, answer: Answer][]) {
  let time = Date.parse('2026-11-21T08:00:00Z');
  let answer: Answer = failed;
  const api: ApiReader = {
    get: async () => answer,
    stream: async () => Promise.reject(new Error('nobody expected a log')),
    close: async () => undefined,
  };
  const kind = new WatchedKind(PODS, 'n', {api, over: new AbortController().signal, now: () => new Date(time)});
  let names: string[] = [];
  for (const [seconds, next] of answers) {
    time += seconds * 1000;
    answer = next;
    names = (await kind.look()).map(({metadata}) => metadata.name);
  }
  return {names, gaps: kind.gap()};
}

test('what could not be listed for some seconds is as it was, and that nobody looked is said', async () => {
  const {names, gaps} = await look([0, listed('a', 'b')], [2, failed], [10, failed]);
  expect(names).toEqual(['a', 'b']);
  expect(gaps).toMatchObject([
    {
      what: 'Pod objects of --watch',
      isMinor: true,
      trouble: {kind: 'server', message: expect.stringMatching(/^for 12 s nobody saw .*no leader/)},
    },
  ]);
});

test('in a time that is longer than the life of a run something may be missing', async () => {
  const {names, gaps} = await look([0, listed('a')], [2, failed], [60, listed('b')], [2, listed('b')]);
  expect(names).toEqual(['b']);
  expect(gaps).toMatchObject([{isMinor: false, trouble: {message: expect.stringMatching(/^for 62 s /)}}]);
});

test('the page that came counts although the next one did not', async () => {
  const page: Answer = {status: 200, body: {items: [{metadata: {name: 'c', uid: 'c'}}], metadata: {continue: 'more'}}};
  let asked = 0;
  const api = {
    get: async () => [listed('a'), page, failed][asked++] ?? failed,
    stream: async () => Promise.reject(),
    close: async () => undefined,
  };
  const kind = new WatchedKind(PODS, 'n', {api, over: new AbortController().signal, now: () => new Date()});
  await kind.look();
  expect((await kind.look()).map(({metadata}) => metadata.name)).toEqual(['a', 'c']);
});

test('while all goes well there is nothing to say', async () => {
  expect((await look([0, listed('a')], [100, listed('a')])).gaps).toEqual([]);
});
