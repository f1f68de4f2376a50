import {findAnswers, settle} from '../answers/resolve.ts';
import type {Source} from '../answers/sources.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {wantedRelease} from '../plan/wanted-release.ts';
import {firstOf} from '../ports/first-of.ts';
import {lookAhead} from '../preflight/look-ahead.ts';
import {prepareInstall} from '../preflight/prepare-install.ts';
import {quote} from '../settings/flags.ts';
import {namespace} from '../settings/release.ts';
import {paragraph, type Screen} from '../ui/theme.ts';
import {valuesDocument} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import {chooseContext} from '../wizard/choose-context.ts';
import {converse} from '../wizard/converse.ts';
import {Knowledge} from '../wizard/knowledge.ts';
import {listen} from '../wizard/listen.ts';
import {type Kept, keep, readKept, resumePath} from '../wizard/resume.ts';
import type {Decision, Prepared} from '../wizard/review.ts';
import type {App} from './app.ts';
import {type ClusterFlags, releaseName, timeoutOf, toolPaths} from './cluster-flags.ts';
import {saveFiles} from './save-files.ts';

/** What the cluster has not said by then is asked for. */
const LISTENING_MS = 2000;

type Flags = ClusterFlags & {resume?: boolean; 'skip-preflight'?: boolean};

/** What an operator decided, and for which context. */
export type Decided = NonNullable<Decision> & {flags: ClusterFlags};

/** Finds out in a conversation what is to be installed; undefined where the operator leaves. Changes nothing. @throws ExpectedError */
export async function decideWithOperator(flags: Flags, sources: readonly Source[], app: App, screen: Screen): Promise<Decided | undefined> {
  const {files, now, sleep, stderr: say} = app;
  const path = resumePath(app.env);
  const interrupts = app.takeInterrupts();
  const prompter = app.prompter(screen, interrupts.asked);
  const processes = app.processes(toolPaths(flags));
  let isKept = false;
  try {
    const kept = flags.resume ? await readKept(path, files) : undefined;
    const found = await findAnswers([...sources, ...(kept ? [fromKept(kept)] : [])], {files, now: now()});
    settle({answers: new Map(), problems: found.problems}, {only: []});
    const known = new Knowledge(found.answers, kept?.asked);
    say(paragraph('', 'Nothing is changed before you choose to install. Ctrl-C ends, ? explains.', screen));
    const given = flags['kube-context'] ?? kept?.context;
    const place = {namespace: known.get(namespace) as string, ...(flags.kubeconfig ? {kubeconfig: flags.kubeconfig} : {})};
    const context = given ?? (await chooseContext(place, processes, prompter));
    const where = {...flags, ...(context === undefined ? {} : {'kube-context': context})};
    const over = firstOf(AbortSignal.timeout(LISTENING_MS), interrupts.asked);
    const listening = listen({...place, ...(context === undefined ? {} : {kubeContext: context})}, processes, over);
    const wanted = (generated: Generated) => wantedRelease(generated, valuesDocument(generated), releaseName(where, generated.settings));
    const decision = await converse(known, listening, {
      prompter,
      files,
      now,
      say,
      screen,
      wanted,
      where: whereFlags(where),
      async onAnswer() {
        if (path === undefined) return;
        try {
          await keep(path, known, context, files);
          isKept = true;
        } catch (error) {
          if (!(error instanceof ExpectedError)) throw error;
          isKept = false;
        }
      },
      async prepare(generated): Promise<Prepared> {
        say('Looking at the cluster …\n\n');
        const timeoutMs = timeoutOf(flags);
        const soon = firstOf(AbortSignal.timeout(timeoutMs), interrupts.asked);
        const {facts, manifest, plan} = await prepareInstall(generated, wanted(generated), processes, soon).catch((error: unknown) => {
          interrupts.asked.throwIfAborted();
          throw error;
        });
        const skips = flags['skip-preflight'] || plan.steps.length === 0;
        const warnings = skips
          ? []
          : await lookAhead(generated, wanted(generated), {processes, now, sleep, timeoutMs}, {manifest, context: facts.context});
        return {plan, facts, warnings};
      },
      save: async (directory, generated) =>
        saveFiles(
          {directory, settings: generated.settings, values: valuesDocument(generated), isAccepted: false, confirm: prompter.confirm},
          files,
        ),
    });
    if (decision !== undefined) return {...decision, flags: where};
    await forgetKept(app);
    return undefined;
  } catch (error) {
    throw interrupts.asked.aborted || isGone(error) ? ended(isKept, interrupts.asked, error) : error;
  } finally {
    interrupts.release();
  }
}

/** What was said is not needed any more. */
export async function forgetKept({env, files}: App): Promise<void> {
  const path = resumePath(env);
  if (path !== undefined) await files.remove(path);
}

const fromKept = ({answers}: Kept): Source => ({name: 'prompt', answer: (setting) => answers[setting.id]});

const whereFlags = ({'kube-context': context, kubeconfig}: ClusterFlags): string[] => [
  ...(context ? [`--kube-context ${quote(context)}`] : []),
  ...(kubeconfig ? [`--kubeconfig ${quote(kubeconfig)}`] : []),
];

/** The question was taken away: by Ctrl-C, or because the program has to end. */
const isGone = (error: unknown): boolean => ['ExitPromptError', 'AbortPromptError'].includes((error as Error).name);

const ended = (isKept: boolean, {reason}: AbortSignal, cause: unknown): ExpectedError =>
  new ExpectedError('Cancelled. Nothing was changed.', {
    code: 'CANCELLED',
    exit: reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted,
    suggestions: isKept ? ['Go on from here: run it again with --resume (secrets are asked for again)'] : [],
    cause,
  });
