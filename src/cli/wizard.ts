import {type DiscoveredCluster, discoverCluster} from '../answers/cluster-answers.ts';
import {findAnswers, settleAnswers} from '../answers/resolve.ts';
import type {SettingsSource} from '../answers/sources.ts';
import {type ClusterTarget, programOf} from '../ground/command-line.ts';
import {ExitCode, ExpectedError, PromptCancelled} from '../ground/errors.ts';
import {anySignal} from '../ground/signals.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {prepareInstall} from '../operations/install.ts';
import {wantedRelease} from '../operations/wanted-release.ts';
import type {Interrupts} from '../ports/processes.ts';
import {cachedAccess} from '../preflight/cached-access.ts';
import {type PreflightDeps, runPreflight} from '../preflight/run-preflight.ts';
import {namespace, type TargetName, target} from '../settings/release.ts';
import {quote} from '../settings/settings.ts';
import {titleText} from '../ui/prompt-text.ts';
import type {Screen} from '../ui/theme.ts';
import {valuesDocument} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import {AnswerStore, type Place} from '../wizard/answer-store.ts';
import {readContexts} from '../wizard/choose-target.ts';
import {fromResumeState, ResumeStore, readResumeState, requireSecretFlags, resumePath} from '../wizard/resume.ts';
import type {Decision} from '../wizard/review.ts';
import type {ReviewedInstall} from '../wizard/review-files.ts';
import {runWizard} from '../wizard/run-wizard.ts';
import type {App} from './app.ts';
import {type ClusterFlags, durationOf, releaseName, timeoutOf, toolPaths} from './flags.ts';
import {directoryOf, prepareInDocker} from './host-install.ts';
import {completePath, saveFiles, typedPath} from './user-files.ts';

/** After this time, the wizard asks instead of waiting for the cluster. A credential plugin alone takes seconds. */
const DISCOVERY_TIMEOUT_MS = 5000;

type Flags = ClusterFlags & {
  save?: string | undefined;
  resume?: boolean;
  'skip-preflight'?: boolean;
  'take-over'?: boolean;
  'drain-timeout': string;
};

/** The decision of the user, and its context. */
export type Decided = Exclude<Decision, string> & {
  flags: ClusterFlags;
  /** Stores the answers until the install is finished. */
  resumeStore: ResumeStore;
};

