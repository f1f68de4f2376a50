import {discoverCluster} from '../answers/discover-cluster.ts';
import {findAnswers, settle} from '../answers/resolve.ts';
import type {Source} from '../answers/sources.ts';
import type {ClusterAccess} from '../cluster/cluster-access.ts';
import {ExitCode, ExpectedError, PromptCancelled} from '../errors.ts';
import {prepareInstall} from '../plan/install.ts';
import {wantedRelease} from '../plan/wanted-release.ts';
import type {Interrupts} from '../ports/interrupts.ts';
import type {Place} from '../ports/processes.ts';
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
import {waitFor} from '../wizard/listen.ts';
import {type ResumeState, ResumeStore, readResumeState, resumePath} from '../wizard/resume.ts';
import type {Decision, Prepared} from '../wizard/review.ts';
import {runWizard} from '../wizard/run-wizard.ts';
import type {App} from './app.ts';
import {type ClusterFlags, durationOf, releaseName, timeoutOf, toolPaths} from './flags.ts';
import {saveFiles} from './user-files.ts';

/** What the cluster has not said by then is asked for. A login plugin alone takes seconds; the operator is typing meanwhile. */
const LISTENING_MS = 5000;

type Flags = ClusterFlags & {resume?: boolean; 'skip-preflight'?: boolean; 'take-over'?: boolean; 'drain-timeout': string};

/** What an operator decided, and for which context. */
export interface Decided extends NonNullable<Decision> {
  flags: ClusterFlags;
  /** Has what was said, until it is done. */
  keeper: ResumeStore;
}

/** Finds out in a conversation what is to be installed; undefined where the operator leaves. Changes nothing. @throws ExpectedError */
export async function decideWithOperator(
  flags: Flags,
  sources: readonly Source[],
  {app, screen, accessTo}: {app: App; screen: Screen; accessTo(place: Place): Promise<ClusterAccess>},
): Promise<Decided | undefined> {
  const {files, now, sleep, stderr: say} = app;
  const path = resumePath(app.env);
  const interrupts = app.takeInterrupts();
  const prompter = app.prompter(screen, interrupts.asked);
  const processes = app.processes(toolPaths(flags));
  const keeper = new ResumeStore(path, files);
  try {
    const kept = flags.resume ? await readResumeState(path, files) : undefined;
    const found = await findAnswers([...sources, ...(kept ? [fromKept(kept)] : [])], {files, now: now()});
    settle({answers: new Map(), problems: found.problems}, {only: []});
    const known = new AnswerStore(found.answers, kept?.asked);
    say(paragraph('', 'Nothing is changed before you choose to install. Ctrl-C ends, ? explains.', screen));
    const given = flags['kube-context'] ?? kept?.context;
    const place = {namespace: known.get(namespace) as string, ...(flags.kubeconfig ? {kubeconfig: flags.kubeconfig} : {})};
    const soon = (): AbortSignal => anySignal(AbortSignal.timeout(LISTENING_MS), interrupts.asked);
    const context = given ?? (await chooseContext(place, processes, prompter, soon()));
    const where = {...flags, ...(context === undefined ? {} : {'kube-context': context})};
    const chosen = {...place, ...(context === undefined ? {} : {kubeContext: context})};
    const access = await accessTo(chosen);
    const discovering = discoverCluster(chosen, cachedAccess(access, {over: soon(), sleep}));
    const wanted = (generated: Generated) => wantedRelease(generated, valuesDocument(generated), releaseName(where, generated.settings));
    const decision = await runWizard(known, () => waitFor(discovering, {sleep, say}), {
      prompter,
      files,
      now,
      say,
      screen,
      wanted,
      where: whereFlags(where),
      onAnswer: () => keeper.keep(known, context),
      async prepare(generated) {
        say('Looking at the cluster …\n\n');
        const skipsChecks = flags['skip-preflight'] ?? false;
        const prepared = lookFirst(
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
          interrupts.asked.throwIfAborted();
          throw error;
        });
      },
      save: async (directory, generated) =>
        saveFiles(
          {directory, settings: generated.settings, values: valuesDocument(generated), isAccepted: false, confirm: prompter.confirm},
          files,
        ),
    });
    if (decision !== undefined) return {...decision, flags: where, keeper};
    await keeper.forget();
    return undefined;
  } catch (error) {
    throw interrupts.asked.aborted || error instanceof PromptCancelled ? ended(keeper.isKept, interrupts.asked, error) : error;
  } finally {
    interrupts.release();
  }
}

/** What an install would do and what speaks against it; changes nothing. @throws ExpectedError where it is not possible */
async function lookFirst(
  generated: Generated,
  wanted: Wanted,
  {skipsChecks, takesOver, drainTimeoutSeconds, ...world}: Looking,
  {asked}: Interrupts,
): Promise<Prepared> {
  const over = anySignal(AbortSignal.timeout(world.timeoutMs), asked);
  const {facts, manifest, plan} = await prepareInstall(generated, wanted, world, over, {
    takesOver,
    timeoutMs: world.timeoutMs,
    now: world.now(),
    drainTimeoutSeconds,
  });
  const isChecked = !skipsChecks && plan.steps.length > 0;
  return {plan, facts, warnings: isChecked ? await runPreflight(generated, wanted, world, {manifest, context: facts.context}) : []};
}

type Wanted = ReturnType<typeof wantedRelease>;
type Looking = Parameters<typeof runPreflight>[2] & {skipsChecks: boolean; takesOver: boolean; drainTimeoutSeconds: number};

const fromKept = ({answers}: ResumeState): Source => ({name: 'prompt', answer: (setting) => answers[setting.id]});

const whereFlags = ({'kube-context': context, kubeconfig}: ClusterFlags): string[] => [
  ...(context ? [`--kube-context ${quote(context)}`] : []),
  ...(kubeconfig ? [`--kubeconfig ${quote(kubeconfig)}`] : []),
];

const ended = (isKept: boolean, {reason}: AbortSignal, cause: unknown): ExpectedError =>
  new ExpectedError('Cancelled. Nothing was changed.', {
    code: 'CANCELLED',
    exit: reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted,
    suggestions: isKept ? ['Go on from here: run it again with --resume (secrets are asked for again)'] : [],
    cause,
  });
