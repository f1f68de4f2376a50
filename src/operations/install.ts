import {isBelow as isOlder} from '../charts/charts.ts';
import {scalrChart} from '../charts/releases/chart-name.ts';
import {comparePaths} from '../cluster/diff/live-diff.ts';
import {isRestored, type ObjectDrift} from '../cluster/diff/live-drift.ts';
import {rollback, upgradeInstall} from '../cluster/helm/release-calls.ts';
import {markedFailed, type ReleaseRecord} from '../cluster/helm/release-record.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {apiFailure} from '../cluster/kubernetes/api-error.ts';
import {applyObjects, replaceObject, scale} from '../cluster/kubernetes/changes.ts';
import {serverVersion} from '../cluster/kubernetes/discovery.ts';
import type {KubernetesObject, Workload} from '../cluster/kubernetes/objects.ts';
import {ownLabels} from '../cluster/kubernetes/own-objects.ts';
import {REQUIRED_MS} from '../cluster/kubernetes/resources.ts';
import {
  type DesiredRelease,
  type RenderedRelease,
  renderChart,
} from '../cluster/release/desired-release.ts';
import {type Inventory, inventoryOf} from '../cluster/release/inventory.ts';
import {readInventory} from '../cluster/release/read-inventory.ts';
import {type InstallFacts, isPending, readFacts} from '../cluster/release/read-release.ts';
import {callText} from '../ground/call-arguments.ts';
import {kubectlCommand, ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {failed} from '../ground/errors.ts';
import {warningOf} from '../ground/finding.ts';
import {few} from '../ground/text.ts';
import {sameTree} from '../ground/tree.ts';
import type {GeneratedValues} from '../values/generate.ts';
import {effectiveGet} from '../values/reading/read-values.ts';
import {
  requireSecrets,
  restartSteps,
  rotatedWarnings,
  secretSteps,
  unusedSecretWarnings,
  userWarnings,
  withSecretUsers,
} from './install-secrets.ts';
import {claimsToKeep, keepClaimSteps} from './kept-claims.ts';
import {lostValues} from './lost-values.ts';
import {type PendingChoices, requireAborted} from './pending-operation.ts';
import {renderedObject} from './removal.ts';
import {runWarnings} from './restart-warnings.ts';
import {inOrder, type Plan, type Step} from './step.ts';
import {permissionsOfUpgrade, removedByUpgrade} from './step-permissions.ts';
import {drainSteps, drainWarnings, inFlight} from './uninstall.ts';

export interface InstallChoices extends PendingChoices {
  /** How long to wait for runs before another chart replaces the current one. */
  drainTimeoutSeconds: number;
}

/** Reads the cluster and renders the chart; changes nothing. @throws ExpectedError */
export async function prepareInstall(
  {settings, effective}: GeneratedValues,
  desired: DesiredRelease,
  access: ClusterAccess,
  {signal, ...choices}: InstallChoices & {signal: AbortSignal},
): Promise<{facts: InstallFacts; manifest: readonly KubernetesObject[]; plan: Plan}> {
  const names = desired.secrets.map((secret) => secret.name);
  const reading = readFacts(desired.name, names, access, signal);
  const rendering = serverVersion(access.kubernetes, {signal, idleMs: REQUIRED_MS}).then(
    ({version = '', error}) => {
      // Without a manifest, every installed object would be taken for a removed one.
      if (error) throw apiFailure(error, desired.name.kubeTarget);
      const get = effectiveGet(settings, effective);
      return renderChart(desired, {serverVersion: version}, get, access.processes);
    },
  );
  rendering.catch(() => undefined);
  const read = await reading;
  // Of a release that was uninstalled with --keep-history, nothing is left to change or to keep.
  const present =
    read.release?.status === 'uninstalled'
      ? {...read, release: undefined, installed: [], drift: []}
      : read;
  const facts = await withSecretUsers(present, desired, access.kubernetes, signal);
  const manifest = await rendering;
  const before = scalrChart(facts.release?.chart ?? '')?.chart;
  const isReplaced = before !== undefined && before !== desired.chart.chart;
  const replaced = isReplaced
    ? inventoryOf(await readInventory(desired.name, facts, access, signal))
    : undefined;
  const plan = planInstall({...desired, manifest}, {...facts, replaced}, choices);
  // A chart that is replaced is drained first.
  const ofRuns = isReplaced
    ? []
    : await runWarnings({name: desired.name, steps: plan.steps, manifest, facts}, access, signal);
  return {facts, manifest, plan: {...plan, warnings: [...ofRuns, ...(plan.warnings ?? [])]}};
}

/** Steps from the current state to the desired release; empty without changes. Pure. @throws ExpectedError */
export function planInstall(
  desired: RenderedRelease,
  facts: InstallFacts & {replaced?: Inventory | undefined},
  choices: InstallChoices,
): Plan {
  requireSecrets(desired, facts);
  const {replaced} = facts;
  const drain = {drain: true, drainTimeoutSeconds: choices.drainTimeoutSeconds};
  const howToBreakOff = `To interrupt the runs, uninstall the release, then install again: ${ownCommand('uninstall', desired.name, '--no-drain')}`;
  const claims = claimsToKeep(desired, facts);
  const release = releaseSteps(desired, facts, claims, choices);
  const isChanged = release.release.length > 0;
  const keptClaims = isChanged ? claims : [];
  const risk = riskOf(desired, facts);
  return {
    ...(risk === undefined ? {} : {risk}),
    warnings: [
      ...(replaced
        ? drainWarnings(replaced, drain).map((message) => warningOf('RUNS', message))
        : []),
      ...rotatedWarnings(desired, facts),
      ...userWarnings(desired, facts),
      ...(isChanged ? unusedSecretWarnings(desired, facts) : []),
      ...(isChanged ? contested(desired, facts) : []).map(({object, manager, paths}) =>
        warningOf(
          'OBJECT_NOT_OWNED',
          `Helm changes fields of ${object} that ${manager} sets: ${few(paths)}.`,
        ),
      ),
    ],
    steps: inOrder({
      namespace: namespaceSteps(desired, facts),
      secrets: secretSteps(desired, facts),
      start: startSteps(desired, facts),
      drain: replaced ? drainSteps(desired.name, replaced, drain, howToBreakOff) : [],
      keep: keepClaimSteps(keptClaims, desired.name),
      ...release,
      restore: customResourceSteps(desired, facts),
      restart: restartSteps(desired, facts),
    }),
    lostValues: isChanged ? lostValues(desired, facts) : [],
    keptClaims,
  };
}

/** Another chart under the same release, or an older version of it. */
function riskOf(
  {name, chart}: RenderedRelease,
  {release, replaced}: InstallFacts & {replaced?: Inventory | undefined},
): string | undefined {
  const installed = scalrChart(release?.chart ?? '');
  if (installed === undefined) return undefined;
  if (installed.chart !== chart.chart) {
    const runs =
      replaced?.runsOf === undefined
        ? 'its runs in flight cannot be counted'
        : inFlight(replaced.runs);
    return `This replaces ${release?.chart} in release ${name.release} with ${chart.chart}-${chart.version}; ${runs}.`;
  }
  return isOlder(chart.version, installed.version)
    ? `This downgrades ${chart.chart} from ${installed.version} to ${chart.version}.`
    : undefined;
}

function namespaceSteps({name}: RenderedRelease, {namespace}: InstallFacts): Step[] {
  const {kubeTarget} = name;
  if (namespace !== undefined) return [];
  const object = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {name: kubeTarget.namespace, labels: ownLabels(name.release)},
  };
  return [
    {
      id: 'namespace',
      title: `Create namespace ${kubeTarget.namespace}`,
      call: applyObjects(kubeTarget, [object]),
    },
  ];
}