/** Asks for the settings of an install; `saved` or `quit` if the user installs nothing. Read-only. @throws ExpectedError */
export async function decideWithOperator(
  flags: Flags,
  sources: readonly SettingsSource[],
  {
    app,
    screen,
    accessTo,
    version,
  }: {app: App; screen: Screen; accessTo(kubeTarget: ClusterTarget): Promise<ClusterAccess>; version: string},
): Promise<Decided | 'saved' | 'quit'> {
  const {files, now, sleep, registries, stderr: say, env} = app;
  const path = resumePath(env);
  const interrupts = app.takeInterrupts();
  const prompter = app.prompter(screen, interrupts.interrupt);
  const resumeStore = new ResumeStore(path, files);
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
    say(titleText(version, screen));
    const cluster = (): ClusterTarget => ({
      namespace: store.get(namespace) as string,
      ...(flags.kubeconfig ? {kubeconfig: flags.kubeconfig} : {}),
      ...(contextOf(store) === undefined ? {} : {kubeContext: contextOf(store) as string}),
    });
    const timeoutSignal = (): AbortSignal => anySignal(AbortSignal.timeout(DISCOVERY_TIMEOUT_MS), interrupts.interrupt);
    const discovered = new Map<string, Promise<DiscoveredCluster>>();
    const read = (context: string | undefined): Promise<DiscoveredCluster> => {
      const kubeTarget = {...cluster(), ...(context === undefined ? {} : {kubeContext: context})};
      const key = JSON.stringify(kubeTarget);
      const reading =
        discovered.get(key) ??
        accessTo(kubeTarget).then((access) => discoverCluster(kubeTarget, cachedAccess(access, {signal: timeoutSignal(), sleep})));
      discovered.set(key, reading);
      return reading;
    };
    const clusterFlags = (): ClusterFlags => {
      const context = contextOf(store);
      return {...flags, ...(context === undefined ? {} : {'kube-context': context})};
    };
    const wanted = (generated: Generated) =>
      wantedRelease(generated, valuesDocument(generated), releaseName(clusterFlags(), generated.settings));
    let access: {key: string; cached: ClusterAccess} | undefined;
    const decision = await runWizard(store, {
      prompter,
      files,
      now,
      say,
      screen,
      env,
      read,
      wanted,
      contexts: await readContexts(cluster(), app.processes(toolPaths(flags)), timeoutSignal()),
      planContainers: (settings) => prepareInDocker(settings, directoryOf(settings, flags.save), app, interrupts.interrupt),
      program: programOf(env),
      where: () => whereFlags(clusterFlags()),
      onAnswer: () => resumeStore.keep(store),
      typedPath: (text) => typedPath(text, env),
      completePath: (text) => completePath(text, files, env),
      async prepare(generated) {
        const kubeTarget = cluster();
        const key = JSON.stringify(kubeTarget);
        // An edit does not read the cluster again.
        if (access?.key !== key) access = {key, cached: cachedAccess(await accessTo(kubeTarget), {signal: interrupts.interrupt, sleep})};
        try {
          return await prepareAndCheck(
            generated,
            wanted(generated),
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
    if (typeof decision === 'object') return {...decision, flags: clusterFlags(), resumeStore};
    if (decision === 'saved') await resumeStore.forget();
    return decision;
  } catch (error) {
    throw interrupts.interrupt.aborted || error instanceof PromptCancelled ? ended(resumeStore.isKept, interrupts.interrupt, error) : error;
  } finally {
    interrupts.release();
  }
}

/** The place that flags and answers select; a cluster must be asked for. */
function placeOf(given: TargetName | undefined, context: string | undefined): Place | undefined {
  if (context !== undefined) return {kind: 'kubernetes', context};
  return given === undefined || given === 'kubernetes' ? undefined : {kind: given};
}

const contextOf = ({place}: AnswerStore): string | undefined => (place?.kind === 'kubernetes' ? place.context : undefined);

/** Plan and preflight results of the install. Read-only. @throws ExpectedError if the install is impossible */
async function prepareAndCheck(
  generated: Generated,
  wanted: ReturnType<typeof wantedRelease>,
  {skipsChecks, takesOver, drainTimeoutSeconds, ...deps}: PrepareOptions,
  {interrupt}: Interrupts,
): Promise<ReviewedInstall> {
  const signal = anySignal(AbortSignal.timeout(deps.timeoutMs), interrupt);
  const {facts, manifest, plan} = await prepareInstall(generated, wanted, deps, signal, {
    takesOver,
    timeoutMs: deps.timeoutMs,
    now: deps.now(),
    drainTimeoutSeconds,
  });
  const isChecked = !skipsChecks && plan.steps.length > 0;
  return {plan, facts, checks: isChecked ? await runPreflight(generated, wanted, deps, {manifest, context: facts.context}) : []};
}

interface PrepareOptions extends PreflightDeps {
  skipsChecks: boolean;
  takesOver: boolean;
  drainTimeoutSeconds: number;
}

const whereFlags = ({'kube-context': context, kubeconfig}: ClusterFlags): string[] => [
  ...(context ? [`--kube-context ${quote(context)}`] : []),
  ...(kubeconfig ? [`--kubeconfig ${quote(kubeconfig)}`] : []),
];

const ended = (isKept: boolean, {reason}: AbortSignal, cause: unknown): ExpectedError =>
  new ExpectedError('Cancelled. Nothing was changed.', {
    code: 'CANCELLED',
    exit: reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted,
    suggestions: isKept ? ['To continue, run the command again with --resume (enter secrets again)'] : [],
    cause,
  });
