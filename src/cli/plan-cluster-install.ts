import {scalrChart} from '../charts/releases/chart-name.ts';
import {newestOf} from '../charts/releases/target.ts';
import {checksWith} from '../checks/preflight/checks/check.ts';
import type {AlreadyRead} from '../checks/preflight/read-context.ts';
import {isVerifiable, runPreflight, unverified} from '../checks/preflight/run-preflight.ts';
import type {Difference, ObjectChange} from '../cluster/diff/values-diff.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {kindAndName} from '../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {type DesiredRelease, desiredRelease} from '../cluster/release/desired-release.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import type {CreatedToken} from '../extensions/account/install-pool.ts';
import {ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {onFailure} from '../ground/errors.ts';
import type {SettingFinding} from '../ground/finding.ts';
import {type InstallChoices, prepareInstall} from '../operations/install.ts';
import {type ChartSignature, newestInRepository} from '../operations/read-chart.ts';
import type {Plan} from '../operations/step.ts';
import {checkText} from '../ui/checks.ts';
import {planWarnings} from '../ui/review.ts';
import {newerText} from '../ui/status.ts';
import {valuesDocument} from '../values/document.ts';
import type {GeneratedValues} from '../values/generate.ts';
import {signatureOf, signatureText} from './chart-signature.ts';
import {releaseName, waitingOf} from './connection-flags.ts';
import type {InstallFlags} from './install-flags.ts';
import {type PlannedPool, type PoolInstall, type PoolResult, planPool} from './install-pool.ts';
import {type CommandContext, type ReleaseHead, releaseHead, stepsOf} from './operate.ts';

export interface InstallResult extends ReleaseHead {
  chart: string;
  chartVersion: string;
  /** False if the release was already up to date. */
  changed: boolean;
  steps: {id: string; title: string}[];
  objects: readonly string[];
  /** Installed values and objects that the change removes. */
  warnings: readonly SettingFinding[];
  /** Only with --diff: the keys and the objects that change; secrets are hidden. */
  differences?: {values: readonly Difference[]; objects: readonly ObjectChange[]};
  /** Written files. */
  saved?: readonly string[];
  /** State according to the agent log; absent if the install did not wait. */
  agent?: 'registered' | 'unknown';
  /** Only with --pool. */
  pool?: PoolResult;
  /** Only with --verify. */
  signature?: ChartSignature;
}

/** What is installed, and how. */
export interface InstallRequest {
  generated: GeneratedValues;
  /** With the context that is current now. */
  flags: InstallFlags;
  access: ClusterAccess;
  /** The same, where queries before the plan are sent only once. */
  cached(): Promise<ClusterAccess>;
  context: CommandContext;
  pool: PoolInstall | undefined;
  /** What the wizard has shown and the user has confirmed. */
  wizard: ShownPlan | undefined;
}

/** The plan that the wizard has shown with its warnings, and the files that the user has saved there. */
interface ShownPlan {
  plan: Plan;
  saved: readonly string[];
}

/** An install that was read and planned. */
export interface InstallPlan extends InstallRequest {
  name: ReleaseName;
  desired: DesiredRelease;
  choices: InstallChoices;
  account: PlannedPool | undefined;
  facts: InstallFacts;
  manifest: readonly KubernetesObject[];
  plan: Plan;
  /** Of a dry run. */
  result: InstallResult;
}

/** What the plan is made of. */
type Planning = Omit<InstallPlan, 'facts' | 'manifest' | 'plan' | 'result'>;

/** Time to ask for a newer chart. */
const NEWEST_MS = 5000;

/** Reads the account and the cluster, and plans the steps. Prints what it finds about the chart: its signature, and a newer version. @throws ExpectedError */
export async function planClusterInstall(request: InstallRequest): Promise<InstallPlan> {
  const {flags, context, access, pool} = request;
  const name = releaseName(flags, request.generated.settings);
  const account =
    pool && (await context.untilInterrupted(() => planPool(pool, {...request, name})));
  const generated = account?.generated ?? request.generated;
  const desired = desiredOf(generated, name, flags);
  const choices = {...waitingOf(flags), now: context.app.now()};
  const deps = {app: context.app, flags};
  const signature = await context.untilInterrupted(() =>
    signatureOf(desired.chart, flags.verify, deps),
  );
  context.say(signatureText(signature));
  const planning = {...request, name, generated, desired, choices, account};
  const timeLimit = AbortSignal.timeout(context.timeoutMs);
  const prepared = await context
    .untilInterrupted(() =>
      prepareInstall(generated, desired, access, {...choices, signal: timeLimit}),
    )
    .catch(
      onFailure(async (failure) => {
        // An account without read access gets the list of all missing permissions, not only the first one.
        if (failure.code === 'FORBIDDEN') await preflight(planning);
        throw failure;
      }),
    );
  await sayNewerChart(planning, prepared.facts);
  return {...planning, ...prepared, result: resultOf({...planning, ...prepared}, signature)};
}

/** The desired release, with a token that the account has created. */
export function desiredOf(
  generated: GeneratedValues,
  name: ReleaseName,
  {verify: keyring}: InstallFlags,
  token?: CreatedToken,
): DesiredRelease {
  const desired = desiredRelease(generated, valuesDocument(generated), name, token);
  return keyring === undefined ? desired : {...desired, chart: {...desired.chart, keyring}};
}

/** An installed release keeps its version, so that a newer one is the work of upgrade. */
async function sayNewerChart(
  {context, name, generated: {target}, desired, access, wizard}: Planning,
  {release}: InstallFacts,
): Promise<void> {
  if (desired.chart.source !== undefined || wizard !== undefined) return;
  const signal = AbortSignal.timeout(Math.min(context.timeoutMs, NEWEST_MS));
  const newest =
    (await newestInRepository(target.chart, access.processes, signal)) ?? newestOf(target.chart);
  const step =
    scalrChart(release?.chart ?? '')?.chart === target.chart
      ? `run: ${ownCommand('upgrade', name, '--chart-version', newest, '--dry-run')}`
      : undefined;
  context.say(newerText(newest, target, step));
}

/** Warnings that a preflight check can confirm or refute; the wizard has shown them already. */
export const openWarnings = ({wizard, generated}: InstallRequest): SettingFinding[] =>
  wizard === undefined ? generated.warnings.filter(isVerifiable) : [];

/** Runs the preflight checks, and reports warnings that none of them refutes. @throws ExpectedError if the install would fail */
export async function preflight(planning: Planning, already?: AlreadyRead): Promise<void> {
  const {flags, context, generated, desired, cached} = planning;
  const open = openWarnings(planning);
  if (flags['skip-preflight']) return context.report(open);
  const {app, timeoutMs, screen} = context;
  const {now, sleep, registries} = app;
  const deps = {...(await cached()), now, sleep, registries, timeoutMs};
  const checks = await runPreflight(generated, desired, deps, already);
  context.report(unverified(open, checks));
  for (const each of checksWith(checks, 'warning')) app.stderr(checkText(each, screen));
}

/** The result before the install. */
function resultOf(
  {name, desired: {chart}, account, facts, manifest, plan}: Omit<InstallPlan, 'result'>,
  signature: ChartSignature | undefined,
): InstallResult {
  const steps = [...(account?.steps ?? []), ...plan.steps];
  return {
    ...releaseHead(name, facts),
    chart: chart.chart,
    chartVersion: chart.version,
    changed: steps.length > 0,
    steps: stepsOf(steps),
    objects: manifest.map(kindAndName),
    warnings: [...(account?.warnings ?? []), ...planWarnings(plan)],
    ...(signature ? {signature} : {}),
    ...(account === undefined ? {} : {pool: account.planned}),
  };
}
