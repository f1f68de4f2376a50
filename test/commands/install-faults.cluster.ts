import {describe, expect, test} from 'vitest';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {behindFaultyApi, installThrough} from '../support/faulty-install.ts';
import {expectWholeness, stepFlags} from '../support/install-place.ts';

const helms = await findHelmMatrix();
const [{path: anyHelm} = {path: 'helm'}] = helms;
const argv = await stepFlags('agent-local');

type Stage = [stage: string, method: string, path: RegExp];

/** Helm 3 creates, Helm 4 applies. */
const INSTALLING = 'POST|PATCH';

/** One request of each stage, in the order in which they are made. */
const READING: Stage[] = [
  ['requesting the server version', 'GET', /^\/version/],
  ['reading the namespace', 'GET', /\/namespaces\/test-\w+(\?|$)/],
  ['reading the release', 'GET', /\/secrets\?labelSelector/],
  ['reading the Secret', 'GET', /\/secrets\/scalr-agent-token/],
];
const APPLYING: Stage[] = [['applying the Secret', 'PATCH', /\/secrets\/scalr-agent-token/]];
const HELM: Stage[] = [
  ['creating the Helm record', 'POST', /\/secrets/],
  ['creating the Deployment', INSTALLING, /\/deployments/],
  ['updating the Helm record', 'PUT', /\/secrets/],
];
const LOOK: Stage = ['a look', 'GET', /\/replicasets\?limit/];
const LOGS: Stage = ['the logs', 'GET', /\/log\?/];

/** What stalls is never answered; all before it has to be done by then. */
const TIME_TO_GET_THERE = ['--timeout', '10s'];

/** One failure either ends it with a next step or is outlived, and after it everything can be made whole. */
async function expectHarmless(helm: string, [, method, path]: Stage, times = 1): Promise<number> {
  const deps = await behindFaultyApi();
  const injected = deps.api.inject(method, path, {status: 500}, times);
  const {exit, result} = await installThrough(deps, helm);
  expect(injected.count()).toBeGreaterThanOrEqual(1);
  if (result.error?.code === 'RELEASE_BUSY')
    expect(result.error.message).toMatch(/its Helm record is still pending-install/);
  else if (exit !== 0) {
    const message = expect.stringMatching(/etcdserver: request timed out|prevented the request/);
    expect(result.error).toMatchObject({code: 'CLUSTER_UNREACHABLE', exit: 1, message});
  }
  await expectWholeness(deps.place, helm, argv);
  return exit;
}

// Every time: about a Secret that is not there kubectl asks for its namespace too, and does not care for the answer.
test.each(READING)('fails with a next step when %s fails', async (...stage) => {
  expect(await expectHarmless(anyHelm, stage, Number.POSITIVE_INFINITY)).toBe(1);
});

test.each(APPLYING)('fails with a next step when %s always fails', async (...stage) => {
  expect(await expectHarmless(anyHelm, stage, Number.POSITIVE_INFINITY)).toBe(1);
});

test.each([...APPLYING, LOGS])('completes when %s fails once', async (...stage) => {
  expect(await expectHarmless(anyHelm, stage)).toBe(0);
});

describe.each(helms)('Helm $major', ({path: helm}) => {
  test.each(HELM.slice(0, 2))('completes when %s fails once', async (...stage) => {
    expect(await expectHarmless(helm, stage)).toBe(0);
  });

  test.each(
    HELM.slice(0, 2),
  )('reports the failure when %s always fails, and recovers on the next run', async (...stage) => {
    expect(await expectHarmless(helm, stage, Number.POSITIVE_INFINITY)).toBe(1);
  });

  // Helm itself succeeds then, so nothing is repeated.
  test.each(
    HELM.slice(2),
  )('reports the failure when %s fails, and recovers on the next run', async (...stage) => {
    expect(await expectHarmless(helm, stage)).toBe(1);
  });

  test('interrupts helm when the API server does not answer within the timeout', async () => {
    const deps = await behindFaultyApi();
    const injected = deps.api.inject(INSTALLING, /\/deployments/, 'stall');
    const {exit, result} = await installThrough(deps, helm, TIME_TO_GET_THERE);
    expect({exit, code: result.error?.code}).toEqual({exit: 6, code: 'TIMED_OUT'});
    expect(result.error.message).toMatch(
      /It (was interrupted|did not stop).*Completed: Create Secret scalr-agent-token/,
    );
    injected.end();
    await expectWholeness(deps.place, helm, argv);
  });
});

test('retries at every stage when the API server answers 429', async () => {
  const deps = await behindFaultyApi();
  const stages = [...READING, ...APPLYING, ...HELM, LOOK, LOGS];
  const faults = stages.map(([, method, path]) =>
    deps.api.inject(method, path, {status: 429, retryAfter: 1}, 1),
  );
  expect(await installThrough(deps, anyHelm)).toMatchObject({
    exit: 0,
    result: {agent: 'registered'},
  });
  expect(faults.map((each) => each.count())).toEqual(stages.map(() => 1));
});

describe.each(helms)('Helm $major', ({path: helm}) => {
  // No one else writes the record of Helm; what becomes of it then is said with --take-over.
  test.each([
    ...APPLYING,
    ...HELM.slice(0, 2),
  ])('repeats a write that conflicts with another one: %s', async (_, method, path) => {
    const deps = await behindFaultyApi();
    const injected = deps.api.inject(method, path, {status: 409}, 1);
    expect(await installThrough(deps, helm)).toMatchObject({
      exit: 0,
      result: {agent: 'registered'},
    });
    expect(injected.count()).toBe(1);
  });
});

test('succeeds when the API server takes half a second for every list', async () => {
  const deps = await behindFaultyApi();
  const injected = deps.api.inject('GET', /\?.*(limit|labelSelector)=/, {delayMs: 500});
  expect(await installThrough(deps, anyHelm)).toMatchObject({
    exit: 0,
    result: {agent: 'registered'},
  });
  expect(injected.count()).toBeGreaterThan(7);
});

test('fails at the timeout when reading the releases of Helm gets no answer', async () => {
  const deps = await behindFaultyApi();
  deps.api.inject('GET', /\/secrets\?labelSelector/, 'stall');
  const {exit, result} = await installThrough(deps, anyHelm, TIME_TO_GET_THERE);
  expect({exit, code: result.error.code}).toEqual({exit: 1, code: 'CLUSTER_UNREACHABLE'});
  expect(result.error.message).toContain('kubectl get failed: timed out waiting for a response');
});

test('fails instead of assuming no values when the values cannot be read', async () => {
  const deps = await behindFaultyApi();
  await installThrough(deps, anyHelm);
  deps.api.inject(
    'GET',
    /\/secrets\?fieldSelector=metadata.name%3Dsh\.helm/,
    {status: 503},
    Number.POSITIVE_INFINITY,
  );
  const {exit, result} = await installThrough(deps, anyHelm);
  expect({exit, code: result.error?.code}).toEqual({exit: 1, code: 'CLUSTER_UNREACHABLE'});
  expect(result.error.message).toMatch(/^kubectl get failed/);
});
