import {join} from 'node:path';
import type {AlreadyRead} from '../checks/preflight/read-context.ts';
import {isVerifiable, runPreflight, unverified} from '../checks/preflight/run-preflight.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {kindAndName} from '../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {type DesiredRelease, desiredRelease} from '../cluster/release/desired-release.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import type {CreatedToken} from '../extensions/account/install-pool.ts';
import {programOf, type ReleaseName} from '../ground/command-line.ts';
import {ExitCode, ExpectedError, type Warning} from '../ground/errors.ts';
import type {Files} from '../ground/system/system.ts';
import {type InstallChoices, prepareInstall} from '../operations/install.ts';
import {type InstallReleaseDeps, installRelease} from '../operations/install-release.ts';
import {dryRunPlan} from '../operations/plan-dry-run.ts';
import {type ChartSignature, newestInRepository} from '../operations/read-chart.ts';
import {rollbackSteps} from '../operations/rollback-steps.ts';
import type {Plan} from '../operations/step.ts';
import {requirePermissions} from '../operations/step-permissions.ts';
import type {Watched} from '../operations/watch-release.ts';
import {purpose, url} from '../settings/agent.ts';
import {target} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {installDiffText} from '../ui/changes.ts';
import {checkText} from '../ui/checks.ts';
import {NOT_WAITED, nextSteps, nextStepsText, resultSentence, savedText} from '../ui/next-steps.ts';
import {planText} from '../ui/plan.ts';
import {planWarnings} from '../ui/review.ts';
import {newerText} from '../ui/status.ts';
import {isPrivate, valuesDocument} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import {releaseName, waitingOf} from './flags.ts';
import type {InstallFlags} from './install-flags.ts';
import {type PoolInstall, type PoolResult, planPool, withToken} from './install-pool.ts';
import {
  type CommandContext,
  type Operation,
  operate,
  type ReleaseHead,
  type RunDeps,
  releaseHead,
  stepsOf,
} from './operate.ts';
import {signatureOf, signatureText} from './read-chart.ts';
import {diagnosticsPath, saveFiles} from './user-files.ts';

export interface InstallResult extends ReleaseHead {
  chart: string;
  chartVersion: string;
  /** False if the release was already up to date. */
  changed: boolean;
  steps: {id: string; title: string}[];
  objects: readonly string[];
  /** Installed values and objects that the change removes. */
  warnings: readonly Warning[];
  /** Written files. */
  saved?: readonly string[];
  /** State according to the agent log; absent if the install did not wait. */
  agent?: 'registered' | 'unknown';
  /** Only with --pool. */
  pool?: PoolResult;
  /** Only with --verify. */
  signature?: ChartSignature;
}

/** Time to ask for a newer chart. */
const NEWEST_MS = 5000;

/** Ways to the cluster of an install. */
interface Access {
  access: ClusterAccess;
  /** The same, where queries before the plan are sent only once. */
  cached(): Promise<ClusterAccess>;
}

/** The plan that the wizard has shown with its warnings, and the files that the user has saved there. */
interface Shown {
  plan: Plan;
  saved: readonly string[];
}

/** What is installed, and how. */
interface Request extends Access {
  name: ReleaseName;
  flags: InstallFlags;
  context: CommandContext;
  generated: Generated;
  desired: DesiredRelease;
  choices: InstallChoices;
  wizard: Shown | undefined;
  account: Awaited<ReturnType<typeof planPool>> | undefined;
}

interface Planned extends Request {
  facts: InstallFacts;
  manifest: readonly KubernetesObject[];
  plan: Plan;
  result: InstallResult;
}

/** Installs or updates a release, with --pool after changes in the account; `wizard` is what the user has confirmed in the wizard. @throws ExpectedError */
export async function installInCluster(
  given: Generated,
  flags: InstallFlags,
  ways: Access,
  context: CommandContext,
  {wizard, pool}: {wizard?: Shown | undefined; pool?: PoolInstall | undefined} = {},
): Promise<InstallResult> {
  const name = releaseName(flags, given.settings);
  const account =
    pool &&
    (await context.untilInterrupted(() => planPool(pool, given, name, ways.access, context)));
  const generated = account?.generated ?? given;
  const desired = desiredOf(generated, name, flags);
  const choices = {...waitingOf(flags), now: context.app.now()};
  const request = {...ways, name, flags, context, generated, desired, choices, wizard, account};
  const signature = await context.untilInterrupted(() =>
    signatureOf(desired.chart, flags.verify, {app: context.app, flags}),
  );
  context.say(signatureText(signature));
  const prepared = await readPlan(request);
  const planned = {...request, ...prepared, result: resultOf(request, prepared, signature)};
  if (flags.diff) return showDiff(planned);
  return operate(operationOf(planned), planned.result, flags, context);
}

