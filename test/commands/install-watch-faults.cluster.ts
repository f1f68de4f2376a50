import {expect, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import type {FaultyApi} from '../control-plane/faulty-api.ts';
import {behindFaultyApi, installThrough} from '../support/faulty-install.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const UNREADY = ['--set', 'podAnnotations.test\\.scalr\\.io/outcome=unready'];
/** Not a bare number: a port or a name can hold it as well. */
const UNREADY_POD = /statuscode: 503/;
const LOOK = /\/replicasets\?limit/;

test.each([
  {status: 503},
  'cut',
] as const)('does not report a single failed status request (%o)', async (fault) => {
  const deps = await behindFaultyApi();
  const injected = deps.api.inject('GET', LOOK, fault, 1);
  const {exit, said, result} = await installThrough(deps, helm);
  expect({exit, agent: result.agent, count: injected.count()}).toEqual({
    exit: 0,
    agent: 'registered',
    count: 1,
  });
  expect(said).not.toContain('API server');
});

test('reports API server errors that persist, and continues the watch when they end', async () => {
  const deps = await behindFaultyApi();
  const injected = deps.api.inject('GET', LOOK, {status: 503});
  const {exit, said, result} = await installThrough(deps, helm, [], (text) => {
    if (text.includes('API server')) injected.end();
  });
  expect(said).toMatch(
    /! [A-Z_]+ {2}API server: kubectl get failed: .*unable to handle the request/,
  );
  expect({exit, agent: result.agent}).toEqual({exit: 0, agent: 'registered'});
});

const ENDS: [how: string, act: (api: FaultyApi) => unknown, reason: RegExp][] = [
  [
    'stalls',
    (api) => api.inject('*', /./, 'stall'),
    /API server: .*timed out waiting for a response/,
  ],
  ['dies', (api) => api.stop(), /API server: .*refused/],
];
test.each(
  ENDS,
)('times out with the last known pod problem when the API server %s', async (_how, act, reason) => {
  const deps = await behindFaultyApi();
  const {exit, result, seconds} = await installThrough(
    deps,
    helm,
    [...UNREADY, '--timeout', '5s'],
    (text) => {
      if (UNREADY_POD.test(text)) act(deps.api);
    },
  );
  expect({exit, code: result.error?.code}).toEqual({exit: 6, code: 'TIMED_OUT'});
  expect(result.error.message).toMatch(reason);
  expect(result.error.message).toMatch(UNREADY_POD);
  expect(seconds).toBeLessThan(20);
});

test('reads the logs again when the connection breaks', async () => {
  const deps = await behindFaultyApi();
  const injected = deps.api.inject('GET', /\/log\?/, 'cut', 2);
  expect(await installThrough(deps, helm)).toMatchObject({exit: 0, result: {agent: 'registered'}});
  expect(injected.count()).toBe(2);
});

test('fails instead of hanging when the API server stalls at the Secret', async () => {
  const deps = await behindFaultyApi();
  deps.api.inject('PATCH', /\/secrets/, 'stall');
  const {exit, result} = await installThrough(deps, helm);
  expect({exit, code: result.error?.code}).toEqual({exit: 1, code: 'CLUSTER_UNREACHABLE'});
});
