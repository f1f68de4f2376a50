import {type DiscoveredCluster, discoverCluster} from '../answers/cluster-answers.ts';
import {findAnswers, settleAnswers} from '../answers/resolve.ts';
import type {SettingsSource} from '../answers/sources.ts';
import {runPreflight} from '../checks/preflight/run-preflight.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {cachedAccess} from '../cluster/kubernetes/with-retries.ts';
import {desiredRelease} from '../cluster/release/desired-release.ts';
import type {ScalrClient} from '../extensions/account/client.ts';
import type {HostPlan} from '../extensions/machine/plan.ts';
import {anySignal} from '../ground/async.ts';
import {
  type ClusterTarget,
  nameFlags,
  programOf,
  type ReleaseName,
} from '../ground/command-line.ts';
import {ExitCode, type ExpectedError, failed, onFailure, PromptCanceled} from '../ground/errors.ts';
import {prepareInstall} from '../operations/install.ts';
import type {Plan} from '../operations/step.ts';
import {token, tokenFile, tokenSecret, url} from '../settings/agent.ts';
import {chart, chartSource, type TargetName, target} from '../settings/release.ts';
import {quote, Settings} from '../settings/settings.ts';
import {titleText} from '../ui/prompt-frame.ts';
import {valuesDocument} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import {AnswerStore, type Place} from '../wizard/answer-store.ts';
import {readContexts} from '../wizard/choose-target.ts';
import {type OtherCommand, OtherCommandChosen} from '../wizard/installed-agent.ts';
import {
  fromResumeState,
  ResumeStore,
  readResumeState,
  requireSecretFlags,
  resumePath,
} from '../wizard/resume.ts';
import {runWizard} from '../wizard/run-wizard.ts';
import {type ClusterFlags, releaseName, toolPaths, waitingOf} from './flags.ts';
import {directoryOf, prepareInDocker} from './host.ts';
import type {EXIT_TEXTS, InstallFlags} from './install-flags.ts';
import {type PoolInstall, planPool} from './install-pool.ts';
import type {CommandContext} from './operate.ts';
import {generateFor, readChartOfSettings} from './read-chart.ts';
import {completePath, saveFiles, typedPath} from './user-files.ts';
import {
  installedAgent,
  offeredPools,
  poolFlags,
  poolInstallOf,
  tryRequirements,
} from './wizard-readings.ts';

/** After this time, the wizard asks instead of waiting for the cluster. A credential plugin alone takes seconds. */
const DISCOVERY_TIMEOUT_MS = 5000;

/** The decision of the user, and its context. */
export type WizardDecision = (
  | {generated: Generated; plan: Plan; saved: readonly string[]; pool?: PoolInstall | undefined}
  | {onHost: Settings; plan: HostPlan; pool?: PoolInstall | undefined}
) & {
  flags: ClusterFlags;
  /** Stores the answers until the install is finished. */
  resumeStore: ResumeStore;
};

/** Another command for the installed release, and its arguments. */
export interface FollowUpCommand {
  command: OtherCommand;
  argv: readonly string[];
}

/** Ways to the cluster and to the Scalr account. */
interface WizardAccess {
  accessTo(kubeTarget: ClusterTarget): Promise<ClusterAccess>;
  /** The account of this host, or of --url. @throws ExpectedError if there is no credential */
  account(host?: string): Promise<ScalrClient>;
}