function desiredOf(
  made: Generated,
  name: ReleaseName,
  {verify: keyring}: InstallFlags,
  token?: CreatedToken,
): DesiredRelease {
  const found = desiredRelease(made, valuesDocument(made), name, token);
  return keyring === undefined ? found : {...found, chart: {...found.chart, keyring}};
}

/** Warnings that a preflight check can confirm or refute; the wizard has shown them already. */
const openWarnings = ({wizard, generated}: Request): Warning[] =>
  wizard === undefined ? generated.warnings.filter(isVerifiable) : [];

async function preflight(request: Request, already?: AlreadyRead): Promise<void> {
  const {flags, context, generated, desired, cached} = request;
  const open = openWarnings(request);
  if (flags['skip-preflight']) return context.report(open);
  const {app, timeoutMs, screen} = context;
  const {now, sleep, registries} = app;
  const checks = await runPreflight(
    generated,
    desired,
    {...(await cached()), now, sleep, registries, timeoutMs},
    already,
  );
  context.report(unverified(open, checks));
  for (const each of checks) if (each.status === 'warn') app.stderr(checkText(each, screen));
}

/** Reads the cluster and plans the steps. @throws ExpectedError */
async function readPlan(request: Request): Promise<Pick<Planned, 'facts' | 'manifest' | 'plan'>> {
  const {context, generated, desired, access, choices, wizard} = request;
  const {timeoutMs} = context;
  const prepared = await context
    .untilInterrupted(() =>
      prepareInstall(generated, desired, access, {
        ...choices,
        signal: AbortSignal.timeout(timeoutMs),
      }),
    )
    .catch(async (error: unknown) => {
      // An account without read access gets the list of all missing permissions, not only the first one.
      if (error instanceof ExpectedError && error.code === 'FORBIDDEN') await preflight(request);
      throw error;
    });
  if (desired.chart.source === undefined && wizard === undefined) {
    const newest = await newestInRepository(
      generated.target.chart,
      access.processes,
      AbortSignal.timeout(Math.min(timeoutMs, NEWEST_MS)),
    );
    context.say(newerText(newest, generated.target));
  }
  return prepared;
}

