import {type DiscoveredCluster, discoverCluster} from '../answers/cluster-answers.ts';
import {findAnswers, settleAnswers} from '../answers/resolve.ts';
import type {SettingsSource} from '../answers/sources.ts';
import {type ClusterTarget, programOf} from '../ground/command-line.ts';
import {ExitCode, type ExpectedError, failed, onFailure, PromptCancelled} from '../ground/errors.ts';
import {anySignal} from '../ground/signals.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import type {HostPlan} from '../host/plan.ts';
import type {Plan} from '../operations/step.ts';
import {wantedRelease} from '../operations/wanted-release.ts';
import {cachedAccess} from '../preflight/cached-access.ts';
import type {ScalrClient} from '../scalr/client.ts';
import {token, tokenFile, tokenSecret, url} from '../settings/agent.ts';
import {chart, chartSource, namespace, release, type TargetName, target} from '../settings/release.ts';
import {quote, Settings} from '../settings/settings.ts';
import {titleText} from '../ui/prompt-text.ts';
import type {Screen} from '../ui/theme.ts';
import {valuesDocument} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import {AnswerStore, type Place} from '../wizard/answer-store.ts';
import {readContexts} from '../wizard/choose-target.ts';
import {LeftFor, type OtherCommand} from '../wizard/requirements.ts';
import {fromResumeState, ResumeStore, readResumeState, requireSecretFlags, resumePath} from '../wizard/resume.ts';
import {runWizard} from '../wizard/run-wizard.ts';
import type {App} from './app.ts';
import {type ClusterFlags, durationOf, releaseName, timeoutOf, toolPaths} from './flags.ts';
import {directoryOf, prepareInDocker} from './host.ts';
import {type PlannedPool, type PoolInstall, planPool} from './install-pool.ts';
import type {CommandContext} from './operate.ts';
import {generateFor, readOfSettings} from './read-chart.ts';
import {completePath, saveFiles, typedPath} from './user-files.ts';
import {installedAgent, offeredPools, poolFlags, poolInstallOf, prepareAndCheck, tryRequirements} from './wizard-readings.ts';

/** After this time, the wizard asks instead of waiting for the cluster. A credential plugin alone takes seconds. */
const DISCOVERY_TIMEOUT_MS = 5000;

type Flags = ClusterFlags & {
  account?: boolean;
  save?: string | undefined;
  resume?: boolean;
  'skip-preflight'?: boolean;
  'take-over'?: boolean;
  'drain-timeout': string;
  pool?: string | undefined;
  'create-pool'?: boolean;
};

/** The decision of the user, and its context. */
export type Decided = (
  | {generated: Generated; plan: Plan; saved: readonly string[]; pool?: PoolInstall | undefined}
  | {onHost: Settings; plan: HostPlan; pool?: PoolInstall | undefined}
) & {
  flags: ClusterFlags;
  /** Stores the answers until the install is finished. */
  resumeStore: ResumeStore;
};

/** Another command for the installed release, and its arguments. */
export interface Left {
  command: OtherCommand;
  argv: readonly string[];
}

