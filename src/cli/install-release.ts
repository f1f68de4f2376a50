import {join} from 'node:path';
import {programOf} from '../ground/command-line.ts';
import {ExitCode, ExpectedError, type Warning} from '../ground/errors.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {kindAndName} from '../kubernetes/objects.ts';
import {type DesiredRelease, desiredRelease} from '../operations/desired-release.ts';
import {prepareInstall} from '../operations/install.ts';
import type {CreatedToken} from '../operations/install-pool.ts';
import {dryRun, installRelease} from '../operations/install-release.ts';
import {type ChartSignature, newestInRepository} from '../operations/read-chart.ts';
import {rollbackSteps} from '../operations/release-data.ts';
import {type Plan, requirePermissions} from '../operations/step.ts';
import {requireStored} from '../operations/stored-secrets.ts';
import type {Files} from '../ports/system.ts';
import type {AlreadyRead} from '../preflight/read-context.ts';
import {isVerifiable, runPreflight, unverified} from '../preflight/run-preflight.ts';
import {purpose, url} from '../settings/agent.ts';
import {target} from '../settings/release.ts';
import {installDiffText} from '../ui/changes.ts';
import {checkText} from '../ui/checks.ts';
import {
  NOT_WAITED,
  nextSteps,
  nextStepsText,
  planText,
  resultSentence,
  savedText,
} from '../ui/plan.ts';
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