/** The result before the install. */
function resultOf(
  {name, desired: {chart}, account}: Request,
  {facts, manifest, plan}: Pick<Planned, 'facts' | 'manifest' | 'plan'>,
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

function showDiff(planned: Planned): InstallResult {
  const {context, flags, plan, facts, desired, manifest, result} = planned;
  context.report(openWarnings(planned));
  if (!context.isJson)
    context.show(
      installDiffText({plan, facts, values: desired.values, manifest}, context.resultScreen),
    );
  if (flags['exit-code'] && result.changed) context.exitWith(ExitCode.differences);
  return result;
}

function operationOf(planned: Planned): Operation<InstallResult> {
  const {name, flags, context, desired, wizard, account, facts, manifest, plan, access} = planned;
  const {changed, warnings} = planned.result;
  const isShown = wizard !== undefined && isSame(plan, wizard.plan);
  const isSilent = !changed && !flags['dry-run'];
  return {
    title: changed
      ? `Installing ${desired.chart.chart} ${desired.chart.version} as release ${name.release}`
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
async function runInstall(planned: Planned, deps: RunDeps): Promise<InstallResult> {
  const {name, context, account, result} = planned;
  const saved = await saveGiven(planned);
  const install = (made?: CreatedToken, keep?: () => void) =>
    installPlan(planned, deps, made, keep);
  const inPool = await account?.run({deps, install, isChanged: result.changed});
  const watched = inPool === undefined ? await install() : inPool.result;
  const inAccount = inPool === undefined ? {} : {pool: inPool.pool};
  if (watched === undefined) {
    deps.done(`Release ${name.release} is installed`, NOT_WAITED);
    context.say(savedText(saved, context.screen));
    return {...result, saved, ...inAccount};
  }
  const {agent} = watched;
  const address = planned.generated.settings.get(url);
  deps.done(
    ...resultSentence({
      what: `release ${name.release}`,
      hasChanged: result.changed,
      agent,
      url: address,
    }),
  );
  context.say(inPool?.text ?? '');
  const kept = await keepGiven(planned, saved);
  context.say(`${savedText(kept.saved, context.screen)}${kept.note}`);
  context.say(nextText(planned, inPool !== undefined));
  return {...result, saved: kept.saved, agent, ...inAccount};
}

const settingsOf = ({generated: {settings}}: Planned): Settings =>
  settings.with(target, {value: 'kubernetes', source: 'prompt'});

/** Files for --save. */
function saveGiven(planned: Planned): Promise<readonly string[]> {
  const {flags, context, desired, facts} = planned;
  const texts = [{path: 'values.yaml', text: desired.yaml}];
  const accepted = {isAccepted: flags.yes ?? false, confirm: context.prompter?.confirm};
  const settings = settingsOf(planned);
  return saveFiles(
    {directory: flags.save, settings, context: facts.context.name, texts, ...accepted},
    context.app.files,
  );
}

/** Files of the wizard, which asks for no directory. */
function keepGiven(
  {wizard, flags, generated, name, facts, context}: Planned,
  saved: readonly string[],
): Promise<{saved: readonly string[]; note: string}> {
  if (wizard === undefined || flags.save !== undefined || wizard.saved.length > 0)
    return Promise.resolve({saved: [...saved, ...(wizard?.saved ?? [])], note: ''});
  const where = {directory: name.release, context: facts.context.name};
  return keepFiles(generated, where, context.app.files);
}

function nextText(planned: Planned, isLinked: boolean): string {
  const {name, context} = planned;
  const {env} = context.app;
  const isForVcs = settingsOf(planned).get(purpose) === 'vcs';
  const next = nextSteps({name, isForVcs, isLinked, program: programOf(env), env});
  return nextStepsText(next, context.screen);
}

/** Runs the steps in the cluster; `keep` is called when pods can use the token that was made. @throws ExpectedError */
async function installPlan(
  planned: Planned,
  deps: RunDeps,
  made?: CreatedToken,
  keep: () => void = () => undefined,
): Promise<Watched | undefined> {
  const {name, flags, facts, plan, access} = planned;
  const now = made === undefined ? plan : await withRealToken(planned, made);
  const onStep: InstallReleaseDeps['onStep'] = (step, ...news) => {
    // From here on, pods may use the token.
    if (facts.release === undefined ? step.call.tool === 'helm' : step.id.startsWith('secret/'))
      keep();
    deps.onStep(step, ...news);
  };
  const {release} = facts;
  const steps = release && rollbackSteps(name, release.revision, plan.keptClaims ?? []);
  const options = {
    waits: !flags['no-wait'],
    rollBackWith: flags['rollback-on-failure']
      ? diagnosticsPath(flags.save, name.release, deps.now())
      : undefined,
    ...(steps ? {rollback: {steps}} : {}),
  };
  return installRelease({plan: now, name, facts}, options, {...access, ...deps, onStep});
}

/** The same plan with the token that the account has created. @throws ExpectedError */
async function withRealToken(
  {name, flags, context, generated, access, choices, plan}: Planned,
  {text, ...made}: CreatedToken,
): Promise<Plan> {
  const real = withToken(generated, text);
  const signal = AbortSignal.timeout(context.timeoutMs);
  const desired = desiredOf(real, name, flags, {text, ...made});
  const {plan: now} = await prepareInstall(real, desired, access, {...choices, signal});
  if (!isSame(now, plan)) throw changedMeanwhile();
  return now;
}

const isSame = (plan: Plan, shown: Plan): boolean => fingerprint(plan) === fingerprint(shown);
const fingerprint = (plan: Plan): string =>
  JSON.stringify([plan.steps.map(({title}) => title), planWarnings(plan).filter(isLasting)]);
/** Runs start and end while a plan is read. */
const isLasting = ({code}: Warning): boolean => code !== 'RUNS';

const changedMeanwhile = (): ExpectedError =>
  new ExpectedError('The cluster has changed since the plan was shown.', {
    code: 'NOT_CONFIRMED',
    exit: ExitCode.failed,
    suggestions: ['Run the same command again'],
    options: [],
  });

/** The first line of every file that this program saves. */
const OWN = /^# (Answers file for scalr-agent|Values of agent-)/;

/** Saves the answers and the values of a wizard without a question. What is not saved is a sentence, not a failure. */
export async function keepFiles(
  {settings, ...generated}: Generated,
  {directory, context}: {directory: string; context: string},
  files: Files,
): Promise<{saved: readonly string[]; note: string}> {
  const hasSecrets = isPrivate({settings, ...generated});
  const texts = hasSecrets
    ? []
    : [{path: 'values.yaml', text: valuesDocument({settings, ...generated})}];
  const left = hasSecrets
    ? 'values.yaml was not saved, because it can contain secrets. To save it, add --save DIRECTORY.\n'
    : '';
  try {
    for (const path of ['answers.yaml', ...texts.map((each) => each.path)].map((name) =>
      join(directory, name),
    )) {
      const isFile = (await files.kindOf(path, '--save')) === 'file';
      if (isFile && !OWN.test((await files.read(path)).toString('utf8')))
        return {
          saved: [],
          note: `Not saved: ${path} exists, and scalr-agent did not write it. To save elsewhere, add --save DIRECTORY.\n`,
        };
    }
    const saved = await saveFiles(
      {directory, settings, context, texts, isAccepted: true, confirm: undefined},
      files,
    );
    return {saved, note: left};
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return {
      saved: [],
      note: `Not saved: ${error.message} To save elsewhere, add --save DIRECTORY.\n`,
    };
  }
}
