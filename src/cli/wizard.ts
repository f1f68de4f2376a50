import type {SettingsSource} from '../answers/sources.ts';
import type {HostPlan} from '../extensions/machine/plan.ts';
import {nameFlags} from '../ground/command-line.ts';
import {type ExpectedError, failed, PromptCanceled} from '../ground/errors.ts';
import type {Plan} from '../operations/step.ts';
import {chartSource} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {paragraph} from '../ui/theme.ts';
import {titleText} from '../ui/title.ts';
import type {GeneratedValues} from '../values/generate.ts';
import {type OtherCommand, OtherCommandChosen} from '../wizard/other-command.ts';
import {ResumeStore, readResumeState, resumePath} from '../wizard/resume.ts';
import type {Decision} from '../wizard/review.ts';
import {runWizard} from '../wizard/run-wizard.ts';
import type {WizardState} from '../wizard/wizard-state.ts';
import {hasEarlyTitle} from './early-title.ts';
import {firstDeps} from './first-deps.ts';
import type {InstallFlags} from './install-flags.ts';
import type {PoolInstall} from './install-pool.ts';
import type {CommandContext} from './operate.ts';
import {firstAnswers} from './wizard-answers.ts';
import {flagsAt, nameAt, type WizardAccess, type WizardSession} from './wizard-session.ts';

/** How the user left the wizard. */
export type WizardOutcome =
  | {kind: 'left'; text: string}
  /** Another command for the installed release, and its arguments. */
  | {kind: 'other-command'; command: OtherCommand; argv: readonly string[]; state: WizardState}
  | DecidedInstall;

/** The confirmed plan, and the store of the answers until the install is finished. */
export type DecidedInstall = {resumeStore: ResumeStore} & (
  | {
      kind: 'cluster';
      /** With the chosen context. */
      flags: InstallFlags;
      generated: GeneratedValues;
      wizard: {plan: Plan; saved: readonly string[]};
      /** Where the user returns to who does not confirm a risk. */
      state: WizardState;
      pool: PoolInstall | undefined;
    }
  | {kind: 'docker'; settings: Settings; plan: HostPlan}
);

const KEPT =
  'An interrupted session is kept. To continue it, add --resume; your first answer here replaces it.';

const EXIT_TEXTS = {
  saved: 'No agent was installed or changed.\n',
  quit: 'Nothing was changed. To continue, run the command again with --resume.\n',
  lost: 'Nothing was changed.\n',
};

/** What the wizard begins with. */
export interface WizardStart {
  flags: InstallFlags;
  sources: readonly SettingsSource[];
  /** After another command: where the user was. */
  state?: WizardState | undefined;
}

/** Asks for the settings of an install. Read-only. @throws ExpectedError */
export async function decideWithOperator(
  {flags, sources, state}: WizardStart,
  context: CommandContext,
  access: WizardAccess,
): Promise<WizardOutcome> {
  const {app, screen} = context;
  const {files, stderr: say} = app;
  const path = resumePath(app.env);
  const interrupts = app.handleInterrupts();
  const {interrupt} = interrupts;
  const prompter = app.prompter(screen, interrupt);
  const resumeStore = new ResumeStore(path, files, (why) =>
    say(`Your answers are not saved, so --resume cannot continue this session. ${why}\n`),
  );
  try {
    const kept = flags.resume ? await readResumeState(path, files) : undefined;
    const {given, start} = await firstAnswers({flags, sources, kept}, context, access);
    if (state === undefined) {
      if (!hasEarlyTitle(process)) say(titleText(context.version, screen));
      if (!flags.resume && path !== undefined && (await files.kindOf(path)) !== 'nothing')
        say(`${paragraph('', KEPT, screen)}\n`);
    }
    const session = {...access, given, start: state ?? start, flags, context, prompter};
    return await outcomeOf({...session, interrupt, resumeStore});
  } catch (error) {
    const isCanceled = interrupt.aborted || error instanceof PromptCanceled;
    throw isCanceled ? ended(resumeStore.isKept, interrupt) : error;
  } finally {
    interrupts.release();
  }
}

async function outcomeOf(session: WizardSession): Promise<WizardOutcome> {
  const {account, resumeStore} = session;
  const decision = await decisionOf(session);
  if (decision === 'quit')
    return {kind: 'left', text: resumeStore.isKept ? EXIT_TEXTS.quit : EXIT_TEXTS.lost};
  if (decision === 'saved') {
    await resumeStore.forget();
    return {kind: 'left', text: EXIT_TEXTS.saved};
  }
  if (decision instanceof OtherCommandChosen) {
    await resumeStore.forget();
    const {command, state} = decision;
    return {kind: 'other-command', command, argv: argumentsFor(decision, session), state};
  }
  if ('onHost' in decision)
    return {kind: 'docker', settings: decision.onHost, plan: decision.plan, resumeStore};
  const {generated, plan, saved, state} = decision;
  const {poolInstallOf} = await import('./wizard-readings.ts');
  const pool = state.pool && (await poolInstallOf(state.pool, account));
  const flags = flagsAt(session, state);
  return {kind: 'cluster', flags, generated, wizard: {plan, saved}, state, pool, resumeStore};
}

async function decisionOf(session: WizardSession): Promise<Decision | OtherCommandChosen> {
  try {
    return await runWizard(session.start, await firstDeps(session));
  } catch (error) {
    if (error instanceof OtherCommandChosen) return error;
    throw error;
  }
}

/** Flags that another command for the installed release takes over. */
const KEPT_FLAGS = ['helm', 'kubectl', 'timeout'] as const;

function argumentsFor({command, state}: OtherCommandChosen, session: WizardSession): string[] {
  const {flags} = session;
  const source = command === 'upgrade' ? state.answers.get(chartSource) : undefined;
  return [
    ...nameFlags(nameAt(session, state)),
    ...(source ? [`--${chartSource.id}`, source] : []),
    ...KEPT_FLAGS.flatMap((name) => (flags[name] ? [`--${name}`, flags[name]] : [])),
  ];
}

const ended = (isKept: boolean, {reason}: AbortSignal): ExpectedError =>
  failed(
    reason === 'SIGTERM' ? 'TERMINATED' : 'CANCELED',
    'Canceled. Nothing was changed.',
    isKept ? ['To continue, run the command again with --resume (enter secrets again)'] : [],
  );