/** Installs or updates a release, with --pool after changes in the account; `wizard` is what the user has confirmed in the wizard. @throws ExpectedError */
export async function installInCluster(
  given: Generated,
  flags: InstallFlags,
  {access, cached}: Access,
  context: CommandContext,
  {wizard, pool}: {wizard?: Shown | undefined; pool?: PoolInstall | undefined} = {},
): Promise<InstallResult> {
  const {app, screen, timeoutMs} = context;
  const shown = wizard?.plan;
  const name = releaseName(flags, given.settings);
  const account =
    pool && (await context.untilInterrupted(() => planPool(pool, given, name, access, context)));
  const {generated} = account ?? {generated: given};
  const keyring = flags.verify;
  const desiredOf = (
    made: Generated,
    token?: Parameters<typeof desiredRelease>[3],
  ): DesiredRelease => {
    const found = desiredRelease(made, valuesDocument(made), name, token);
    return keyring === undefined ? found : {...found, chart: {...found.chart, keyring}};
  };
  const desired = desiredOf(generated);
  const signature = await context.untilInterrupted(() =>
    signatureOf(desired.chart, keyring, {app, flags}),
  );
  context.say(signatureText(signature));
  const open = shown === undefined ? generated.warnings.filter(isVerifiable) : [];
  const preflight = async (already?: AlreadyRead): Promise<void> => {
    if (flags['skip-preflight']) return context.report(open);
    const {now, sleep, registries} = app;
    const checks = await runPreflight(
      generated,
      desired,
      {...(await cached()), now, sleep, registries, timeoutMs},
      already,
    );
    context.report(unverified(open, checks));
    for (const each of checks) if (each.status === 'warn') app.stderr(checkText(each, screen));
  };
  const choices = {...waitingOf(flags), now: app.now()};
  const {facts, manifest, plan} = await context
    .untilInterrupted(() =>
      prepareInstall(generated, desired, access, AbortSignal.timeout(timeoutMs), choices),
    )
    .catch(async (error: unknown) => {
      // An account without read access gets the list of all missing permissions, not only the first one.
      if (error instanceof ExpectedError && error.code === 'FORBIDDEN') await preflight();
      throw error;
    });
  if (desired.chart.source === undefined && shown === undefined) {
    const newest = await newestInRepository(
      generated.target.chart,
      access.processes,
      AbortSignal.timeout(Math.min(timeoutMs, NEWEST_MS)),
    );
    context.say(newerText(newest, generated.target));
  }
  const steps = [...(account?.steps ?? []), ...plan.steps];
  const changed = steps.length > 0;
  const result: InstallResult = {
    ...releaseHead(name, facts),
    chart: desired.chart.chart,
    chartVersion: desired.chart.version,
    changed,
    steps: stepsOf(steps),
    objects: manifest.map(kindAndName),
    warnings: [...(account?.warnings ?? []), ...planWarnings(plan)],
    ...(signature ? {signature} : {}),
    ...(account === undefined ? {} : {pool: account.planned}),
  };
  if (flags.diff) {
    context.report(open);
    if (!context.isJson)
      context.show(
        installDiffText({plan, facts, values: desired.values, manifest}, context.resultScreen),
      );
    if (flags['exit-code'] && changed) context.exitWith(ExitCode.differences);
    return result;
  }
  const isShown = shown !== undefined && isSame(plan, shown);
  const isSilent = !changed && !flags['dry-run'];
  const operation: Operation<InstallResult> = {
    title: changed
      ? `Installing ${desired.chart.chart} ${desired.chart.version} as release ${name.release}`
      : `Checking release ${name.release}`,
    steps,
    text: isSilent ? '' : `${account?.text ?? ''}${planText(plan, name, facts, screen)}\n`,
    warnings: isSilent ? [] : result.warnings,
    risk: plan.risk === undefined ? undefined : {what: plan.risk, release: name.release},
    isConfirmed: isShown,
    check: async (isDryRun) => {
      // Without changes, no check can fail.
      if (changed && !isShown) await preflight({manifest, context: facts.context});
      await requirePermissions(plan.steps, name, {...access, operation: 'install'});
      return isDryRun ? dryRun(plan, manifest, name, facts, access) : '';
    },
    run: async (deps) => {
      const {files, env} = app;
      const settings = generated.settings.with(target, {value: 'kubernetes', source: 'prompt'});
      const texts = [{path: 'values.yaml', text: desired.yaml}];
      const accepted = {isAccepted: flags.yes ?? false, confirm: context.prompter?.confirm};
      const saved = await saveFiles(
        {directory: flags.save, settings, context: facts.context.name, texts, ...accepted},
        files,
      );
      const options = {
        waits: !flags['no-wait'],
        rollBackWith: flags['rollback-on-failure']
          ? diagnosticsPath(flags.save, name.release, deps.now())
          : undefined,
        ...(facts.release
          ? {rollback: {steps: rollbackSteps(name, facts.release.revision, plan.keptClaims ?? [])}}
          : {}),
      };
      const withRealToken = async ({text, ...made}: CreatedToken): Promise<Plan> => {
        const real = withToken(generated, text);
        const desiredNow = desiredOf(real, made);
        const {plan: now} = await prepareInstall(
          real,
          desiredNow,
          access,
          AbortSignal.timeout(timeoutMs),
          choices,
        );
        if (!isSame(now, plan)) throw changedMeanwhile();
        return now;
      };
      const install = async (made?: CreatedToken, keep: () => void = () => undefined) => {
        const planned = made === undefined ? plan : await withRealToken(made);
        const onStep: Parameters<typeof installRelease>[4]['onStep'] = (step, ...news) => {
          // From here on, pods may use the token.
          if (
            facts.release === undefined ? step.call.tool === 'helm' : step.id.startsWith('secret/')
          )
            keep();
          deps.onStep(step, ...news);
        };
        const brought = await installRelease(planned, name, facts, options, {
          ...access,
          ...deps,
          onStep,
        });
        await requireStored(planned, name, access.kubernetes);
        return brought;
      };
      const inPool = await account?.run({deps, install, isChanged: changed});
      const watched = inPool === undefined ? await install() : inPool.result;
      const inAccount = inPool === undefined ? {} : {pool: inPool.pool};
      if (watched === undefined) {
        deps.done(`Release ${name.release} is installed`, NOT_WAITED);
        context.say(savedText(saved, screen));
        return {...result, saved, ...inAccount};
      }
      const {agent} = watched;
      const isForVcs = settings.get(purpose) === 'vcs';
      deps.done(
        ...resultSentence({
          what: `release ${name.release}`,
          hasChanged: changed,
          agent,
          url: settings.get(url),
        }),
      );
      context.say(inPool?.text ?? '');
      const kept =
        wizard === undefined || flags.save !== undefined || wizard.saved.length > 0
          ? {saved: [...saved, ...(wizard?.saved ?? [])], note: ''}
          : await keepFiles(
              generated,
              {directory: name.release, context: facts.context.name},
              files,
            );
      context.say(`${savedText(kept.saved, screen)}${kept.note}`);
      const next = nextSteps({
        name,
        isForVcs,
        isLinked: inPool !== undefined,
        program: programOf(env),
        env,
      });
      context.say(nextStepsText(next, screen));
      return {...result, saved: kept.saved, agent, ...inAccount};
    },
  };
  return operate(operation, result, flags, context);
}

const isSame = (plan: Plan, shown: Plan): boolean => fingerprint(plan) === fingerprint(shown);
const fingerprint = (plan: Plan): string =>
  JSON.stringify([plan.steps.map(({title}) => title), planWarnings(plan)]);

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