/** Asks for the settings of an install; `saved` or `quit` if the user installs nothing. Read-only. @throws ExpectedError */
export async function decideWithOperator(
  flags: Flags,
  sources: readonly SettingsSource[],
  {
    app,
    screen,
    accessTo,
    version,
    context,
    account,
  }: {
    app: App;
    screen: Screen;
    accessTo(kubeTarget: ClusterTarget): Promise<ClusterAccess>;
    version: string;
    context: CommandContext;
    /** The Scalr account of this host, or of --url. @throws ExpectedError if there is no credential */
    account(host?: string): Promise<ScalrClient>;
  },
): Promise<Decided | Left | 'saved' | 'quit'> {
  const {files, now, sleep, registries, stderr: say, env} = app;
  const path = resumePath(env);
  const interrupts = app.takeInterrupts();
  const prompter = app.prompter(screen, interrupts.interrupt);
  const resumeStore = new ResumeStore(path, files);
  let leftArgv = (): string[] => [];
  try {
    const kept = flags.resume ? await readResumeState(path, files) : undefined;
    const found = await findAnswers([...sources, ...(kept ? fromResumeState(kept) : [])], {files, now: now()});
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
    if (store.get(chart) !== undefined)
      store.readChart = (await readOfSettings(new Settings(found.answers), undefined, {app, flags}))?.target;
    const title = (): string => titleText(version, screen);
    say(title());
    if (!flags.resume && path !== undefined && (await files.kindOf(path)) !== 'nothing')
      say('An interrupted session is kept. To continue it, add --resume; your first answer here replaces it.\n\n');
    const cluster = (): ClusterTarget => ({
      namespace: store.get(namespace) as string,
      ...(flags.kubeconfig ? {kubeconfig: flags.kubeconfig} : {}),
      ...(contextOf(store) === undefined ? {} : {kubeContext: contextOf(store) as string}),
    });
    const timeoutSignal = (): AbortSignal => anySignal(AbortSignal.timeout(DISCOVERY_TIMEOUT_MS), interrupts.interrupt);
    const clusterAt = (context: string | undefined): ClusterTarget => ({
      ...cluster(),
      ...(context === undefined ? {} : {kubeContext: context}),
    });
    const discovered = remembered<DiscoveredCluster>();
    const read = (context: string | undefined): Promise<DiscoveredCluster> => {
      const kubeTarget = clusterAt(context);
      return discovered(kubeTarget, async () =>
        discoverCluster(kubeTarget, cachedAccess(await accessTo(kubeTarget), {signal: timeoutSignal(), sleep})),
      );
    };
    const settled = new Settings(found.answers);
    const offered =
      flags.account !== false && flags.pool === undefined && !NO_POOL.some((setting) => settled.isExplicit(setting))
        ? offeredPools(settled, context)
        : undefined;
    offered?.catch(() => undefined);
    const releases = remembered<Awaited<ReturnType<typeof installedAgent>>>();
    const installed = (context: string | undefined): ReturnType<typeof installedAgent> => {
      const name = {release: store.get(release) as string, kubeTarget: clusterAt(context)};
      return releases(name, async () => installedAgent(name, {...(await accessTo(name.kubeTarget)), now}, timeoutSignal()));
    };
    const tried = remembered<Awaited<ReturnType<typeof tryRequirements>>>();
    const lacking = (context: string | undefined, again = false): ReturnType<typeof tryRequirements> => {
      const kubeTarget = clusterAt(context);
      const source = store.get(chartSource);
      const start = () =>
        accessTo(kubeTarget)
          .then((access) => tryRequirements({kubeTarget, access, signal: timeoutSignal(), hasOwnChart: source !== undefined}))
          // Without a cluster, there is nothing to try.
          .catch(onFailure(() => []));
      const trying = tried([kubeTarget, source], start, again);
      // Read in the background from the first question on, too.
      installed(context).catch(() => undefined);
      return trying;
    };
    const clusterFlags = (): ClusterFlags => {
      const context = contextOf(store);
      return {...flags, ...(context === undefined ? {} : {'kube-context': context})};
    };
    leftArgv = () => [
      ...['--release', store.get(release) as string, '--namespace', store.get(namespace) as string],
      ...(contextOf(store) === undefined ? [] : ['--kube-context', contextOf(store) as string]),
      ...(flags.kubeconfig ? ['--kubeconfig', flags.kubeconfig] : []),
    ];
    const wanted = (generated: Generated) =>
      wantedRelease(generated, valuesDocument(generated), releaseName(clusterFlags(), generated.settings));
    const planInAccount = async (generated: Generated, {pool}: AnswerStore, cached: ClusterAccess): Promise<PlannedPool | undefined> =>
      pool && planPool(await poolInstallOf(pool, account), generated, releaseName(clusterFlags(), generated.settings), cached, context);
    let access: {key: string; cached: ClusterAccess} | undefined;
    const decision = await runWizard(store, {
      prompter,
      files,
      now,
      say,
      screen,
      env,
      title,
      read,
      lacking,
      pools: async () => offered,
      installed,
      readChart: async (source) => (await import('../values/chart-files.ts')).readMetadata(source, (await app.charts.read(source)).chart),
      wanted,
      contexts: await readContexts(cluster(), app.processes(toolPaths(flags)), timeoutSignal()),
      generate: (settings, facts) => generateFor(settings, facts, {app, flags}),
      planContainers: (settings) => prepareInDocker(settings, directoryOf(settings, flags.save), app, interrupts.interrupt),
      program: programOf(env),
      where: () => [...whereFlags(clusterFlags()), ...poolFlags(store)],
      onAnswer: () => resumeStore.keep(store),
      typedPath: (text) => typedPath(text, env),
      completePath: (text) => completePath(text, files, env),
      async prepare(generated) {
        const kubeTarget = cluster();
        const key = JSON.stringify(kubeTarget);
        // An edit does not read the cluster again.
        if (access?.key !== key) access = {key, cached: cachedAccess(await accessTo(kubeTarget), {signal: interrupts.interrupt, sleep})};
        try {
          const planned = await planInAccount(generated, store, access.cached);
          const ready = await prepareAndCheck(
            planned?.generated ?? generated,
            wanted(planned?.generated ?? generated),
            {
              ...access.cached,
              now,
              sleep,
              registries,
              timeoutMs: timeoutOf(flags),
              skipsChecks: flags['skip-preflight'] ?? false,
              takesOver: flags['take-over'] ?? false,
              drainTimeoutSeconds: durationOf('--drain-timeout', flags['drain-timeout']) / 1000,
            },
            interrupts,
          );
          return planned === undefined ? ready : {...ready, accountSteps: planned.steps};
        } catch (error) {
          interrupts.interrupt.throwIfAborted();
          access = undefined;
          throw error;
        }
      },
      save: async (directory, settings, texts) =>
        saveFiles(
          {
            directory: typedPath(directory, env),
            settings,
            context: contextOf(store),
            texts,
            isAccepted: false,
            confirm: prompter.confirm,
          },
          files,
        ),
    });
    if (typeof decision === 'object') {
      const pool = 'pool' in decision && decision.pool !== undefined ? await poolInstallOf(decision.pool, account) : undefined;
      return {...decision, pool, flags: clusterFlags(), resumeStore};
    }
    if (decision === 'saved') await resumeStore.forget();
    return decision;
  } catch (error) {
    if (error instanceof LeftFor) return {command: error.command, argv: leftArgv()};
    throw interrupts.interrupt.aborted || error instanceof PromptCancelled ? ended(resumeStore.isKept, interrupts.interrupt, error) : error;
  } finally {
    interrupts.release();
  }
}

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

const contextOf = ({place}: AnswerStore): string | undefined => (place?.kind === 'kubernetes' ? place.context : undefined);

const whereFlags = ({'kube-context': context, kubeconfig}: ClusterFlags): string[] => [
  ...(context ? [`--kube-context ${quote(context)}`] : []),
  ...(kubeconfig ? [`--kubeconfig ${quote(kubeconfig)}`] : []),
];

const ended = (isKept: boolean, {reason}: AbortSignal, cause: unknown): ExpectedError =>
  failed(
    'CANCELLED',
    'Cancelled. Nothing was changed.',
    isKept ? ['To continue, run the command again with --resume (enter secrets again)'] : [],
    {exit: reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted, cause},
  );
