import {type Path, sameTree, type Values} from '../charts/tree.ts';
import {type InstallFacts, isPending, type ReleaseState} from '../cluster/install-facts.ts';
import {objectsIn} from '../cluster/manifest.ts';
import type {Workload} from '../cluster/objects.ts';
import {ownLabels} from '../cluster/own-labels.ts';
import {markedFailed} from '../cluster/release-record.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {type ChartReference, type ReleaseName, rollback, upgradeInstall} from '../ports/helm.ts';
import {applyObject, replaceObject, scale} from '../ports/kubectl.ts';
import {commandLine} from '../ports/processes.ts';
import {lossesOf} from './install-losses.ts';
import {restartSteps} from './install-restarts.ts';
import {requireSecrets, secretSteps} from './install-secrets.ts';
import type {Plan, Step} from './step.ts';
import type {WantedSecret} from './wanted-secret.ts';

export interface WantedRelease {
  name: ReleaseName;
  chart: ChartReference;
  values: Values;
  /** With the defaults of the chart. */
  effective: Values;
  /** Keys in the values that somebody asked for, and that are no mere default. */
  asked: readonly Path[];
  /** The values as the file that goes to helm. */
  yaml: string;
  /** What the chart makes of them. */
  manifest: string;
  secrets: readonly WantedSecret[];
}

/** The calls that bring the cluster from what it is to what is wanted; none where nothing is to do. Pure. @throws ExpectedError */
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

/** An uninstall that broke off has stopped them, and to Helm nothing has changed. */
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
  // Helm refuses to touch a release it believes busy.
  const title = `Mark the operation that broke off as failed (${release.status}, revision ${release.revision}, ${release.updated})`;
  return [{id: 'unlock', title, call: replaceObject(name.place, markedFailed(release.record))}, ...upgrade];
}

/** Helm installs definitions with a release and never again, and a newer chart may need newer ones: docs/charts/upgrades.md. */
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
