import {execa} from 'execa';
import {expect, test} from 'vitest';
import {faultyApi} from './faulty-api.ts';
import {findKubectl} from './kubectl.ts';
import {setLogs} from './logs.ts';
import {workplace} from './workplace.ts';

/** Runs kubectl through the faulty API; returns its output and exit code. */
async function behind() {
  const place = await workplace();
  const api = await faultyApi(place.kubeconfig);
  const path = await findKubectl();
  const kubectl = (...args: string[]) =>
    execa(path, ['--kubeconfig', api.kubeconfig, '--namespace', place.namespace, ...args], {
      reject: false,
      stdin: 'ignore',
    });
  return {place, api, kubectl};
}

test('without trouble it is the API server itself, with its errors', async () => {
  const {kubectl} = await behind();
  expect((await kubectl('get', 'serviceaccounts', '-o', 'name')).stdout).toBe(
    'serviceaccount/default',
  );
  expect((await kubectl('get', 'secret', 'none')).stderr).toContain('(NotFound)');
});

test('a status is answered as often as it was asked for, and no other request meets it', async () => {
  const {api, kubectl} = await behind();
  const injected = api.inject('GET', /\/secrets\?/, {status: 503}, 1);
  expect((await kubectl('get', 'pods')).exitCode).toBe(0);
  expect((await kubectl('get', 'secrets')).stderr).toContain('unable to handle the request');
  expect((await kubectl('get', 'secrets')).exitCode).toBe(0);
  expect(injected.count()).toBe(1);
});

test('who is told when to come again comes again', async () => {
  const {api, kubectl} = await behind();
  const injected = api.inject('GET', /\/secrets\?/, {status: 429, retryAfter: 1}, 2);
  expect((await kubectl('get', 'secrets')).exitCode).toBe(0);
  expect(injected.count()).toBe(2);
});

test('what stalls has not happened, what is lost has, and both go on in the end', async () => {
  const {place, api, kubectl} = await behind();
  for (const [fault, before] of [
    ['stall', ''],
    ['lose', 'configmap/lose'],
  ] as const) {
    const injected = api.inject('POST', /\/configmaps/, fault);
    const created = kubectl('create', 'configmap', fault);
    await injected.hit;
    expect(
      await place.kubectl(
        'get',
        'configmaps',
        '-o',
        'name',
        '--field-selector',
        `metadata.name=${fault}`,
      ),
    ).toBe(before);
    injected.end();
    expect((await created).exitCode).toBe(0);
  }
});

test('a log is cut in the middle, a connection is reset, and in the end nobody listens', async () => {
  const {place, api, kubectl} = await behind();
  await place.kubectl('run', 'agent', '--image', 'x');
  await setLogs(
    place.kubeconfig,
    {namespace: place.namespace},
    {'*': {current: ['first', 'second']}},
  );
  await place.kubectl('wait', 'pod/agent', '--for=condition=Ready');
  const logs = api.inject('GET', /\/log/, 'cut');
  expect(await kubectl('logs', 'agent')).toMatchObject({
    stdout: expect.stringMatching(/^first/),
    stderr: expect.stringMatching(/EOF/),
  });
  expect((await kubectl('logs', 'agent')).stdout).not.toContain('second');
  logs.end();
  api.inject('POST', /./, 'reset');
  expect((await kubectl('create', 'configmap', 'any')).stderr).toMatch(/reset|EOF/);
  api.stop();
  expect((await kubectl('get', 'pods')).stderr).toContain('refused');
});