/** Asks for the settings of an install; `saved` or `quit` if the user installs nothing. Read-only. @throws ExpectedError */
export async function decideWithOperator(
  flags: InstallFlags,
  sources: readonly SettingsSource[],
  context: CommandContext,
  {accessTo, account}: WizardAccess,
): Promise<WizardDecision | FollowUpCommand | keyof typeof EXIT_TEXTS> {
  const {app, screen} = context;
  const {files, now, sleep, registries, stderr: say, env} = app;
  const path = resumePath(env);
  const interrupts = app.handleInterrupts();
  const {interrupt} = interrupts;
  const prompter = app.prompter(screen, interrupt);
  const resumeStore = new ResumeStore(path, files, (why) =>
    say(`Your answers are not saved, so --resume cannot continue this session. ${why}\n`),
  );
  try {
    const kept = flags.resume ? await readResumeState(path, files) : undefined;
    const found = await findAnswers([...sources, ...(kept ? fromResumeState(kept) : [])], {
      files,
      now: now(),
    });
    settleAnswers({answers: new Map(), problems: found.problems}, {only: []});
    if (kept) requireSecretFlags(kept, found.answers);
    const {[target.id]: given, ...others} = Object.fromEntries(found.answers);
    const store = new AnswerStore(new Map(Object.entries(others)), kept);
    const place = placeOf(given?.value as TargetName | undefined, flags['kube-context']);
    if (place !== undefined) {
      store.place = place;
      store.asked.add(target.id);
    }
    if (flags.pool !== undefined) {
      const {host} = await account();
      store.pool = {host, name: flags.pool, mustExist: !flags['create-pool']};
      if (!store.isGiven(url)) store.set(url, {value: `https://${host}`, source: 'prompt'});
      store.asked.add('pool').add(url.id);
    }
    const settled = new Settings(found.answers);
    if (store.get(chart) !== undefined)
      store.readChart = (await readChartOfSettings(settled, undefined, {app, flags}))?.target;
    const title = (): string => titleText(context.version, screen);
    say(title());
    if (!flags.resume && path !== undefined && (await files.kindOf(path)) !== 'nothing')
      say(
        'An interrupted session is kept. To continue it, add --resume; your first answer here replaces it.\n\n',
      );
    const flagsAt = (kubeContext = contextOf(store)): InstallFlags => ({
      ...flags,
      'kube-context': kubeContext,
    });
    const nameAt = (kubeContext?: string): ReleaseName => releaseName(flagsAt(kubeContext), store);
    const shortly = (): AbortSignal =>
      anySignal(AbortSignal.timeout(DISCOVERY_TIMEOUT_MS), interrupt);
    const discovered = remembered<DiscoveredCluster>();
    const releases = remembered<Awaited<ReturnType<typeof installedAgent>>>();
    const tried = remembered<Awaited<ReturnType<typeof tryRequirements>>>();
    const installed = (kubeContext: string | undefined): ReturnType<typeof installedAgent> => {
      const name = nameAt(kubeContext);
      return releases(name, async () =>
        installedAgent(name, {...(await accessTo(name.kubeTarget)), now}, shortly()),
      );
    };
    const offered =
      flags.account !== false &&
      flags.pool === undefined &&
      !NO_POOL.some((setting) => settled.isExplicit(setting))
        ? offeredPools(settled, context)
        : undefined;
    offered?.catch(() => undefined);
    const desired = (generated: Generated) =>
      desiredRelease(
        generated,
        valuesDocument(generated),
        releaseName(flagsAt(), generated.settings),
      );
    let access: {key: string; cached: ClusterAccess} | undefined;
    const decision = await runWizard(store, {
      prompter,
      files,
      now,
      say,
      screen,
      env,
      title,
      installed,
      desired,
      read(kubeContext) {
        const {kubeTarget} = nameAt(kubeContext);
        return discovered(kubeTarget, async () =>
          discoverCluster(
            kubeTarget,
            cachedAccess(await accessTo(kubeTarget), {signal: shortly(), sleep}),
          ),
        );
      },
      lacking(kubeContext, again) {
        const {kubeTarget} = nameAt(kubeContext);
        const source = store.get(chartSource);
        const start = async () =>
          tryRequirements({
            kubeTarget,
            access: await accessTo(kubeTarget),
            signal: shortly(),
            hasOwnChart: source !== undefined,
          });
        // Without a cluster, there is nothing to try.
        const trying = tried([kubeTarget, source], () => start().catch(onFailure(() => [])), again);
        // Read in the background from the first question on, too.
        installed(kubeContext).catch(() => undefined);
        return trying;
      },
      pools: async () => offered,
      readChart: async (source) =>
        (await import('../values/chart-files.ts')).readMetadata(
          source,
          (await app.charts.read(source)).chart,
        ),
      contexts: await readContexts(nameAt().kubeTarget, app.processes(toolPaths(flags)), shortly()),
      generate: (settings, facts) => generateFor(settings, facts, {app, flags}),
      planContainers: (settings) =>
        prepareInDocker(settings, directoryOf(settings, flags.save), app, interrupt),
      program: programOf(env),
      where: () => [...whereFlags(flagsAt()), ...poolFlags(store)],
      onAnswer: () => resumeStore.keep(store),
      typedPath: (text) => typedPath(text, env),
      completePath: (text) => completePath(text, files, env),
      async prepare(given) {
        const name = releaseName(flagsAt(), given.settings);
        const key = JSON.stringify(name.kubeTarget);
        // An edit does not read the cluster again.
        if (access?.key !== key)
          access = {
            key,
            cached: cachedAccess(await accessTo(name.kubeTarget), {signal: interrupt, sleep}),
          };
        const {cached} = access;
        try {
          const planned =
            store.pool &&
            (await planPool(
              await poolInstallOf(store.pool, account),
              given,
              name,
              cached,
              context,
            ));
          const generated = planned?.generated ?? given;
          const waiting = waitingOf(flags);
          const signal = anySignal(AbortSignal.timeout(waiting.timeoutMs), interrupt);
          const {facts, manifest, plan} = await prepareInstall(
            generated,
            desired(generated),
            cached,
            {...waiting, now: now(), signal},
          );
          const deps = {...cached, now, sleep, registries, timeoutMs: waiting.timeoutMs};
          const isChecked = !flags['skip-preflight'] && plan.steps.length > 0;
          const checks = isChecked
            ? await runPreflight(generated, desired(generated), deps, {
                manifest,
                context: facts.context,
              })
            : [];
          return {
            plan,
            facts,
            checks,
            ...(planned === undefined ? {} : {accountSteps: planned.steps}),
          };
        } catch (error) {
          interrupt.throwIfAborted();
          access = undefined;
          throw error;
        }
      },
      save: async (directory, settings, texts) => {
        const where = {directory: typedPath(directory, env), context: contextOf(store)};
        return saveFiles(
          {...where, settings, texts, isAccepted: false, confirm: prompter.confirm},
          files,
        );
      },
    }).catch((error: unknown) => {
      if (!(error instanceof OtherCommandChosen)) throw error;
      const {command} = error;
      const own = {
        ...flags,
        'chart-source': command === 'upgrade' ? store.get(chartSource) : undefined,
      };
      return {
        command,
        argv: [
          ...nameFlags(nameAt()),
          ...KEPT_FLAGS.flatMap((name) => (own[name] ? [`--${name}`, own[name]] : [])),
        ],
      };
    });
    if (typeof decision === 'string' || 'command' in decision) {
      if (decision !== 'quit') await resumeStore.forget();
      return decision === 'quit' && !resumeStore.isKept ? 'lost' : decision;
    }
    const pool =
      'pool' in decision && decision.pool !== undefined
        ? await poolInstallOf(decision.pool, account)
        : undefined;
    return {...decision, pool, flags: flagsAt(), resumeStore};
  } catch (error) {
    throw interrupt.aborted || error instanceof PromptCanceled
      ? ended(resumeStore.isKept, interrupt, error)
      : error;
  } finally {
    interrupts.release();
  }
}

