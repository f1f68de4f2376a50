import {type DiscoveredCluster, discoverCluster} from '../answers/discover-cluster.ts';
import {findAnswers, settle} from '../answers/resolve.ts';
import type {Source} from '../answers/sources.ts';
import type {ClusterAccess} from '../cluster/cluster-access.ts';
import {programOf} from '../command-line.ts';
import {ExitCode, ExpectedError, PromptCancelled} from '../errors.ts';
import {prepareInstall} from '../plan/install.ts';
import {wantedRelease} from '../plan/wanted-release.ts';
import type {Interrupts} from '../ports/interrupts.ts';
import type {ClusterTarget} from '../ports/processes.ts';
import {cachedAccess} from '../preflight/permissions-of.ts';
import {runPreflight} from '../preflight/run-preflight.ts';
import {namespace} from '../settings/release.ts';
import {quote} from '../settings/settings.ts';
import {anySignal} from '../signals.ts';
import {titleText} from '../ui/conversation.ts';
import type {Screen} from '../ui/theme.ts';
import {valuesDocument} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import {AnswerStore, type ResumeState} from '../wizard/answer-store.ts';
import {readContexts} from '../wizard/choose-target.ts';
import {ResumeStore, readResumeState, resumePath} from '../wizard/resume.ts';
import type {Decision} from '../wizard/review.ts';
import type {Prepared} from '../wizard/review-files.ts';
import {runWizard} from '../wizard/run-wizard.ts';
import type {App} from './app.ts';
import {type ClusterFlags, durationOf, releaseName, type TARGETS, timeoutOf, toolPaths} from './flags.ts';
import {directoryOf, prepareInDocker} from './host-install.ts';
import {completePath, saveFiles, typedPath} from './user-files.ts';

/** After this time, the wizard asks instead of waiting for the cluster. A credential plugin alone takes seconds. */
const DISCOVERY_TIMEOUT_MS = 5000;

type Flags = ClusterFlags & {
  target?: (typeof TARGETS)[number] | undefined;
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
  sources: readonly Source[],
  {app, screen, accessTo, version}: {app: App; screen: Screen; accessTo(place: ClusterTarget): Promise<ClusterAccess>; version: string},
): Promise<Decided | 'saved' | 'quit'> {
  const {files, now, sleep, registries, stderr: say, env} = app;
  const path = resumePath(env);
  const interrupts = app.takeInterrupts();
  const prompter = app.prompter(screen, interrupts.interrupt);
  const resumeStore = new ResumeStore(path, files);
  try {
    const kept = flags.resume ? await readResumeState(path, files) : undefined;
    const found = await findAnswers([...sources, ...(kept ? [fromKept(kept)] : [])], {files, now: now()});
    settle({answers: new Map(), problems: found.problems}, {only: []});
    const store = new AnswerStore(found.answers, kept);
    if (flags.target === 'docker' || flags.target === 'systemd') store.place = {kind: flags.target};
    if (flags['kube-context'] !== undefined) store.place = {kind: 'kubernetes', context: flags['kube-context']};
    say(titleText(version, screen));
    const target = (): ClusterTarget => ({
      namespace: store.get(namespace) as string,
      ...(flags.kubeconfig ? {kubeconfig: flags.kubeconfig} : {}),
      ...(contextOf(store) === undefined ? {} : {kubeContext: contextOf(store) as string}),
    });
    const timeoutSignal = (): AbortSignal => anySignal(AbortSignal.timeout(DISCOVERY_TIMEOUT_MS), interrupts.interrupt);
    const discovered = new Map<string | undefined, Promise<DiscoveredCluster>>();
    const read = (context: string | undefined): Promise<DiscoveredCluster> => {
      const place = {...target(), ...(context === undefined ? {} : {kubeContext: context})};
      const reading =
        discovered.get(context) ??
        accessTo(place).then((access) => discoverCluster(place, cachedAccess(access, {signal: timeoutSignal(), sleep})));
      discovered.set(context, reading);
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
      contexts: await readContexts(target(), app.processes(toolPaths(flags)), timeoutSignal()),
      isFixed: flags['kube-context'] !== undefined || (flags.target !== undefined && flags.target !== 'kubernetes'),
      planContainers: (settings) => prepareInDocker(settings, directoryOf(settings, flags.save), app, interrupts.interrupt),
      program: programOf(env),
      where: () => whereFlags(clusterFlags()),
      onAnswer: () => resumeStore.keep(store),
      typedPath: (text) => typedPath(text, env),
      completePath: (text) => completePath(text, files, env),
      async prepare(generated) {
        const place = target();
        const key = JSON.stringify(place);
        // An edit does not read the cluster again.
        if (access?.key !== key) access = {key, cached: cachedAccess(await accessTo(place), {signal: interrupts.interrupt, sleep})};
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

const contextOf = ({place}: AnswerStore): string | undefined => (place?.kind === 'kubernetes' ? place.context : undefined);

/** Plan and preflight results of the install. Read-only. @throws ExpectedError if the install is impossible */
async function prepareAndCheck(
  generated: Generated,
  wanted: Wanted,
  {skipsChecks, takesOver, drainTimeoutSeconds, ...deps}: PrepareOptions,
  {interrupt}: Interrupts,
): Promise<Prepared> {
  const signal = anySignal(AbortSignal.timeout(deps.timeoutMs), interrupt);
  const {facts, manifest, plan} = await prepareInstall(generated, wanted, deps, signal, {
    takesOver,
    timeoutMs: deps.timeoutMs,
    now: deps.now(),
    drainTimeoutSeconds,
  });
  const isChecked = !skipsChecks && plan.steps.length > 0;
  return {plan, facts, warnings: isChecked ? await runPreflight(generated, wanted, deps, {manifest, context: facts.context}) : []};
}

type Wanted = ReturnType<typeof wantedRelease>;
type PrepareOptions = Parameters<typeof runPreflight>[2] & {skipsChecks: boolean; takesOver: boolean; drainTimeoutSeconds: number};

const fromKept = ({answers}: ResumeState): Source => ({name: 'prompt', answer: (setting) => answers[setting.id]});

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
