import {once} from 'node:events';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createServer, request} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout} from 'node:timers/promises';
import {expect, inject, onTestFinished, test} from 'vitest';
import type {ApiReader} from '../../../src/cluster/kubernetes/client.ts';
import {kubernetesClient} from '../../../src/cluster/kubernetes/connect.ts';
import {servedResources} from '../../../src/cluster/kubernetes/discovery.ts';
import {proxy} from '../../../src/cluster/kubernetes/kubectl.ts';
import {
  type ApiProxy,
  rawClient,
  startProxy,
} from '../../../src/cluster/kubernetes/kubectl-processes.ts';
import {reviewAccess} from '../../../src/cluster/kubernetes/permissions.ts';
import {listAll} from '../../../src/cluster/kubernetes/resources.ts';
import {accountWith} from '../../control-plane/accounts.ts';
import {faultyApi} from '../../control-plane/faulty-api.ts';
import {findKubectl} from '../../control-plane/kubectl.ts';
import {pod} from '../../control-plane/objects.ts';
import {type Workplace, workplace} from '../../control-plane/workplace.ts';
import {logOf, running} from '../../ground/system/running-pods.ts';
import {readLog} from './read-log.ts';

const signal = new AbortController().signal;

async function apiOf(kubeconfig: string, namespace = 'default'): Promise<ApiReader> {
  const api = kubernetesClient({kubeconfig, namespace}, {kubectl: await findKubectl()});
  onTestFinished(() => api.close());
  return api;
}

test.runIf(inject('simulated'))('the logs of 200 containers come over one proxy', async () => {
  const place = await workplace();
  const {namespace} = place;
  const pods = await running(place, 20, 10, ['first', 'second']);
  const api = await apiOf(place.kubeconfig, namespace);
  const list = await listAll(api, `/api/v1/namespaces/${namespace}/pods`, {signal}, 7);
  expect(list.items).toHaveLength(20);
  const paths = pods.flatMap((name) =>
    Array.from({length: 10}, (_, index) => logOf(namespace, name, `c${index}`)),
  );
  const logs = await Promise.all(
    paths.map(async (path) => readLog(await api.stream(path, {signal}))),
  );
  expect(logs).toEqual(paths.map(() => ({text: 'first\nsecond\n', error: undefined})));
});

test.runIf(inject('simulated'))(
  'a log that breaks off, stalls or is refused for a while is told apart behind a real proxy',
  async () => {
    const place = await workplace();
    const {namespace} = place;
    await running(place, 1, 1, ['first', 'second']);
    const faulty = await faultyApi(place.kubeconfig);
    const api = await apiOf(faulty.kubeconfig, namespace);
    const path = logOf(namespace, 'agent-0', 'c0');
    faulty.inject('GET', /\/log/, {status: 429, retryAfter: 1}, 1);
    faulty.inject('GET', /\/log/, {status: 503}, 1);
    expect(await readLog(await api.stream(path, {signal}))).toEqual({
      text: 'first\nsecond\n',
      error: undefined,
    });
    const cut = faulty.inject('GET', /\/log/, 'cut');
    expect(await readLog(await api.stream(path, {signal}))).toMatchObject({
      text: expect.stringMatching(/^first/),
      error: {kind: 'truncated'},
    });
    cut.end();
    const stall = faulty.inject('GET', /\/log/, 'stall');
    expect(await api.stream(path, {signal, idleMs: 500})).toMatchObject({error: {kind: 'stalled'}});
    stall.end();
    faulty.stop();
    const start = Date.now();
    expect(await api.stream(path, {signal})).toMatchObject({error: {kind: 'unreachable'}});
    expect(await api.get('/version', {signal})).toMatchObject({error: {kind: 'unreachable'}});
    expect(Date.now() - start).toBeLessThan(60_000);
  },
);

test('what the account may not read, what has gone and what has not begun are told apart, by both ways', async () => {
  const place = await workplace();
  const {kubectl, namespace} = place;
  await kubectl.apply(
    pod('waiting', {
      spec: {nodeSelector: {nowhere: 'here'}, containers: [{name: 'c0', image: 'x'}]},
    }),
  );
  const kubeconfig = await accountWith(
    [{apiGroups: [''], resources: ['pods'], verbs: ['get', 'list']}],
    place,
  );
  const admin = await apiOf(place.kubeconfig, namespace);
  for (const api of [
    await apiOf(kubeconfig, namespace),
    rawClient({kubeconfig, namespace}, await findKubectl()),
  ]) {
    expect(
      (await listAll(api, `/api/v1/namespaces/${namespace}/pods`, {signal})).items,
    ).toHaveLength(1);
    expect(await api.get(`/api/v1/namespaces/${namespace}/pods/gone`, {signal})).toEqual({
      error: {kind: 'not-found', status: 404, message: 'pods "gone" not found'},
    });
    expect(await api.stream(logOf(namespace, 'waiting', 'c0'), {signal})).toMatchObject({
      error: {kind: 'forbidden', status: 403},
    });
    expect(await api.get('/api/v1/nodes', {signal})).toMatchObject({
      error: {kind: 'forbidden', message: expect.stringContaining('nodes')},
    });
  }
  for (const api of [admin, rawClient(place, await findKubectl())]) {
    expect(await api.stream(logOf(namespace, 'gone', 'c0'), {signal})).toMatchObject({
      error: {kind: 'not-found'},
    });
    expect(await readLog(await api.stream(logOf(namespace, 'waiting', 'c0'), {signal}))).toEqual({
      text: '',
      error: undefined,
    });
  }
});

