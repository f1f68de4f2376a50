import {describe, expect, test} from 'vitest';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {type Fault, faultyApi} from '../control-plane/faulty-api.ts';
import {expectWholeness, installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {isAlive} from '../support/is-alive.ts';
import {startProgram} from '../support/killed-run.ts';
import {install} from '../support/run-on-cluster.ts';

const helms = await findHelmMatrix();
const argv = await stepFlags('agent-local');

type Moment = [moment: string, method: string, path: RegExp, fault: Fault];

const READING: Moment = ['while it reads', 'GET', /\/secrets\?labelSelector/, 'stall'];
const BEFORE_HELM: Moment[] = [
  ['before the Secret exists', 'PATCH', /\/secrets\/scalr-agent-token/, 'stall'],
  ['after the Secret is created', 'PATCH', /\/secrets\/scalr-agent-token/, 'lose'],
];
const RECORDED: Moment = ['after helm has written its record', 'POST', /\/secrets/, 'lose'];
const HALF: Moment = [
  'after helm has created some of the objects',
  'POST|PATCH',
  /\/deployments/,
  'lose',
];
const DONE: Moment = ['after helm has created all objects', 'PUT', /\/secrets/, 'stall'];
const AFTER_HELM: Moment[] = [
  ['while it watches the release', 'GET', /\/replicasets\?limit/, 'stall'],
];

/** A run that has come to that moment and stays in it. */
async function runTo([, method, path, fault]: Moment, helm: string, more: readonly string[] = []) {
  const place = await installPlace();
  if (more.length > 0) await install(place, helm, [...argv, '--yes'], {env: TOKEN});
  const api = await faultyApi(place.kubeconfig);
  const injected = api.inject(method, path, fault, 1);
  const run = startProgram('install', place, api, helm, [
    '--url',
    'https://acme.scalr.io',
    ...argv,
    '--yes',
    ...more,
  ]);
  await injected.hit;
  return {place, api, injected, run};
}

describe.each(helms)('Helm $major', ({path: helm}) => {
  test.each([
    RECORDED,
    HALF,
  ])('recovers on the next run when it is killed together with helm %s', async (...moment) => {
    const {place, run} = await runTo(moment, helm);
    run.signal('SIGKILL');
    process.kill(run.helmPid(), 'SIGKILL');
    expect(await run.ended).toMatchObject({signal: 'SIGKILL'});
    await expectWholeness(place, helm, argv);
  });

  test('recovers on the next run when it is killed together with helm during an upgrade', async () => {
    const change = ['--extra-env', 'TEAM=a'];
    const {place, run} = await runTo(['', 'PATCH|PUT', /\/deployments/, 'stall'], helm, change);
    run.signal('SIGKILL');
    process.kill(run.helmPid(), 'SIGKILL');
    await run.ended;
    const records = await place.kubectl(
      'get',
      'secrets',
      '--selector=owner=helm',
      '--output',
      'jsonpath={.items[*].metadata.labels.status}',
    );
    expect(records).toBe('deployed pending-upgrade');
    await expectWholeness(place, helm, [...argv, ...change]);
  });

  test('changes nothing on the next run when helm survives the kill and completes', async () => {
    const {place, injected, run} = await runTo(['', 'POST|PATCH', /\/deployments/, 'stall'], helm);
    run.signal('SIGKILL');
    await run.ended;
    injected.end();
    const records = () =>
      place.kubectl(
        'get',
        'secrets',
        '--selector=owner=helm',
        '--output',
        'jsonpath={.items[*].metadata.labels.status}',
      );
    await expect.poll(records).toBe('deployed');
    const {stdout} = await install(place, helm, [...argv, '--yes', '--json'], {env: TOKEN});
    expect(JSON.parse(stdout)).toMatchObject({changed: false, agent: 'registered'});
  });

  test('keeps the release intact when helm survives the kill and ends after the next run', async () => {
    const {place, injected, run} = await runTo(['', 'POST|PATCH', /\/deployments/, 'stall'], helm);
    run.signal('SIGKILL');
    await run.ended;
    const {stdout} = await install(place, helm, [...argv, '--take-over', '--yes', '--json'], {
      env: TOKEN,
    });
    expect(JSON.parse(stdout)).toMatchObject({changed: true, agent: 'registered'});
    injected.end();
    await expect.poll(() => isAlive(run.helmPid())).toBe(false);
    await expectWholeness(place, helm, argv);
  });

  test.each([HALF, DONE])('lets helm stop cleanly on Ctrl-C %s', async (...moment) => {
    const {place, run} = await runTo(moment, helm);
    run.signal('SIGINT');
    const {stderr, exitCode} = await run.ended;
    expect({exitCode, stderr}).toEqual({
      exitCode: 130,
      stderr: expect.stringContaining('Interrupted'),
    });
    expect(isAlive(run.helmPid())).toBe(false);
    await expectWholeness(place, helm, argv);
  });
});

const [{path: anyHelm} = {path: 'helm'}] = helms;

describe.each([...BEFORE_HELM, ...AFTER_HELM])('%s', (...moment) => {
  test.each(['SIGKILL', 'SIGINT'] as const)('recovers on the next run after %s', async (signal) => {
    const {place, run} = await runTo(moment, anyHelm);
    run.signal(signal);
    const end =
      signal === 'SIGINT'
        ? {exitCode: 130, stderr: expect.stringContaining('Run the same command again to continue')}
        : {signal};
    expect(await run.ended).toMatchObject(end);
    await expectWholeness(place, anyHelm, argv);
  });
});

test('stops its tools and changes nothing on Ctrl-C while it reads the release', async () => {
  const {place, run} = await runTo(READING, anyHelm);
  run.signal('SIGINT');
  expect(await run.ended).toMatchObject({
    exitCode: 130,
    stderr: expect.stringContaining('Interrupted. Nothing was changed.'),
  });
  await expect.poll(() => isAlive(run.proxyPid())).toBe(false);
  expect(await place.kubectl('get', 'secrets,deployments', '--output', 'name')).toBe('');
});
