import {expect, test} from 'vitest';
import type {FaultyApi} from '../cluster/faulty-api.ts';
import {findHelm} from '../helm/find-helm.ts';
import {behindFaultyApi, installThrough} from '../support/faulty-install.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const UNREADY = ['--set', 'podAnnotations.test\\.scalr\\.io/outcome=unready'];
const LOOK = /\/replicasets\?limit/;

test.each([{status: 503}, 'cut'] as const)('one look that failed (%o) is not worth a word', async (fault) => {
  const world = await behindFaultyApi();
  const trouble = world.api.trouble('GET', LOOK, fault, 1);
  const {exit, said, result} = await installThrough(world, helm);
  expect({exit, agent: result.agent, count: trouble.count()}).toEqual({exit: 0, agent: 'registered', count: 1});
  expect(said).not.toContain('API server');
});

test('trouble that lasts is said, and when it is over the watch goes on', async () => {
  const world = await behindFaultyApi();
  const trouble = world.api.trouble('GET', LOOK, {status: 503});
  const {exit, said, result} = await installThrough(world, helm, [], (text) => {
    if (text.includes('API server')) trouble.end();
  });
  expect(said).toMatch(/! API server: kubectl get failed: .*unable to handle the request/);
  expect({exit, agent: result.agent}).toEqual({exit: 0, agent: 'registered'});
});

const ENDS: [how: string, act: (api: FaultyApi) => unknown, reason: RegExp][] = [
  ['stalls', (api) => api.trouble('*', /./, 'stall'), /API server: .*no answer in time/],
  ['dies', (api) => api.stop(), /API server: .*refused/],
];
test.each(ENDS)('an API server that %s ends it in time, with what was seen before', async (_how, act, reason) => {
  const world = await behindFaultyApi();
  const {exit, result, seconds} = await installThrough(world, helm, [...UNREADY, '--timeout', '5s'], (text) => {
    if (text.includes('503')) act(world.api);
  });
  expect({exit, code: result.error?.code}).toEqual({exit: 6, code: 'TIMED_OUT'});
  expect(result.error.message).toMatch(reason);
  expect(result.error.message).toMatch(/pod\/\S+: .*503/);
  expect(seconds).toBeLessThan(20);
});

test('logs that break off are read again', async () => {
  const world = await behindFaultyApi();
  const trouble = world.api.trouble('GET', /\/log\?/, 'cut', 2);
  expect(await installThrough(world, helm)).toMatchObject({exit: 0, result: {agent: 'registered'}});
  expect(trouble.count()).toBe(2);
});

test('an API server that stalls at a Secret does not hold the program', async () => {
  const world = await behindFaultyApi();
  world.api.trouble('PATCH', /\/secrets/, 'stall');
  const {exit, result} = await installThrough(world, helm);
  expect({exit, code: result.error?.code}).toEqual({exit: 1, code: 'CLUSTER_UNREACHABLE'});
});