test.runIf(inject('simulated'))('a log that is read late is whole, by both ways', async () => {
  const place = await workplace();
  const {namespace} = place;
  await running(place, 1, 1, ['first', 'second']);
  for (const api of [
    await apiOf(place.kubeconfig, namespace),
    rawClient(place, await findKubectl()),
  ]) {
    const stream = await api.stream(logOf(namespace, 'agent-0', 'c0'), {signal});
    await setTimeout(500);
    expect(await readLog(stream)).toEqual({text: 'first\nsecond\n', error: undefined});
  }
});

test('the role of Kubernetes that may only view suffices', async () => {
  const place = await workplace();
  const api = await apiOf(await accountWith('view', place), place.namespace);
  expect(
    await listAll(api, `/api/v1/namespaces/${place.namespace}/serviceaccounts`, {signal}),
  ).toMatchObject({
    items: [{metadata: {name: 'default'}}],
  });
});

/** What a proxy answers to any request. */
async function proxyOf(place: Workplace) {
  const started = (await startProxy(
    (socket) => proxy(place, socket),
    await findKubectl(),
    signal,
  )) as ApiProxy;
  onTestFinished(() => started.stop());
  return async (method: string, path: string, body?: object): Promise<number | undefined> => {
    const type = method === 'PATCH' ? 'merge-patch+json' : 'json';
    const headers = {host: 'localhost', ...(body ? {'content-type': `application/${type}`} : {})};
    const call = request({socketPath: started.socketPath, method, path, headers}).end(
      body && JSON.stringify(body),
    );
    const [response] = await once(call, 'response');
    response.resume();
    return response.statusCode;
  };
}

const REVIEWS = '/apis/authorization.k8s.io/v1';
const review = (kind: string, spec: object) => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind,
  spec,
});
const MAY_LIST_PODS = review('SelfSubjectAccessReview', {
  resourceAttributes: {verb: 'list', resource: 'pods'},
});

test('an access review is answered, by both ways', async () => {
  const place = await workplace();
  const kubectl = await findKubectl();
  const client = kubernetesClient(place, {kubectl});
  onTestFinished(() => client.close());
  for (const each of [client, rawClient(place, kubectl)]) {
    expect(await reviewAccess(each, {verb: 'list', resource: 'pods'}, {signal})).toEqual({
      value: true,
    });
  }
});

test('everything served is discovered, by both ways', async () => {
  const place = await workplace();
  const kubectl = await findKubectl();
  const client = kubernetesClient(place, {kubectl});
  onTestFinished(() => client.close());
  const [aggregated, one] = await Promise.all([
    servedResources(client, {signal}),
    servedResources(rawClient(place, kubectl), {signal}),
  ]);
  expect(aggregated.error).toBeUndefined();
  expect(aggregated.served.get('deployments.apps')).toBe('apps/v1');
  expect(aggregated.served.get('pods')).toBe('v1');
  expect([...one.served.keys()].toSorted()).toEqual([...aggregated.served.keys()].toSorted());
});

test('the proxy serves reads, reviews and applied objects, deletes nothing, and leads into no container', async () => {
  const place = await workplace();
  const status = await proxyOf(place);
  expect(await status('GET', '/api/v1/namespaces')).toBe(200);
  expect(await status('POST', `${REVIEWS}/selfsubjectaccessreviews`, MAY_LIST_PODS)).toBe(201);
  expect(
    await status(
      'POST',
      `${REVIEWS}/selfsubjectrulesreviews`,
      review('SelfSubjectRulesReview', {namespace: place.namespace}),
    ),
  ).toBe(201);
  const own = `/api/v1/namespaces/${place.namespace}`;
  expect(
    await status('PATCH', `${own}?fieldManager=test&dryRun=All`, {
      metadata: {labels: {test: 'yes'}},
    }),
  ).toBe(200);
  expect(await status('DELETE', own)).toBe(403);
  const inside = `/api/v1/namespaces/${place.namespace}/pods/any`;
  for (const path of ['exec', 'attach', 'portforward', 'proxy', 'proxy/any'])
    for (const method of ['GET', 'POST'])
      expect(await status(method, `${inside}/${path}`)).toBe(403);
  expect(await status('GET', inside)).toBe(404);
});

test('a cluster that is served below a path is reached there', async () => {
  const server = createServer(({url}, outgoing) => void outgoing.end(JSON.stringify(url)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'below-'));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, {recursive: true});
  });
  const {port} = server.address() as AddressInfo;
  const kubeconfig = join(folder, 'kubeconfig');
  const config = {
    'current-context': 'a',
    contexts: [{name: 'a', context: {cluster: 'a', user: 'a'}}],
    clusters: [{name: 'a', cluster: {server: `http://127.0.0.1:${port}/k8s/clusters/c-1`}}],
    users: [{name: 'a', user: {token: 'x'}}],
  };
  writeFileSync(kubeconfig, JSON.stringify({apiVersion: 'v1', kind: 'Config', ...config}));
  for (const api of [
    await apiOf(kubeconfig),
    rawClient({kubeconfig, namespace: 'default'}, await findKubectl()),
  ]) {
    expect(await api.get('/api/v1/pods?limit=1', {signal})).toMatchObject({
      status: 200,
      body: '/k8s/clusters/c-1/api/v1/pods?limit=1',
    });
  }
});
