import {discoverCluster} from '../answers/discover-cluster.ts';
import {findAnswers, settle} from '../answers/resolve.ts';
import type {Source} from '../answers/sources.ts';
import type {ClusterAccess} from '../cluster/cluster-access.ts';
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
import {paragraph, type Screen} from '../ui/theme.ts';
import {valuesDocument} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import {AnswerStore} from '../wizard/answer-store.ts';
import {chooseContext} from '../wizard/choose-context.ts';
import {type ResumeState, ResumeStore, readResumeState, resumePath} from '../wizard/resume.ts';
import type {Decision, Prepared} from '../wizard/review.ts';
import {runWizard} from '../wizard/run-wizard.ts';
import {waitForCluster} from '../wizard/wait-for-cluster.ts';
import type {App} from './app.ts';
import {type ClusterFlags, durationOf, releaseName, timeoutOf, toolPaths} from './flags.ts';
import {saveFiles, typedPath} from './user-files.ts';

/** After this time, the wizard asks instead of waiting for the cluster. A credential plugin alone takes seconds. */
const DISCOVERY_TIMEOUT_MS = 5000;

type Flags = ClusterFlags & {resume?: boolean; 'skip-preflight'?: boolean; 'take-over'?: boolean; 'drain-timeout': string};

/** The decision of the user, and its context. */
export interface Decided extends NonNullable<Decision> {
  flags: ClusterFlags;
  /** Stores the answers until the install is finished. */
  resumeStore: ResumeStore;
}

/** Asks for the settings of an install; undefined if the user quits. Read-only. @throws ExpectedError */
export async function decideWithOperator(
  flags: Flags,
  sources: readonly Source[],
  {app, screen, accessTo}: {app: App; screen: Screen; accessTo(place: ClusterTarget): Promise<ClusterAccess>},
): Promise<Decided | undefined> {
  const {files, now, sleep, stderr: say} = app;
  const path = resumePath(app.env);
  const interrupts = app.takeInterrupts();
  const prompter = app.prompter(screen, interrupts.interrupt);
  const processes = app.processes(toolPaths(flags));
  const resumeStore = new ResumeStore(path, files);
  try {
    const kept = flags.resume ? await readResumeState(path, files) : undefined;
    const found = await findAnswers([...sources, ...(kept ? [fromKept(kept)] : [])], {files, now: now()});
    settle({answers: new Map(), problems: found.problems}, {only: []});
    const known = new AnswerStore(found.answers, kept?.asked);
    say(paragraph('', 'Nothing is changed until you choose to install. Ctrl-C quits, ? shows help.', screen));
    const given = flags['kube-context'] ?? kept?.context;
    const place = {namespace: known.get(namespace) as string, ...(flags.kubeconfig ? {kubeconfig: flags.kubeconfig} : {})};
    const timeoutSignal = (): AbortSignal => anySignal(AbortSignal.timeout(DISCOVERY_TIMEOUT_MS), interrupts.interrupt);
    const context = given ?? (await chooseContext(place, processes, prompter, timeoutSignal()));
    const where = {...flags, ...(context === undefined ? {} : {'kube-context': context})};
    const chosen = {...place, ...(context === undefined ? {} : {kubeContext: context})};
    const access = await accessTo(chosen);
    const discovering = discoverCluster(chosen, cachedAccess(access, {signal: timeoutSignal(), sleep}));
    const wanted = (generated: Generated) => wantedRelease(generated, valuesDocument(generated), releaseName(where, generated.settings));
    const decision = await runWizard(known, () => waitForCluster(discovering, {sleep, say}), {
      prompter,
      files,
      now,
      say,
      screen,
      wanted,
      where: whereFlags(where),
      onAnswer: () => resumeStore.keep(known, context),
      async prepare(generated) {
        say('Checking the cluster …\n\n');
        const skipsChecks = flags['skip-preflight'] ?? false;
        const prepared = prepareAndCheck(
          generated,
          wanted(generated),
          {
            ...access,
            now,
            sleep,
            timeoutMs: timeoutOf(flags),
            skipsChecks,
            takesOver: flags['take-over'] ?? false,
            drainTimeoutSeconds: durationOf('--drain-timeout', flags['drain-timeout']) / 1000,
          },
          interrupts,
        );
        return prepared.catch((error: unknown) => {
          interrupts.interrupt.throwIfAborted();
          throw error;
        });
      },
      save: async (directory, generated) =>
        saveFiles(
          {
            directory: typedPath(directory, app.env),
            settings: generated.settings,
            values: valuesDocument(generated),
            isAccepted: false,
            confirm: prompter.confirm,
          },
          files,
        ),
    });
    if (decision !== undefined) return {...decision, flags: where, resumeStore};
    await resumeStore.forget();
    return undefined;
  } catch (error) {
    throw interrupts.interrupt.aborted || error instanceof PromptCancelled ? ended(resumeStore.isKept, interrupts.interrupt, error) : error;
  } finally {
    interrupts.release();
  }
}

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