/** Flags that another command for the installed release takes over. */
const KEPT_FLAGS = ['chart-source', 'helm', 'kubectl', 'timeout'] as const;

/** Starts each work once, by its key, unless `again`. */
function remembered<T>(): (key: unknown, start: () => Promise<T>, again?: boolean) => Promise<T> {
  const started = new Map<string, Promise<T>>();
  return (key, start, again = false) => {
    const id = JSON.stringify(key);
    const work = (again ? undefined : started.get(id)) ?? start();
    started.set(id, work);
    return work;
  };
}

/** A token, or the Secret that contains it, needs no pool. */
const NO_POOL = [token, tokenFile, tokenSecret];

/** The place that flags and answers select; a cluster must be asked for. */
function placeOf(given: TargetName | undefined, context: string | undefined): Place | undefined {
  if (context !== undefined) return {kind: 'kubernetes', context};
  return given === undefined || given === 'kubernetes' ? undefined : {kind: given};
}

const contextOf = ({place}: AnswerStore): string | undefined =>
  place?.kind === 'kubernetes' ? place.context : undefined;

const whereFlags = ({'kube-context': context, kubeconfig}: ClusterFlags): string[] => [
  ...(context ? [`--kube-context ${quote(context)}`] : []),
  ...(kubeconfig ? [`--kubeconfig ${quote(kubeconfig)}`] : []),
];

const ended = (isKept: boolean, {reason}: AbortSignal, cause: unknown): ExpectedError =>
  failed(
    'CANCELED',
    'Canceled. Nothing was changed.',
    isKept ? ['To continue, run the command again with --resume (enter secrets again)'] : [],
    {exit: reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted, cause},
  );
