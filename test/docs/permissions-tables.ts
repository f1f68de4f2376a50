import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {newestOf, releasesOf} from '../../src/charts/releases/target.ts';
import {neededPermissions} from '../../src/checks/preflight/checks/permissions.ts';
import {PROBE_KINDS, probeSelector} from '../../src/checks/preflight/probe/probe-objects.ts';
import type {ReleaseRecord} from '../../src/cluster/helm/release-record.ts';
import {createObject} from '../../src/cluster/kubernetes/changes.ts';
import {deleteLabeled} from '../../src/cluster/kubernetes/deletions.ts';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import {ownLabels} from '../../src/cluster/kubernetes/own-objects.ts';
import {type Permission, permissionsOfCall} from '../../src/cluster/kubernetes/permissions.ts';
import {inventoryOf} from '../../src/cluster/release/inventory.ts';
import type {InstallFacts} from '../../src/cluster/release/read-release.ts';
import {permissionsToRead} from '../../src/cluster/release/roles-to-read.ts';
import {permissionsOfBundle} from '../../src/extensions/bundle/missing-access.ts';
import {Secret} from '../../src/ground/secret.ts';
import {planInstall} from '../../src/operations/install.ts';
import type {Step} from '../../src/operations/step.ts';
import {planUninstall} from '../../src/operations/uninstall.ts';
import {planUpgrade} from '../../src/operations/upgrade.ts';
import {tokenSecret as tokenSecretSetting} from '../../src/settings/agent.ts';
import {readings} from '../operations/uninstall-readings.ts';
import {CHART_OBJECTS} from './chart-objects.ts';
import {table} from './markdown.ts';
import {preflightPermissions} from './preflight-permissions.ts';

const NAMESPACE = 'scalr';
const NAME = {release: 'agent', kubeTarget: {namespace: NAMESPACE}};
const TOKEN = 'agent-token';
const CHARTS = Object.keys(CHART_OBJECTS) as ChartName[];

/** The tables of docs/permissions.md, from the calls of the plans, by the mark that surrounds them. */
export async function permissionsTables(): Promise<Readonly<Record<string, string>>> {
  const where = {namespace: NAMESPACE};
  return {
    status: permissionsTable({
      'All charts': [
        ...permissionsToRead(where),
        ...['get', 'list'].map((verb) => ({verb, resource: 'secrets', ...where})),
      ],
    }),
    bundle: permissionsTable({'All charts': permissionsOfBundle(NAMESPACE, ['secrets'])}),
    preflight: permissionsTable(
      Object.fromEntries(
        await Promise.all(
          CHARTS.map(async (chart) => [chart, await preflightPermissions(desiredOf(chart))]),
        ),
      ),
    ),
    probe: permissionsTable({'All charts': probeCalls().flatMap(permissionsOfCall)}),
    install: perChart((chart) => [
      ...permissionsOf(installSteps(chart, {})),
      ...permissionsOfPreflight(chart),
    ]),
    change: perChart((chart) => permissionsOf(installSteps(chart, installed(chart)))),
    upgrade: perChart((chart) => {
      const known = new Set(
        permissionsOf(installSteps(chart, installed(chart))).map(permissionText),
      );
      return permissionsOf(upgradeSteps(chart)).filter((each) => !known.has(permissionText(each)));
    }),
    rotate: perChart((chart) => permissionsOf(rotationSteps(chart))),
    uninstall: perChart((chart) => permissionsOf(uninstallSteps(chart))),
  };
}

/** Those without which `install` stops before it changes anything. */
const permissionsOfPreflight = (chart: ChartName): Permission[] =>
  neededPermissions(NAMESPACE, manifestOf(chart), []).filter(
    ({isOptional, orElse}) => !isOptional && orElse === undefined,
  );

const perChart = (permissionsFor: (chart: ChartName) => readonly Permission[]): string =>
  permissionsTable(Object.fromEntries(CHARTS.map((chart) => [chart, permissionsFor(chart)])));

/** A row per resource, a column per chart. */
function permissionsTable(columns: Readonly<Record<string, readonly Permission[]>>): string {
  const lists = Object.values(columns);
  const resources = [...new Set(lists.flat().map(resourceText))].toSorted();
  const rows = resources.map((resource) => [
    resource,
    ...lists.map((list) => {
      const verbs = list.filter((each) => resourceText(each) === resource).map(({verb}) => verb);
      return verbs.length === 0 ? '–' : [...new Set(verbs)].toSorted().join(', ');
    }),
  ]);
  return table(['Resource', ...Object.keys(columns)], rows);
}

const resourceText = ({resource, namespace, name}: Permission): string => {
  const scope = namespace === undefined && name === undefined ? ' (cluster-wide)' : '';
  return `\`${resource}\`${scope}`;
};

const permissionText = (each: Permission): string => `${each.verb} ${resourceText(each)}`;

const permissionsOf = (steps: readonly Step[]): Permission[] =>
  steps.flatMap(
    ({call, permissions = call.tool === 'kubectl' ? permissionsOfCall(call) : []}) => permissions,
  );

const tokenSecret = {
  metadata: {name: TOKEN, labels: ownLabels(NAME.release)},
  data: {token: Buffer.from('old').toString('base64')},
};

