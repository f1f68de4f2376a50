import type {ChartRequirements} from '../charts/recommend.ts';
import {supports} from '../charts/support.ts';
import type {CheckReport} from '../checks/preflight/checks/check.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import {exportHost, type HostExport} from '../extensions/machine/export.ts';
import type {HostPlan} from '../extensions/machine/plan.ts';
import {ExpectedError, isInterrupt} from '../ground/errors.ts';
import type {Plan} from '../operations/step.ts';
import type {Setting} from '../settings/define.ts';
import {chart, chartSource, chartVersion, namespace, target} from '../settings/release.ts';
import {type Answer, Settings} from '../settings/settings.ts';
import {spellAsQuestion} from '../settings/spelling.ts';
import type {GeneratedValues, GenerateFacts} from '../values/generate.ts';
import {hostOf, targetOfPlace} from './place.ts';
import {likelyTarget} from './possible-answers.ts';
import type {WizardState} from './wizard-state.ts';

/** The plan of an install, and the preflight checks. */
export interface ReviewedInstall {
  plan: Plan;
  facts: InstallFacts;
  checks: readonly CheckReport[];
  /** Changes in the Scalr account, before those in the cluster. */
  accountSteps?: readonly {title: string}[];
}

/** What the review is about. */
export interface Reviewed {
  generated?: GeneratedValues | undefined;
  prepared?: ReviewedInstall;
  /** Without Kubernetes. */
  host?: (HostExport & {plan?: HostPlan; settings: Settings}) | undefined;
  /** Why there is no plan. */
  problem?: ExpectedError;
}

export interface ReviewReaders {
  /** Reads the cluster without changes; what was read before is not read again. @throws ExpectedError if an install is not possible */
  prepare(state: WizardState, generated: GeneratedValues): Promise<ReviewedInstall>;
  /** The values, checked; an unknown chart version is read. @throws ExpectedError */
  generate(settings: Settings, facts: GenerateFacts): Promise<GeneratedValues>;
  /** Plans the containers of an agent on this machine. @throws ExpectedError if Docker does not answer */
  planContainers(settings: Settings): Promise<HostPlan>;
}

/** Generates the values and plans the install. A problem is part of the result. */
export async function prepareReview(
  view: WizardState,
  facts: ChartRequirements,
  readers: ReviewReaders,
): Promise<Reviewed> {
  const reviewed: Reviewed = {};
  try {
    if (hostOf(view) !== undefined) await prepareHost(reviewed, view, readers);
    else await prepareCluster(reviewed, view, {facts, readers});
    return reviewed;
  } catch (error) {
    if (!(error instanceof ExpectedError) || isInterrupt(error)) throw error;
    return {...reviewed, problem: error};
  }
}

async function prepareHost(
  reviewed: Reviewed,
  view: WizardState,
  {planContainers}: ReviewReaders,
): Promise<void> {
  const platform = hostOf(view) ?? 'docker';
  const settings = confirmed(view, {});
  const host = {...exportHost(settings, platform), settings};
  reviewed.host = host;
  if (platform === 'systemd' || host.warnings.some(({code}) => code === 'NO_TOKEN')) return;
  reviewed.host = {...host, plan: await planContainers(settings)};
}

async function prepareCluster(
  reviewed: Reviewed,
  view: WizardState,
  {facts, readers}: {facts: ChartRequirements; readers: ReviewReaders},
): Promise<void> {
  const {generate, prepare} = readers;
  const generated = await generate(confirmed(view, facts), {...facts, spell: spellAsQuestion});
  reviewed.generated = generated;
  if (view.place?.kind === 'files') return;
  reviewed.prepared = await prepare(view, generated);
}

const OF_CLUSTER: readonly Setting[] = [namespace, chart, chartVersion, chartSource];

/**
 * The settings after the user has seen them: supported values from the cluster become explicit, so that the answers file
 * gives the same values without the cluster and for the same chart version. @throws ExpectedError
 */
function confirmed(view: WizardState, facts: ChartRequirements): Settings {
  const settings = view.answers.settings();
  const release = likelyTarget(view, facts);
  const isTaken = (setting: Setting): boolean =>
    release === undefined || supports(release, setting, settings);
  const answers = new Map<string, Answer>();
  if (release !== undefined) {
    answers.set(chart.id, {value: release.chart, source: 'prompt'});
    answers.set(chartVersion.id, {value: release.version, source: 'prompt'});
  }
  for (const {setting, answer} of settings.entries()) {
    const explicit: Answer = {value: answer.value, source: 'prompt'};
    // The Scalr URL in the token would be lost with the token.
    const isLost = answer.source === 'default' && setting.required === true;
    if (answer.source !== 'cluster') answers.set(setting.id, isLost ? explicit : answer);
    else if (isTaken(setting)) answers.set(setting.id, explicit);
  }
  answers.set(target.id, {value: targetOfPlace(view.place), source: 'prompt'});
  // Flags for a cluster do not matter to a machine.
  if (hostOf(view) !== undefined) for (const {id} of OF_CLUSTER) answers.delete(id);
  return new Settings(answers);
}
