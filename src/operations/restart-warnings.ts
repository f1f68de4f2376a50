import {isBelow} from '../charts/charts.ts';
import {scalrChart} from '../charts/releases/chart-name.ts';
import {releasesOf, type Target} from '../charts/releases/target.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {includesRef, kindAndName, refOf} from '../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject, Workload} from '../cluster/kubernetes/objects.ts';
import {haveSamePods} from '../cluster/kubernetes/pod-specs.ts';
import {listObjects, REQUIRED_MS} from '../cluster/kubernetes/resources.ts';
import {CONTROLLERS} from '../cluster/kubernetes/trial-objects.ts';
import {type Run, type RunsOf, runsIn, runsOfRelease} from '../cluster/release/inventory.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import type {ReadError} from '../ground/fact.ts';
import {type SettingFinding, warningOf} from '../ground/finding.ts';
import {count} from '../ground/text.ts';
import type {Values} from '../ground/tree.ts';
import {shutdownMode} from '../settings/lifecycle.ts';
import {purpose} from '../settings/purpose.ts';
import {readValues} from '../values/reading/read-values.ts';
import type {Step} from './step.ts';
import {inFlight} from './uninstall.ts';

interface Restarting {
  name: ReleaseName;
  steps: readonly Step[];
  /** Rendered objects after the change. */
  manifest: readonly KubernetesObject[];
  facts: InstallFacts;
}

/** Warnings for runs that the steps interrupt, because pods of the agent restart or are removed. Reads the runs only then. */
export async function runWarnings(
  restarting: Restarting,
  {kubernetes}: Pick<ClusterAccess, 'kubernetes'>,
  signal: AbortSignal,
): Promise<SettingFinding[]> {
  const {name, facts} = restarting;
  const target = scalrChart(facts.release?.chart ?? '');
  if (facts.release === undefined || target === undefined) return [];
  const restarts = restartsPods(restarting);
  const removed = target.chart === 'agent-local' ? removedPods(restarting) : 0;
  if (!restarts && removed === 0) return [];
  const {values} = facts.release;
  // Older values cannot be read.
  if (isBelow(target.version, releasesOf(target.chart)[0] ?? target.version)) return [UNREAD];
  // Its agent executes no runs.
  if (readValues(values, target).settings.get(purpose.id) === 'vcs') return [];
  if (!restarts) return [warningOf('RUNS', insideText(removedText(removed), target, values))];
  const runsOf = runsOfRelease(name.release, target, values);
  const {runs, error} = await runsInFlight(runsOf, name.kubeTarget, kubernetes, signal);
  if (error) return [UNREAD];
  return restartWarnings(target, values, runs, 'they continue').map((message) =>
    warningOf('RUNS', message),
  );
}

const UNREAD: SettingFinding = warningOf(
  'RUNS',
  'The agent pods restart. Runs in flight cannot be listed, and may be interrupted.',
);

/** A running workload of the installed release is restarted, gets other pods, or is deleted. */
function restartsPods({steps, manifest, facts}: Restarting): boolean {
  const {installed, drift, stopped} = facts;
  const isChanged = steps.some(({call}) => call.tool === 'helm');
  const restarted = steps.flatMap(({workloads = []}) => workloads);
  return installed
    .filter((object) => CONTROLLERS.has(object.kind ?? '') && !stopped.has(kindAndName(object)))
    .some((before) => {
      const after = manifest.find((each) => kindAndName(each) === kindAndName(before));
      const isRestored = drift.some(
        ({object, paths}) =>
          object === kindAndName(before) && paths.some((path) => path.startsWith('spec.template')),
      );
      const hasNewPods = after === undefined || isRestored || !haveSamePods(before, after);
      return includesRef(refOf(before), restarted) || (isChanged && hasNewPods);
    });
}

/** How many pods a smaller number of replicas removes. Runs of agent-local execute in them. */
function removedPods({manifest, facts}: Restarting): number {
  const replicasOf = ({spec}: Workload): number => spec?.replicas ?? 1;
  const differences = facts.installed
    .filter(({kind}) => kind === 'Deployment')
    .flatMap((before) => {
      const after = manifest.find((each) => kindAndName(each) === kindAndName(before));
      return after === undefined ? [] : [replicasOf(before) - replicasOf(after)];
    });
  return differences.filter((each) => each > 0).reduce((sum, each) => sum + each, 0);
}

/** Undefined if runs cannot be seen from outside the agent. */
export async function runsInFlight(
  runsOf: RunsOf | undefined,
  {namespace}: ClusterTarget,
  kubernetes: ClusterAccess['kubernetes'],
  signal: AbortSignal,
): Promise<{runs: readonly Run[] | undefined; error?: ReadError | undefined}> {
  if (runsOf === undefined) return {runs: undefined};
  const options = {signal, idleMs: REQUIRED_MS, namespace};
  const lists = await Promise.all(
    ['jobs.batch', 'pods'].map((kind) => listObjects<KubernetesObject>(kubernetes, kind, options)),
  );
  const objects = lists.flatMap(({items}) => items);
  return {runs: runsIn(objects, runsOf), error: lists.find(({error}) => error)?.error};
}

/** The effect of the pod restart on runs; `ofJobs` on those that have their own pods. */
export function restartWarnings(
  target: Target,
  values: Values,
  runs: readonly Run[] | undefined,
  ofJobs: string,
): string[] {
  if (runs === undefined) return [insideText('The agent pods restart', target, values)];
  if (runs.length === 0) return [];
  if (target.chart === 'agent-job')
    return [`The controller restarts. ${inFlight(runs)}; ${ofJobs}.`];
  const fate = drains(target, values)
    ? 'they can finish within the grace period'
    : 'they are interrupted';
  return [`The controller and the workers restart. ${inFlight(runs)}; ${fate}.`];
}

const drains = (target: Target, values: Values): boolean =>
  readValues(values, target).settings.get(shutdownMode.id) === 'drain';

const removedText = (pods: number): string =>
  `${count(pods, 'agent pod')} ${pods === 1 ? 'is' : 'are'} removed`;

/** What happens to runs inside the pods of agent-local. */
function insideText(what: string, target: Target, values: Values): string {
  const fate = drains(target, values) ? 'can finish within the grace period' : 'are interrupted';
  return `${what}, and runs inside ${fate}. Runs of agent-local cannot be listed in the cluster; check them in Scalr.`;
}