/** The objects of a chart, whose workloads read the token. */
const manifestOf = (chart: ChartName): KubernetesObject[] =>
  CHART_OBJECTS[chart].map((object) =>
    ['Deployment', 'DaemonSet'].includes(object.kind ?? '')
      ? {
          ...object,
          spec: {template: {spec: {containers: [{envFrom: [{secretRef: {name: TOKEN}}]}]}}},
        }
      : object,
  );

/** Helm keeps CRDs apart from the release, and never deletes them. */
const releasedObjects = (chart: ChartName): KubernetesObject[] =>
  manifestOf(chart).filter(({kind}) => kind !== 'CustomResourceDefinition');

const desiredOf = (chart: ChartName) => ({
  name: NAME,
  chart: {chart, version: newestOf(chart)},
  values: {changed: true},
  effective: {},
  explicitPaths: [],
  yaml: '',
  manifest: manifestOf(chart),
  secrets: [
    {
      name: TOKEN,
      type: 'Opaque' as const,
      data: {token: new Secret('new')},
      howToGive: {text: ''},
      setting: tokenSecretSetting,
    },
  ],
});

const CHOICES = {takesOver: false, timeoutMs: 0, drainTimeoutSeconds: 0, now: new Date()};

const NOTHING_FOUND: InstallFacts = {
  context: {name: 'c', cluster: 'c', server: 's'},
  serverVersion: 'v1.35.0',
  namespace: undefined,
  release: undefined,
  installed: [],
  drift: [],
  live: [],
  stopped: new Set<string>(),
  secrets: new Map(),
};

const installSteps = (chart: ChartName, found: Partial<InstallFacts>): Step[] =>
  planInstall(desiredOf(chart), {...NOTHING_FOUND, ...found}, CHOICES).steps.slice();

/** A release of an older version with other values, and the Secret of its token. */
const installed = (chart: ChartName): Partial<InstallFacts> => ({
  namespace: {metadata: {name: NAMESPACE}},
  release: record(chart),
  installed: releasedObjects(chart),
  secrets: new Map([[TOKEN, tokenSecret]]),
});

function record(chart: ChartName): ReleaseRecord {
  return {
    revision: 1,
    status: 'deployed',
    chart: `${chart}-${releasesOf(chart)[0]}`,
    updated: '2026-11-22T12:00:00Z',
    values: {},
    defaults: {},
    manifest: '',
    isServerSide: false,
  };
}

/** What an upgrade does besides, at worst: docs/charts/upgrades.md. */
function upgradeSteps(chart: ChartName): Step[] {
  const version = releasesOf(chart)[0] ?? '';
  const before = releasedObjects(chart);
  const isRewritten = chart === 'agent-job';
  const selector = {matchLabels: {old: 'true'}};
  const inventory = inventoryOf(
    readings(`${chart}-${version}`, {manifest: before, objects: before}),
  );
  const controllers = inventory.controllers.map((each) => ({
    ...each,
    onStop: 'interrupt' as const,
  }));
  const release = {
    name: NAME,
    target: {chart, version},
    deployed: record(chart),
    live: isRewritten ? before.map((object) => ({...object, spec: {selector}})) : before,
    users: [],
    unlisted: [],
    nodes: [],
    definitions: [],
    inventory: {
      ...inventory,
      controllers,
      runs: [{kind: 'Pod' as const, name: 'run', isCertain: true}],
      definitions: isRewritten ? [{name: 'atasks.scalr.io', neededBy: []}] : [],
    },
    facts: {
      ...NOTHING_FOUND,
      ...installed(chart),
      release: record(chart),
      installed: [...before, ...(chart === 'agent-k8s' ? [] : [CACHE])],
    },
  };
  const choices = {...CHOICES, drain: true, timeoutSeconds: 300};
  const target = {chart, version: newestOf(chart)};
  const {plan, cleanup} = planUpgrade(release, desiredOf(chart), target, choices);
  return [...plan.steps, ...cleanup];
}

const CACHE = {apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: 'cache'}};

/** What changes when only the token does. */
const rotationSteps = (chart: ChartName): Step[] =>
  installSteps(chart, installed(chart)).filter(({id}) => /^(secret|restart)\//.test(id));

const uninstallSteps = (chart: ChartName): readonly Step[] =>
  planUninstall(
    NAME,
    inventoryOf(
      readings(`${chart}-${newestOf(chart)}`, {
        manifest: releasedObjects(chart),
        objects: releasedObjects(chart),
      }),
    ),
    {purge: new Set(), drain: true, drainTimeoutSeconds: 600, timeoutSeconds: 300},
  ).plan.steps;

function probeCalls() {
  const created = [
    ['networking.k8s.io/v1', 'NetworkPolicy'],
    ['v1', 'ConfigMap'],
    ['v1', 'Pod'],
  ].map(([apiVersion = '', kind = '']) =>
    createObject(NAME.kubeTarget, {apiVersion, kind, metadata: {name: 'probe'}}),
  );
  return [...created, deleteLabeled(NAME.kubeTarget, PROBE_KINDS, probeSelector(NAME.release))];
}
