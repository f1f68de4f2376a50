import {isBelow} from '../charts/charts.ts';
import type {Target} from '../charts/releases/target.ts';
import {releasesOf} from '../charts/releases/target.ts';
import {isRestored} from '../cluster/diff/live-drift.ts';
import {upgradeWithValues} from '../cluster/helm/release-calls.ts';
import type {ReleaseRecord} from '../cluster/helm/release-record.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {requireAnswer} from '../cluster/kubernetes/api-error.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {renderChart} from '../cluster/release/desired-release.ts';
import {type Run, runsOfRelease} from '../cluster/release/inventory.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import {callText} from '../ground/call-arguments.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {failed} from '../ground/errors.ts';
import {type DebugValues, withDebug} from '../values/debug.ts';
import {type InstallChoices, planInstall} from './install.ts';
import {withValues} from './migrated-release.ts';
import {restartWarnings, runsInFlight} from './restart-warnings.ts';
import type {Plan} from './step.ts';

export interface PreparedDebug extends DebugValues {
  plan: Plan;
  manifest: readonly KubernetesObject[];
  /** Runs in flight; undefined if they cannot be seen from outside the agent. */
  runs: readonly Run[] | undefined;
  warnings: readonly string[];
}

interface DebugOptions extends Omit<InstallChoices, 'drainTimeoutSeconds'> {
  target: Target;
  isOn: boolean;
  chartSource?: string | undefined;
  signal: AbortSignal;
}

/** The plan that enables or disables debug logs of an installed release and changes nothing else. @throws ExpectedError */
export async function prepareDebug(
  name: ReleaseName,
  facts: InstallFacts & {release: ReleaseRecord},
  {target, isOn, chartSource, signal, ...choices}: DebugOptions,
  {kubernetes, processes}: ClusterAccess,
): Promise<PreparedDebug> {
  requireKnownVersion(name, target);
  const {release} = facts;
  const changed = withDebug(release.values, target, isOn);
  const runsOf = runsOfRelease(name.release, target, release.values);
  const listed = await runsInFlight(runsOf, name.kubeTarget, kubernetes, signal);
  const {runs} = requireAnswer(listed, name.kubeTarget);
  if (!changed.isChanged && release.status === 'deployed')
    return {...changed, plan: {steps: []}, manifest: [], runs, warnings: []};
  const {values} = changed;
  const desired = withValues(
    {name, chart: {...target, source: chartSource}, explicitPaths: [], secrets: []},
    values,
    target,
  );
  const manifest = await renderChart(desired, facts, () => undefined, processes);
  // Changes of others are kept, unless Helm must overwrite fields to apply the release.
  const drift = facts.release.isServerSide ? facts.drift.filter(isRestored) : [];
  const planned = planInstall(
    {...desired, manifest},
    {...facts, drift, stopped: new Set()},
    {...choices, drainTimeoutSeconds: 0},
  );
  const title = `${isOn ? 'Enable' : 'Disable'} debug logs in release ${name.release} (${release.chart})`;
  return {
    ...changed,
    plan: {
      steps: planned.steps.map((step) => (step.phase === 'release' ? {...step, title} : step)),
    },
    manifest,
    runs,
    warnings: [
      ...changed.limits,
      ...restartWarnings(target, values, runs, 'only new runs write debug logs'),
      ...(drift.length === 0
        ? []
        : [
            `Helm restores objects that were changed in the cluster: ${drift.map(({object}) => object).join(', ')}.`,
          ]),
    ],
  };
}

/** @throws ExpectedError for a version whose values this program cannot read */
export function requireKnownVersion(name: ReleaseName, {chart, version}: Target): void {
  const [oldest = version] = releasesOf(chart);
  if (!isBelow(version, oldest)) return;
  throw failed(
    'VERSION_TOO_OLD',
    `Release ${name.release} uses ${chart} ${version}. This command requires ${oldest} or newer.`,
    [
      `When no run is in flight, upgrade it with Helm to ${oldest}. Values and PVCs are kept: ${callText(upgradeWithValues(name, {chart, version: oldest}))}`,
      'Then run the same command again',
    ],
  );
}
