import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {type Account, account, type Permission} from '../control-plane/accounts.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {chartFlags, expectWholeness, installPlace, TOKEN} from '../support/install-place.ts';
import {install} from '../support/run-on-cluster.ts';

const helms = await findHelm();
const [{path: helm} = {path: 'helm'}] = helms;

const may = (resource: string, verbs: string, group = ''): Permission[] =>
  verbs.split(' ').map((verb) => ({group, resource, verb}));

/** What every installation needs, whatever the chart. */
const ALWAYS: readonly Permission[] = [
  ...may('namespaces', 'get create patch'),
  ...may('secrets', 'get list create patch update delete'),
  ...['pods', 'events', 'persistentvolumeclaims'].flatMap((each) => may(each, 'list')),
  ...may('pods/log', 'get'),
  ...may('pods', 'get'),
  ...['deployments', 'daemonsets', 'replicasets'].flatMap((each) => may(each, 'list', 'apps')),
  ...may('jobs', 'list', 'batch'),
];

interface Made {
  apiVersion: string;
  kind: string;
}

/** What helm does with the objects of the chart, from the objects themselves. */
async function permissionsFor(chart: ChartName): Promise<Permission[]> {
  const source = (await chartFlags(chart)).at(-1) as string;
  const values = ['agent.url=https://x', 'agent.tokenExistingSecret.name=x'];
  const given =
    chart === 'agent-k8s' ? ['agent.url=https://x', 'agent.tokenExistingSecret=x'] : values;
  const {stdout} = await execa(helm, [
    'template',
    'scalr-agent',
    source,
    '--include-crds',
    '--kube-version',
    '1.35.0',
    ...given.flatMap((each) => ['--set', each]),
  ]);
  const objects = parseAllDocuments(stdout).flatMap((each) => (each.toJS() ?? []) as Made);
  const made = objects.flatMap(({apiVersion, kind}) => {
    const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] as string) : '';
    const resource = kind.toLowerCase().replace(/y$/, 'ie').concat('s');
    // A role may be made only by who has its rights, or may go beyond his own.
    return may(resource, `get create patch${/role$/i.test(kind) ? ' escalate bind' : ''}`, group);
  });
  const all = [...ALWAYS, ...made];
  return all.filter(
    (each, index) =>
      all.findIndex((other) => JSON.stringify(other) === JSON.stringify(each)) === index,
  );
}

const without = (all: readonly Permission[], {group, resource, verb}: Permission): Permission[] =>
  all.filter((each) => each.resource !== resource || each.verb !== verb || each.group !== group);

async function installAs(
  {kubeconfig}: Account,
  {namespace}: Workplace,
  argv: readonly string[],
  path = helm,
) {
  const {stdout, stderr, exit} = await install({kubeconfig, namespace}, path, [...argv, '--json'], {
    env: TOKEN,
  });
  return {exit, said: stderr, result: JSON.parse(stdout)};
}

/** Refused for the lack of one permission, it names it; with the permission the same command does all. */
async function expectNamed(chart: ChartName, lacking: Permission, path = helm): Promise<void> {
  const place = await installPlace();
  const argv = await chartFlags(chart);
  const all = await permissionsFor(chart);
  const somebody = await account(place, without(all, lacking));
  const {result} = await installAs(somebody, place, [...argv, '--yes'], path);
  expect(result.error).toMatchObject({code: 'PREFLIGHT_FAILED', exit: 3});
  const resource = [lacking.resource, ...(lacking.group ? [lacking.group] : [])].join('.');
  expect(result.error.message).toMatch(
    new RegExp(`1 of \\d+ permissions missing: ${lacking.verb} ${resource} (in |cluster-wide)`),
  );
  expect(result.error.suggestions.join()).toContain('kind: List');
  await somebody.allow(all);
  await expectWholeness({...place, kubeconfig: somebody.kubeconfig}, path, argv);
}

const named = ({verb, resource}: Permission): string => `${verb} ${resource}`;
const created = (await permissionsFor('agent-local')).filter(({verb}) => verb === 'create');
const LACKING = [...created, ...may('secrets', 'list patch'), ...may('pods', 'list')].filter(
  ({resource}) => resource !== 'namespaces',
);

test.each(
  LACKING.map((each) => ({what: named(each), each})),
)('names the missing permission when an account cannot $what for agent-local', async ({each}) => {
  await expectNamed('agent-local', each);
});

test.each(helms.slice(1))('names the missing permission with Helm $major', async ({path}) => {
  await expectNamed('agent-local', {group: 'apps', resource: 'deployments', verb: 'create'}, path);
});

const OF_CHARTS: [ChartName, Permission][] = [
  ['agent-k8s', {group: 'rbac.authorization.k8s.io', resource: 'roles', verb: 'create'}],
  ['agent-job', {group: 'rbac.authorization.k8s.io', resource: 'clusterroles', verb: 'create'}],
  [
    'agent-job',
    {group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', verb: 'create'},
  ],
];

describe('charts with roles and CRDs', () => {
  test.each(OF_CHARTS)('name the missing permission for %s: %o', async (chart, lacking) =>
    expectNamed(chart, lacking));
});

test('names the missing permission to create the namespace, and installs into an existing one', async () => {
  const place = await installPlace();
  const argv = await chartFlags('agent-local');
  const all = await permissionsFor('agent-local');
  const somebody = await account(
    place,
    without(all, {group: '', resource: 'namespaces', verb: 'create'}),
  );
  const {result} = await installAs(somebody, {...place, namespace: `${place.namespace}-new`}, [
    ...argv,
    '--yes',
  ]);
  expect(result.error).toMatchObject({
    code: 'PREFLIGHT_FAILED',
    message: expect.stringContaining('create namespaces cluster-wide'),
  });
  expect(await installAs(somebody, place, [...argv, '--yes'])).toMatchObject({exit: 0});
});

test('warns once and succeeds when events, PVCs and logs are not readable', async () => {
  const place = await installPlace();
  const hidden = ['events', 'persistentvolumeclaims', 'pods/log'];
  const somebody = await account(
    place,
    (await permissionsFor('agent-local')).filter(({resource}) => !hidden.includes(resource)),
  );
  const {exit, said, result} = await installAs(somebody, place, [
    ...(await chartFlags('agent-local')),
    '--yes',
  ]);
  expect({exit, agent: result.agent}).toEqual({exit: 0, agent: 'unknown'});
  for (const what of ['events', 'persistentvolumeclaims', 'logs'])
    expect(said.match(new RegExp(`! [A-Z_]+ {2}${what}: not readable`, 'g'))).toHaveLength(1);
  expect(said).toContain('cannot get resource "pods/log"');
});

test('shows differences and calls to a read-only account, and changes nothing', async () => {
  const place = await installPlace();
  const somebody = await account(place, [...may('*', 'get', '*'), ...may('*', 'list', '*')]);
  const argv = await chartFlags('agent-local');
  expect(await installAs(somebody, place, [...argv, '--diff', '--exit-code'])).toMatchObject({
    exit: 5,
    result: {changed: true},
  });
  const refusal = {
    code: 'PREFLIGHT_FAILED',
    message: expect.stringContaining('create, update, patch, delete secrets in '),
  };
  const tried = await installAs(somebody, place, [...argv, '--dry-run']);
  expect(tried.result.error).toMatchObject(refusal);
  expect(tried.said).toContain('1. Create Secret scalr-agent-token');
  expect((await installAs(somebody, place, [...argv, '--yes'])).result.error).toMatchObject(
    refusal,
  );
  expect(await place.kubectl('get', 'secrets,deployments', '--output', 'name')).toBe('');
});
