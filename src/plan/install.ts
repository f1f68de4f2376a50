import {sameTree, spellPath} from '../charts/tree.ts';
import type {ClusterAccess} from '../cluster/cluster-access.ts';
import {type Difference, driftOf} from '../cluster/drift.ts';
import {type InstallFacts, isPending, type ReleaseState} from '../cluster/install-facts.ts';
import {objectsIn} from '../cluster/manifest.ts';
import {type Claim, type KubernetesObject, ownLabels, type Workload} from '../cluster/objects.ts';
import {REQUIRED_MS, readFacts} from '../cluster/read-facts.ts';
import {markedFailed} from '../cluster/release-record.ts';
import {commandLine} from '../command-line.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {rollback, upgradeInstall} from '../helm/helm.ts';
import {applyObject, replaceObject, scale} from '../kubernetes/kubectl.ts';
import {serverVersion} from '../kubernetes/queries.ts';
import type {ReleaseName} from '../ports/processes.ts';
import type {Generated} from '../values/generate.ts';
import {effectiveGet} from '../values/read-values.ts';
import {requireSecrets, restartSteps, secretSteps} from './install-secrets.ts';
import {renderChart} from './render-chart.ts';
import type {Loss, Plan, Step} from './step.ts';
import type {WantedRelease} from './wanted-release.ts';

/** The state of the cluster, the rendered chart, and the steps between the two. */
export interface PreparedInstall {
  facts: InstallFacts;
  manifest: string;
  plan: Plan;
}

/** Reads the cluster and renders the chart; changes nothing. @throws ExpectedError */
export async function prepareInstall(
  {settings, effective}: Generated,
  wanted: Omit<WantedRelease, 'manifest'>,
  access: ClusterAccess,
  signal: AbortSignal,
): Promise<PreparedInstall> {
  const names = wanted.secrets.map((secret) => secret.name);
  const reading = readFacts(wanted.name, names, access, signal);
  const rendering = serverVersion(access.kubernetes, {over: signal, idleMs: REQUIRED_MS}).then(({version = '', trouble}) =>
    // Without an answer the reading fails too, and names the reason.
    trouble ? '' : renderChart(wanted, {serverVersion: version}, effectiveGet(settings, effective), access.processes),
  );
  rendering.catch(() => undefined);
  const facts = await reading;
  const manifest = await rendering;
  return {facts, manifest, plan: planInstall({...wanted, manifest}, facts)};
}

/** The steps from the state of the cluster to the wanted release; none where nothing has to change. Pure. @throws ExpectedError */
export function planInstall(wanted: WantedRelease, facts: InstallFacts): Plan {
  requireSecrets(wanted, facts);
  const release = releaseSteps(wanted, facts);
  return {
    steps: [
      ...namespaceSteps(wanted, facts),
      ...secretSteps(wanted, facts),
      ...startSteps(wanted, facts),
      ...release,
      ...restartSteps(wanted, facts),
    ],
    losses: release.length === 0 ? [] : lossesOf(wanted, facts),
  };
}

function namespaceSteps({name}: WantedRelease, {namespace}: InstallFacts): Step[] {
  const {place} = name;
  if (namespace !== undefined) return [];
  const object = {apiVersion: 'v1', kind: 'Namespace', metadata: {name: place.namespace, labels: ownLabels(name.release)}};
  return [{id: 'namespace', title: `Create namespace ${place.namespace}`, call: applyObject(place, object)}];
}

/** An interrupted uninstall scaled these to 0, which Helm does not notice. */
const startSteps = ({name: {place}, manifest}: WantedRelease, {stopped}: InstallFacts): Step[] =>
  (objectsIn(manifest) as Workload[])
    .filter(({kind, metadata, spec}) => stopped.has(`${kind} ${metadata.name}`) && spec?.replicas !== 0)
    .map(({kind = '', metadata: {name}, spec}) => ({
      id: `start/${name}`,
      title: `Start ${kind} ${name} again, which was scaled to 0`,
      call: scale(place, kind, name, spec?.replicas ?? 1),
    }));

