import {driftOf, manifestDiff} from '../cluster/diff/values-diff.ts';
import type {CreatedToken} from '../extensions/account/install-pool.ts';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import type {SettingFinding} from '../ground/finding.ts';
import {programOf} from '../ground/program.ts';
import {prepareInstall} from '../operations/install.ts';
import {installRelease} from '../operations/install-release.ts';
import {dryRunPlan} from '../operations/plan-dry-run.ts';
import {rollbackSteps} from '../operations/rollback-steps.ts';
import type {RunStepsDeps} from '../operations/run-steps.ts';
import type {Plan} from '../operations/step.ts';
import {requirePermissions} from '../operations/step-permissions.ts';
import type {WatchResult} from '../operations/watch-release.ts';
import {url} from '../settings/agent.ts';
import {purpose} from '../settings/purpose.ts';
import {target} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {installDiffText} from '../ui/changes.ts';
import {NOT_WAITED, nextSteps, nextStepsText, resultSentence, savedText} from '../ui/next-steps.ts';
import {planText} from '../ui/plan.ts';
import {planWarnings} from '../ui/review.ts';
import {installInPool, withToken} from './install-pool.ts';
import {type KeptFiles, keepFiles} from './keep-files.ts';
import {type Operation, operate, type RunDeps} from './operate.ts';
import {
  desiredOf,
  type InstallPlan,
  type InstallResult,
  openWarnings,
  preflight,
} from './plan-cluster-install.ts';
import {diagnosticsPath, saveFiles} from './save-files.ts';

/** Shows what the install would change. */
export function showInstallDiff(planned: InstallPlan): InstallResult {
  const {context, flags, plan, facts, desired, manifest, result} = planned;
  context.report(openWarnings(planned));
  const difference = {plan, facts, values: desired.values, manifest};
  if (!context.isJson) context.show(installDiffText(difference, context.resultScreen));
  if (flags['exit-code'] && result.changed) context.exitWith(ExitCode.differences);
  return {
    ...result,
    differences: {
      values: driftOf(facts.release?.values ?? {}, desired.values).differences,
      objects: manifestDiff(facts.live, manifest),
    },
  };
}

/** Shows, checks, confirms and runs the plan. @throws ExpectedError */
export function applyInstall(planned: InstallPlan): Promise<InstallResult> {
  const {result, flags, context} = planned;
  return operate(operationOf(planned), result, flags, context);
}

function operationOf(planned: InstallPlan): Operation<InstallResult> {
  const {name, flags, context, desired, wizard, account, facts, manifest, plan, access} = planned;
  const {changed, warnings} = planned.result;
  const isShown = wizard !== undefined && isSame(plan, wizard.plan);
  const isSilent = !changed && !flags['dry-run'];
  const {chart, version} = desired.chart;
  return {
    title: changed
      ? `${facts.release === undefined ? 'Installing' : 'Updating'} ${chart} ${version} as release ${name.release}`
      : `Checking release ${name.release}`,
    steps: [...(account?.steps ?? []), ...plan.steps],
    text: isSilent ? '' : `${account?.text ?? ''}${planText(plan, name, facts, context.screen)}\n`,
    warnings: isSilent ? [] : warnings,
    risk: plan.risk === undefined ? undefined : {what: plan.risk, release: name.release},
    isConfirmed: isShown,
    check: async () => {
      // Without changes, no check can fail.
      if (changed && !isShown) await preflight(planned, {manifest, context: facts.context});
      await requirePermissions(plan.steps, name, {...access, operation: 'install'});
      return dryRunPlan({steps: plan.steps, name, objects: manifest, facts}, access);
    },
    run: (deps) => runInstall(planned, deps),
  };
}

/** Saves files, and runs the steps in the account and in the cluster. @throws ExpectedError */
async function runInstall(planned: InstallPlan, deps: RunDeps): Promise<InstallResult> {
  const {name, context, account, result} = planned;
  const saved = await saveGiven(planned);
  const install = (made?: CreatedToken, keep?: () => void) => runPlan(planned, deps, made, keep);
  const use = {...planned, isChanged: result.changed};
  const inPool = account && (await installInPool(account, use, deps, install));
  const watched = inPool === undefined ? await install() : inPool.result;
  const pool = inPool === undefined ? {} : {pool: inPool.pool};
  if (watched === undefined) {
    deps.done(`Release ${name.release} is installed`, NOT_WAITED);
    context.say(savedText(saved, context.screen));
    return {...result, saved, ...pool};
  }
  const {agent} = watched;
  const what = `release ${name.release}`;
  const address = planned.generated.settings.get(url);
  deps.done(...resultSentence({what, hasChanged: result.changed, agent, url: address}));
  context.say(inPool?.text ?? '');
  const kept = await keepGiven(planned, saved);
  context.say(`${savedText(kept.saved, context.screen)}${kept.note}`);
  context.say(nextText(planned));
  return {...result, saved: kept.saved, agent, ...pool};
}