/** Workloads that an interrupted uninstall scaled to 0; Helm does not detect this. */
const startable = (
  manifest: readonly KubernetesObject[],
  stopped: InstallFacts['stopped'],
): Workload[] =>
  (manifest as readonly Workload[]).filter(
    ({kind, metadata, spec}) => stopped.has(`${kind} ${metadata.name}`) && spec?.replicas !== 0,
  );

const startSteps = (
  {name: {kubeTarget}, manifest}: RenderedRelease,
  {stopped}: InstallFacts,
): Step[] =>
  startable(manifest, stopped).map(({kind = '', metadata: {name}, spec}) => ({
    id: `start/${name}`,
    title: `Scale up ${kind} ${name} from 0`,
    call: scale(kubeTarget, {kind, name}, spec?.replicas ?? 1),
    workloads: [{kind, name}],
  }));

/** The change by Helm, and what must come before it. */
function releaseSteps(
  desired: RenderedRelease,
  facts: InstallFacts,
  keptClaims: readonly string[],
  choices: InstallChoices,
): {definitions?: Step[]; unlock?: Step[]; release: Step[]} {
  const {name, chart, values, manifest} = desired;
  const {release} = facts;
  const id = `${chart.chart}-${chart.version}`;
  const changed = changedObjects(desired, facts);
  const step = helmStep(desired, facts, keptClaims, changed.length > 0);
  if (release === undefined)
    return {release: [{...step, title: `Install ${id} as release ${name.release}`}]};
  const isSame = release.chart === id && sameTree(release.values, values);
  if (release.status === 'deployed' && isSame && changed.length === 0) return {release: []};
  const restore = `Restore ${changed.map(({object}) => object).join(', ')} (release ${name.release})`;
  const change =
    release.chart === id
      ? `Update release ${name.release} (${id})`
      : `${verbOf(chart, release)} release ${name.release} from ${release.chart} to ${id}`;
  requireNoOtherManager(desired, facts);
  const title = isSame && changed.length > 0 ? restore : change;
  const upgrade = {
    ...(release.chart === id ? {} : {definitions: definitionSteps(manifest, name)}),
    release: [{...step, title}],
  };
  if (!isPending(release)) return upgrade;
  requireAborted(name, release, choices);
  if (release.record === undefined) {
    const state = `Release ${name.release} is ${release.status} (revision ${release.revision})`;
    throw failed(
      'RELEASE_BUSY',
      `${state} and cannot be unlocked, because Helm does not store it in a Secret.`,
      [`Roll back to the previous revision: ${callText(rollback(name))}`],
    );
  }
  // Helm rejects to change a release with a pending operation.
  const unlock = `Mark the pending operation as failed (${release.status}, revision ${release.revision}, ${release.updated})`;
  return {
    ...upgrade,
    unlock: [
      {
        id: 'unlock',
        title: unlock,
        call: replaceObject(name.kubeTarget, markedFailed(release.record)),
      },
    ],
  };
}