function releaseSteps({name, chart, values, yaml, manifest}: WantedRelease, {release}: InstallFacts): Step[] {
  const id = `${chart.chart}-${chart.version}`;
  if (release?.status === 'deployed' && release.chart === id && sameTree(release.values, values)) return [];
  const call = upgradeInstall(name, chart, yaml);
  if (release === undefined) return [{id: 'release', title: `Install ${id} as release ${name.release}`, call}];
  const change =
    release.chart === id ? `Change release ${name.release} (${id})` : `Upgrade release ${name.release} from ${release.chart} to ${id}`;
  const upgrade = [...(release.chart === id ? [] : definitionSteps(manifest, name)), {id: 'release', title: change, call}];
  if (!isPending(release)) return upgrade;
  if (release.record === undefined) throw releaseBusy(name, release);
  // Helm refuses to change a release with a pending operation.
  const title = `Mark the operation that broke off as failed (${release.status}, revision ${release.revision}, ${release.updated})`;
  return [{id: 'unlock', title, call: replaceObject(name.place, markedFailed(release.record))}, ...upgrade];
}

/** Helm installs CustomResourceDefinitions with a new release only, and a newer chart may need newer ones: docs/charts/upgrades.md. */
function definitionSteps(manifest: string, {place}: ReleaseName): Step[] {
  const items = objectsIn(manifest).filter(({kind}) => kind === 'CustomResourceDefinition');
  const call = applyObject(place, {apiVersion: 'v1', kind: 'List', items}, {isForced: true});
  return items.length === 0 ? [] : [{id: 'definitions', title: 'Apply the custom resource definitions of the new chart', call}];
}

const releaseBusy = (name: ReleaseName, {status, revision}: ReleaseState): ExpectedError =>
  new ExpectedError(`The release ${name.release} is ${status} (revision ${revision}), and helm does not keep it in a Secret.`, {
    code: 'RELEASE_BUSY',
    exit: ExitCode.failed,
    suggestions: [`Go back to the revision before: ${commandLine(rollback(name))}`],
  });

/** What the installed release has and the wanted one lacks. */
const lossesOf = (wanted: WantedRelease, facts: InstallFacts): Loss[] => [
  ...lostClaims(wanted, facts).map((claim) => ({claim})),
  ...lostValues(wanted, facts).map((value) => ({value})),
];

/** Values of the installed release that the wanted one drops, or changes without an explicit setting. */
function lostValues({effective, asked}: WantedRelease, {release}: InstallFacts): Difference[] {
  const keys = asked.map(spellPath);
  const isAsked = (key: string): boolean => keys.some((each) => each === key || each.startsWith(`${key}.`) || key.startsWith(`${each}.`));
  return driftOf(release?.values ?? {}, effective).differences.filter(
    ({path, installed, file}) => (installed ?? undefined) !== undefined && (file === undefined || !isAsked(path)),
  );
}

/** Claims whose data is lost. Behind a PersistentVolume of the release lies a file system that stays (EFS). */
function lostClaims({manifest}: WantedRelease, {installed}: InstallFacts): string[] {
  const named = (objects: readonly KubernetesObject[], kind: string): KubernetesObject[] => objects.filter((each) => each.kind === kind);
  const kept = new Set(named(objectsIn(manifest), CLAIM).map(({metadata}) => metadata.name));
  const volumes = new Set(named(installed, 'PersistentVolume').map(({metadata}) => metadata.name));
  return (named(installed, CLAIM) as Claim[])
    .filter(({metadata, spec}) => !kept.has(metadata.name) && !volumes.has(spec?.volumeName ?? '') && !isKept(metadata))
    .map(({metadata}) => metadata.name);
}

const CLAIM = 'PersistentVolumeClaim';

const isKept = ({annotations}: KubernetesObject['metadata']): boolean => annotations?.['helm.sh/resource-policy'] === 'keep';
