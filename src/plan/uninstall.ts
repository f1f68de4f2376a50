import type {Inventory} from '../cluster/inventory.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {uninstall} from '../helm/helm.ts';
import {deleteObject, waitUntilGone} from '../kubernetes/kubectl.ts';
import type {ReleaseName} from '../ports/place.ts';
import {commandLine} from '../ports/processes.ts';
import type {Plan, Step} from './step.ts';
import {afterUninstall, beforeUninstall, lostClaims} from './uninstall-claims.ts';
import {type DrainChoices, drainSteps, drainWarnings} from './uninstall-drain.ts';
import {type Kept, keeps, mayGo} from './uninstall-keeps.ts';
import {CLEANER_IMAGE, cleanSteps, readyNodes} from './uninstall-node-data.ts';

export const PURGEABLE = ['claims', 'crds', 'secrets', 'namespace', 'node-data'] as const;
export type Purgeable = (typeof PURGEABLE)[number];

export interface UninstallChoices extends DrainChoices {
  purge: ReadonlySet<Purgeable>;
  /** For everything that has to end or go after the drain. */
  timeoutSeconds: number;
  cleanerImage?: string;
}

export interface UninstallPlan {
  plan: Plan;
  /** What the plan takes away, in words. */
  removes: readonly string[];
  keeps: readonly Kept[];
  warnings: readonly string[];
  /** It destroys what cannot be made again: the name of the release has to be typed. */
  needsConfirmation: boolean;
}

/** The calls that take a release away, and an account of all that stays. Pure. */
export function planUninstall(name: ReleaseName, inventory: Inventory, choices: UninstallChoices): UninstallPlan {
  const isPurged = choices.purge.has('claims');
  const steps = [
    ...beforeUninstall(name, inventory, isPurged),
    ...drainSteps(name, inventory, choices),
    ...releaseSteps(name, inventory, choices),
    ...afterUninstall(name, inventory, isPurged, choices.timeoutSeconds),
    ...purgeSteps(name, inventory, choices),
  ];
  return {
    plan: {steps},
    removes: removes(name, inventory, choices.purge),
    keeps: keeps(name, inventory, choices.purge),
    warnings: drainWarnings(inventory, choices),
    needsConfirmation: steps.some(({isDestructive}) => isDestructive),
  };
}

function releaseSteps(name: ReleaseName, inventory: Inventory, {purge, drain, timeoutSeconds}: UninstallChoices): Step[] {
  const {release, runs} = inventory;
  if (release === undefined) return [];
  const isDestructive = lostClaims(inventory, purge.has('claims')).length > 0 || (!drain && runs.length > 0);
  const selector = `--selector=app.kubernetes.io/instance=${name.release},app.kubernetes.io/component!=task`;
  return [
    {
      id: 'release',
      title: `Uninstall release ${name.release} (${release.chart}-${release.version})`,
      call: uninstall(name),
      ...(isDestructive ? {isDestructive} : {}),
      tolerates: /release: not found/,
    },
    {id: 'gone', title: 'Wait until its pods have gone', call: waitUntilGone(name.place, ['pod', selector], timeoutSeconds)},
  ];
}

function purgeSteps(name: ReleaseName, inventory: Inventory, {purge, timeoutSeconds, cleanerImage}: UninstallChoices): Step[] {
  const {definitions, secrets, namespace, nodeData} = mayGo(inventory, purge);
  const remove = (id: string, kind: string, object: string, title: string): Step => ({
    id,
    title,
    call: deleteObject(name.place, kind, object, timeoutSeconds),
    isDestructive: true,
  });
  return [
    ...definitions.map((each) => remove(`crd/${each.name}`, 'customresourcedefinition', each.name, `Delete definition ${each.name}`)),
    ...secrets.map((each) => remove(`secret/${each.name}`, 'secret', each.name, `Delete Secret ${each.name}`)),
    ...nodeData.flatMap((each) => cleanSteps(name, each, cleanerImage ?? CLEANER_IMAGE, timeoutSeconds)),
    ...namespace.map((each) => remove('namespace', 'namespace', each.name, `Delete namespace ${each.name}`)),
  ];
}

function removes({release}: ReleaseName, inventory: Inventory, purge: ReadonlySet<Purgeable>): string[] {
  const {definitions, secrets, namespace, nodeData} = mayGo(inventory, purge);
  const isPurged = purge.has('claims');
  const older = isPurged ? inventory.claims.filter(({origin}) => origin === 'older-revision') : [];
  return [
    ...(inventory.release ? [`Release ${release}: ${inventory.release.objects.join(', ')}`] : []),
    ...[...lostClaims(inventory, isPurged), ...older].map(({name, size}) => `All data in claim ${name}${size ? ` (${size})` : ''}`),
    ...(isPurged ? inventory.volumes : []).map(({name, claim}) => `Volume ${name} with the data of claim ${claim}`),
    ...definitions.map(({name}) => `Definition ${name}`),
    ...secrets.map(({name}) => `Secret ${name}`),
    ...nodeData.map(({path, nodes = []}) => `Everything in ${path} on ${readyNodes(nodes).join(', ')}`),
    ...namespace.map(({name}) => `Namespace ${name}`),
  ];
}

/** @throws ExpectedError when the release is of a chart that is not ours to take away */
export function requireOurChart(name: ReleaseName, chart: string | undefined, inventory: Inventory): void {
  if (chart === undefined || inventory.release !== undefined) return;
  throw new ExpectedError(`Release ${name.release} is of the chart ${chart}, not of a Scalr agent.`, {
    code: 'OBJECT_OF_ANOTHER',
    exit: ExitCode.usage,
    suggestions: ['List the releases: helm list --all-namespaces', `Uninstall it yourself: ${commandLine(uninstall(name))}`],
  });
}
