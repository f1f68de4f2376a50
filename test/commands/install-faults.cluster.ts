import {describe, expect, test} from 'vitest';
import {findHelmMatrix} from '../helm/find-helm.ts';
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
  ['the first question', 'GET', /^\/version/],
  ['reading the namespace', 'GET', /\/namespaces\/test-\w+(\?|$)/],
  ['reading the release', 'GET', /\/secrets\?labelSelector/],
  ['reading the Secret', 'GET', /\/secrets\/scalr-agent-token/],
];
const APPLYING: Stage[] = [['applying the Secret', 'PATCH', /\/secrets\/scalr-agent-token/]];
const HELM: Stage[] = [
  ['the record of helm', 'POST', /\/secrets/],
  ['what helm installs', INSTALLING, /\/deployments/],
  ['the last word of helm', 'PUT', /\/secrets/],
];
const LOOK: Stage = ['a look', 'GET', /\/replicasets\?limit/];
const LOGS: Stage = ['the logs', 'GET', /\/log\?/];

/** What stalls is never answered; all before it has to be done by then. */
const TIME_TO_GET_THERE = ['--timeout', '10s'];

/** One failure either ends it with a next step or is outlived, and after it everything can be made whole. */
async function expectHarmless(helm: string, [, method, path]: Stage, times = 1): Promise<number> {
  const world = await behindFaultyApi();
  const trouble = world.api.trouble(method, path, {status: 500}, times);
  const {exit, result} = await installThrough(world, helm);
  expect(trouble.count()).toBeGreaterThanOrEqual(1);
  if (result.error?.code === 'RELEASE_BUSY') expect(result.error.message).toMatch(/its record still says pending-install/);
  else if (exit !== 0) {
    const message = expect.stringMatching(/etcdserver: request timed out|prevented the request/);
    expect(result.error).toMatchObject({code: 'CLUSTER_UNREACHABLE', exit: 1, message});
  }
  await expectWholeness(world.place, helm, argv);
  return exit;
}

// Every time: about a Secret that is not there kubectl asks for its namespace too, and does not care for the answer.
test.each(READING)('a failure at %s ends it with a next step', async (...stage) => {
  expect(await expectHarmless(anyHelm, stage, Number.POSITIVE_INFINITY)).toBe(1);
});

test.each(APPLYING)('a failure at %s ends it with a next step', async (...stage) => {
  expect(await expectHarmless(anyHelm, stage)).toBe(1);
});

test('a failure at the logs is outlived', async () => {
  expect(await expectHarmless(anyHelm, LOGS)).toBe(0);
});

describe.each(helms)('Helm $major', ({path: helm}) => {
  test.each(HELM)('a failure at %s is told, and can be made whole', async (...stage) => {
    expect(await expectHarmless(helm, stage)).toBe(1);
  });

  test('helm that gets no answer is asked to end when its time is over', async () => {
    const world = await behindFaultyApi();
    const trouble = world.api.trouble(INSTALLING, /\/deployments/, 'stall');
    const {exit, result} = await installThrough(world, helm, TIME_TO_GET_THERE);
    expect({exit, code: result.error?.code}).toEqual({exit: 6, code: 'TIMED_OUT'});
    expect(result.error.message).toMatch(/It was asked to end.*Done before: Create Secret scalr-agent-token/);
    trouble.end();
    await expectWholeness(world.place, helm, argv);
  });
});

test('who is asked to come again comes again, at every stage', async () => {
  const world = await behindFaultyApi();
  const stages = [...READING, ...APPLYING, ...HELM, LOOK, LOGS];
  const troubles = stages.map(([, method, path]) => world.api.trouble(method, path, {status: 429, retryAfter: 1}, 1));
  expect(await installThrough(world, anyHelm)).toMatchObject({exit: 0, result: {agent: 'registered'}});
  expect(troubles.map((each) => each.count())).toEqual(stages.map(() => 1));
});

test('an API server that takes half a second for every list is fast enough', async () => {
  const world = await behindFaultyApi();
  const trouble = world.api.trouble('GET', /\?.*(limit|labelSelector)=/, {delayMs: 500});
  expect(await installThrough(world, anyHelm)).toMatchObject({exit: 0, result: {agent: 'registered'}});
  expect(trouble.count()).toBeGreaterThan(7);
});

test('a question of helm that gets no answer ends with the time', async () => {
  const world = await behindFaultyApi();
  world.api.trouble('GET', /\/secrets\?labelSelector/, 'stall');
  const {exit, result} = await installThrough(world, anyHelm, TIME_TO_GET_THERE);
  expect({exit, code: result.error.code}).toEqual({exit: 1, code: 'CLUSTER_UNREACHABLE'});
  expect(result.error.message).toContain('helm history failed: there was no answer in time');
});

test('values that could not be read are not taken for none', async () => {
  const world = await behindFaultyApi();
  await installThrough(world, anyHelm);
  // The first list is the history, the second one is for the values.
  const [, method, path] = READING[2] as Stage;
  world.api.trouble(method, path, {delayMs: 0}, 1);
  world.api.trouble(method, path, {status: 503}, 1);
  const {exit, result} = await installThrough(world, anyHelm);
  expect({exit, code: result.error?.code}).toEqual({exit: 1, code: 'CLUSTER_UNREACHABLE'});
  expect(result.error.message).toMatch(/^helm get failed/);
});
