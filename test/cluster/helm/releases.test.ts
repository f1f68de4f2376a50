import {expect, test} from 'vitest';
import {StoredReleases} from '../../../src/cluster/helm/stored-releases.ts';
import {fakeKubernetes} from '../../support/fake-kubernetes.ts';
import {chartObject, helmRecord} from '../../support/helm-record.ts';

const options = {signal: new AbortController().signal};
const kubeTarget = {namespace: 'scalr'};
const name = {release: 'agent', kubeTarget};
const agent = {name: 'agent', namespace: 'scalr', chart: 'agent-local-0.6.5'};
const recordsRead = ({requests}: {requests: readonly string[]}): string[] =>
  requests.flatMap((path) => /metadata\.name%3Dsh\.helm\.release\.v1\.(.+)$/.exec(path)?.[1] ?? []);

test('the newest revision is that with the highest number, whatever the order of names', async () => {
  const objects = [9, 10, 2].map((revision) =>
    helmRecord({...agent, revision, status: revision === 2 ? 'deployed' : 'failed'}),
  );
  const releases = new StoredReleases(fakeKubernetes({objects}));
  expect((await releases.newest(name, options)).object?.revision).toBe(10);
  expect((await releases.deployed(name, options)).object?.revision).toBe(2);
  expect((await releases.history(name, options)).items.map(({revision}) => revision)).toEqual([
    2, 9, 10,
  ]);
});

test('a release that does not exist has no revision', async () => {
  const releases = new StoredReleases(
    fakeKubernetes({objects: [helmRecord({...agent, name: 'other'})]}),
  );
  expect(await releases.newest(name, options)).toEqual({object: undefined});
});

const neighbors = [
  helmRecord({...agent, values: {a: 1}}),
  chartObject(agent),
  helmRecord({...agent, name: 'nginx', chart: 'nginx-1.0.0'}),
  chartObject({...agent, name: 'nginx', chart: 'nginx-1.0.0'}),
  helmRecord({...agent, name: 'without-objects', chart: 'crds-1.0.0'}),
  helmRecord({...agent, name: 'failed', status: 'failed'}),
];

test('records of deployed releases without objects of the three charts are not read', async () => {
  const objects = neighbors;
  const kubernetes = fakeKubernetes({objects});
  const {items} = await new StoredReleases(kubernetes).list(
    {namespace: 'another'},
    {...options, everywhere: true},
  );
  expect(items.map(({name, chart, values}) => [name, chart, values])).toEqual([
    ['agent', 'agent-local-0.6.5', {a: 1}],
    ['nginx', '', undefined],
    ['without-objects', '', undefined],
    ['failed', 'agent-local-0.6.5', {}],
  ]);
  expect(recordsRead(kubernetes)).toEqual(['agent.v1', 'failed.v1']);
});

test('all records of the own namespace are read', async () => {
  const kubernetes = fakeKubernetes({objects: neighbors});
  const {items} = await new StoredReleases(kubernetes).list(kubeTarget, {
    ...options,
    everywhere: true,
  });
  expect(items.map(({name, chart}) => [name, chart])).toContainEqual(['nginx', 'nginx-1.0.0']);
});

test('all records are read if objects of the charts cannot be listed', async () => {
  const kubernetes = fakeKubernetes({objects: neighbors, refuse: ['serviceaccounts']});
  const {items} = await new StoredReleases(kubernetes).list(
    {namespace: 'another'},
    {...options, everywhere: true},
  );
  expect(items.map(({name, chart}) => [name, chart])).toContainEqual([
    'without-objects',
    'crds-1.0.0',
  ]);
});

test('lists the newest revision of each release, without uninstalled ones', async () => {
  const objects = [
    helmRecord({...agent, status: 'superseded'}),
    helmRecord({...agent, revision: 2, status: 'pending-upgrade'}),
    helmRecord({...agent, name: 'kept', status: 'uninstalled'}),
    helmRecord({...agent, namespace: 'other'}),
    chartObject({...agent, namespace: 'other'}),
  ];
  const releases = new StoredReleases(fakeKubernetes({objects}));
  const {items} = await releases.list(kubeTarget, {...options, everywhere: true});
  expect(items.map(({name, namespace, status}) => [name, namespace, status])).toEqual([
    ['agent', 'scalr', 'pending-upgrade'],
    ['agent', 'other', 'deployed'],
  ]);
});

test('a Secret of Helm without a release is named, with the chart of its objects, and does not hide other releases', async () => {
  const broken = {...helmRecord({...agent, name: 'broken'}), data: {release: 'bm8gcmVsZWFzZQ=='}};
  const releases = new StoredReleases(
    fakeKubernetes({
      objects: [
        broken,
        chartObject({...agent, name: 'broken'}),
        helmRecord(agent),
        chartObject(agent),
      ],
    }),
  );
  const message =
    'Secret sh.helm.release.v1.broken.v1 has the labels of a Helm release, but contains none';
  const steps = [
    'Check whether Helm lists revision 1: helm history broken --namespace scalr',
    'If not, delete the Secret: kubectl delete secret sh.helm.release.v1.broken.v1 --namespace scalr',
  ];
  expect(await releases.newest({release: 'broken', kubeTarget}, options)).toEqual({
    error: {kind: 'refused', message, steps},
  });
  const {items, error} = await releases.list(kubeTarget, {...options, everywhere: false});
  expect({items: items.map(({chart}) => chart), error}).toEqual({
    items: ['agent-local-0.6.5', 'agent-local-0.6.5'],
    error: undefined,
  });
});

test('an account that may not list Secrets gets the reason', async () => {
  const {items, error} = await new StoredReleases(fakeKubernetes({refuse: ['secrets']})).list(
    kubeTarget,
    {...options, everywhere: true},
  );
  expect({items, kind: error?.kind}).toEqual({items: [], kind: 'forbidden'});
});