const settingsOf = ({generated: {settings}}: InstallPlan): Settings =>
  settings.with(target, {value: 'kubernetes', source: 'prompt'});

/** Files for --save. */
function saveGiven(planned: InstallPlan): Promise<readonly string[]> {
  const {flags, context, desired, facts} = planned;
  const options = {
    directory: flags.save,
    settings: settingsOf(planned),
    context: facts.context.name,
    texts: [{path: 'values.yaml', text: desired.yaml}],
    isAccepted: flags.yes ?? false,
    prompter: context.prompter,
  };
  return saveFiles(options, context.app.files);
}

/** Files of the wizard, which asks for no directory. */
async function keepGiven(
  {wizard, flags, generated, name, facts, context}: InstallPlan,
  saved: readonly string[],
): Promise<KeptFiles> {
  if (wizard === undefined || flags.save !== undefined || wizard.saved.length > 0)
    return {saved: [...saved, ...(wizard?.saved ?? [])], note: ''};
  const where = {directory: name.release, context: facts.context.name};
  return keepFiles(generated, where, context.app.files);
}

function nextText(planned: InstallPlan): string {
  const {name, context, account} = planned;
  const {env} = context.app;
  const isForVcs = settingsOf(planned).get(purpose) === 'vcs';
  const isLinked = account !== undefined;
  const next = nextSteps({name, isForVcs, isLinked, program: programOf(env), env});
  return nextStepsText(next, context.screen);
}

/** Runs the steps in the cluster; `keep` is called when pods can use the token that was made. @throws ExpectedError */
async function runPlan(
  planned: InstallPlan,
  deps: RunDeps,
  made?: CreatedToken,
  keep: () => void = () => undefined,
): Promise<WatchResult | undefined> {
  const {name, flags, facts, plan, access} = planned;
  const {release} = facts;
  const current = made === undefined ? plan : await withRealToken(planned, made);
  const onStep: RunStepsDeps['onStep'] = (step, ...news) => {
    // From here on, pods may use the token.
    const isUsed =
      release === undefined ? step.call.tool === 'helm' : step.id.startsWith('secret/');
    if (isUsed) keep();
    deps.onStep(step, ...news);
  };
  const rollback = release && {
    steps: rollbackSteps(name, release.revision, plan.keptClaims ?? []),
  };
  const rollBackWith = flags['rollback-on-failure']
    ? diagnosticsPath(flags.save, name.release, deps.now())
    : undefined;
  const options = {waits: !flags['no-wait'], rollBackWith, rollback};
  return installRelease({plan: current, name, facts}, options, {...access, ...deps, onStep});
}

/** The same plan with the token that the account has created. @throws ExpectedError */
async function withRealToken(planned: InstallPlan, made: CreatedToken): Promise<Plan> {
  const {name, flags, context, access, choices, plan} = planned;
  const generated = withToken(planned.generated, made.text);
  const signal = AbortSignal.timeout(context.timeoutMs);
  const desired = desiredOf(generated, name, flags, made);
  const {plan: current} = await prepareInstall(generated, desired, access, {...choices, signal});
  if (!isSame(current, plan)) throw changedMeanwhile();
  return current;
}

const isSame = (plan: Plan, shown: Plan): boolean => fingerprint(plan) === fingerprint(shown);
const fingerprint = (plan: Plan): string =>
  JSON.stringify([plan.steps.map(({title}) => title), planWarnings(plan).filter(isLasting)]);
/** Runs start and end while a plan is read. */
const isLasting = ({code}: SettingFinding): boolean => code !== 'RUNS';

export const changedMeanwhile = (): ExpectedError =>
  new ExpectedError('The cluster has changed since the plan was shown.', {
    code: 'PLAN_CHANGED',
    suggestions: ['Run the same command again'],
  });