/** The call of helm, with the permissions that it requires and the objects that it deletes. */
function helmStep(
  desired: RenderedRelease,
  facts: InstallFacts,
  keptClaims: readonly string[],
  isDrifted: boolean,
): Omit<Step, 'title'> {
  const {name, chart, yaml, manifest} = desired;
  const removed = removedByUpgrade(manifest, facts.installed, keptClaims);
  return {
    id: 'release',
    call: upgradeInstall(name, chart, yaml, {
      forcesConflicts: facts.release?.isServerSide === true && isDrifted,
    }),
    permissions: permissionsOfUpgrade(desired, facts, keptClaims),
    deletes: removed.map((each) => renderedObject(each, name.kubeTarget.namespace)),
  };
}

function verbOf({chart, version}: DesiredRelease['chart'], release: ReleaseRecord): string {
  const installed = scalrChart(release.chart);
  if (installed !== undefined && installed.chart !== chart) return 'Change the chart of';
  return installed !== undefined && isOlder(version, installed.version) ? 'Downgrade' : 'Upgrade';
}

/** Objects that differ from the installed manifest; workloads scaled to 0 have their own step. */
const changedObjects = (
  {manifest}: RenderedRelease,
  {drift, stopped}: InstallFacts,
): readonly ObjectDrift[] => {
  const started = new Set(
    startable(manifest, stopped).map(({kind, metadata}) => `${kind} ${metadata.name}`),
  );
  return drift.filter(
    ({object, problem, paths}) =>
      isRestored({object, problem, paths}) &&
      !(started.has(object) && paths.every((path) => path === 'spec.replicas')),
  );
};

/** Fields that another program sets, and that the new manifest has as the installed one. */
const contested = (
  {manifest}: RenderedRelease,
  {drift, installed}: InstallFacts,
): readonly ObjectDrift[] =>
  drift.filter(({object, manager, paths}) => {
    const [before, after] = [installed, manifest].map((all) =>
      all.find(({kind, metadata}) => `${kind} ${metadata.name}` === object),
    );
    if (manager === undefined || before === undefined || after === undefined) return false;
    const {changed} = comparePaths(after, before);
    return paths.some((path) => !changed.includes(path));
  });

/** With server-side apply, Helm rejects such a change, unless it takes the fields away from the other program. */
function requireNoOtherManager(desired: RenderedRelease, facts: InstallFacts): void {
  const [first] = facts.release?.isServerSide ? contested(desired, facts) : [];
  if (first === undefined) return;
  const {object, manager, paths} = first;
  throw failed(
    'OBJECT_NOT_OWNED',
    `${manager} sets ${few(paths)} of ${object}, and Helm does not change fields that another program manages.`,
    [
      `Let ${manager} ignore these fields, then run the same command again`,
      `Or give the release the same values, which are shown by: ${kubectlCommand(desired.name.kubeTarget, 'get', object.replace(' ', '/').toLowerCase(), '--namespace', desired.name.kubeTarget.namespace, '--output', 'yaml')}`,
    ],
  );
}

/** Helm installs CustomResourceDefinitions with a new release only, and a newer chart may need newer ones: docs/charts/upgrades.md. */
function definitionSteps(manifest: readonly KubernetesObject[], {kubeTarget}: ReleaseName): Step[] {
  const items = manifest.filter(({kind}) => kind === 'CustomResourceDefinition');
  const call = applyObjects(kubeTarget, items, {takesOver: true});
  return items.length === 0
    ? []
    : [{id: 'definitions', title: 'Apply the CRDs of the new chart', call}];
}

/** With client-side apply, Helm patches a custom resource by the difference of its manifests and ignores changes in the cluster. */
function customResourceSteps(desired: RenderedRelease, facts: InstallFacts): Step[] {
  if (facts.release?.isServerSide) return [];
  const changed = new Set(
    changedObjects(desired, facts).flatMap(({object, problem}) =>
      problem === 'changed' ? [object] : [],
    ),
  );
  return desired.manifest
    .filter(
      ({apiVersion = '', kind, metadata}) =>
        isCustomApiVersion(apiVersion) && changed.has(`${kind} ${metadata.name}`),
    )
    .map((object) => ({
      id: `restore/${object.metadata.name}`,
      title: `Restore ${object.kind} ${object.metadata.name}`,
      call: applyObjects(desired.name.kubeTarget, [object], {takesOver: true}),
    }));
}

export const isCustomApiVersion = (apiVersion: string): boolean =>
  !/^v1$|^(apps|batch|policy)\/|\.k8s\.io\//.test(apiVersion);
