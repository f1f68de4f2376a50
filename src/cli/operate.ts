import type {InstallFacts} from '../cluster/release/read-release.ts';
import type {AccountStep} from '../extensions/account/account-steps.ts';
import {requestText} from '../extensions/account/plan-text.ts';
import {callText} from '../ground/call-arguments.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {type ExitCode, ExpectedError, failed, unlessBack} from '../ground/errors.ts';
import type {SettingFinding} from '../ground/finding.ts';
import type {Files, Prompter} from '../ground/system/system.ts';
import type {PlanCheck} from '../operations/plan-dry-run.ts';
import type {RunStepsDeps} from '../operations/run-steps.ts';
import {type NotChecked, notCheckedWarnings} from '../operations/server-dry-run.ts';
import type {Step} from '../operations/step.ts';
import {type ProgressView, TerminalProgress} from '../ui/progress.ts';
import type {Screen} from '../ui/theme.ts';
import type {App} from './app.ts';
import type {ConfirmFlags} from './flags.ts';

/** What commands share with the code that works for them. */
export interface CommandContext {
  app: App;
  /** Standard error, which shows the conversation. */
  screen: Screen;
  /** Standard output, which shows results. */
  resultScreen: Screen;
  prompter: Prompter | undefined;
  timeoutMs: number;
  /** Of this program. */
  version: string;
  /** Address of the documentation of this version. */
  docs: string;
  isJson: boolean;
  /** On standard error; with --quiet, only the second text. */
  say(text: string, evenIfQuiet?: string): void;
  /** Replaces the live lines of standard error; does nothing with --quiet. */
  draw(text: string): void;
  /** On standard output. */
  show(text: string): void;
  report(warnings: readonly SettingFinding[]): void;
  /** For read-only work: Ctrl-C stops it at once. @throws ExpectedError */
  untilInterrupted<T>(work: () => Promise<T>): Promise<T>;
  exitWith(code: ExitCode): void;
}

/** What `operate` gives to a run. */
export interface RunDeps
  extends Pick<RunStepsDeps, 'interrupts' | 'now' | 'sleep' | 'completed'>,
    Omit<ProgressView, 'close'> {
  files: Files;
  timeoutMs: number;
}

/** One change of a cluster, of this machine or of the Scalr account: what is shown, checked, confirmed and run. */
export interface Operation<Result> {
  /** What is done, for the head of the progress; without it, only the steps are shown. */
  title?: string;
  /** Empty if nothing changes. */
  steps: readonly (Step | AccountStep)[];
  /** The plan for a person; empty if there is nothing to show, or if the wizard has shown and confirmed it. */
  text: string;
  warnings: readonly SettingFinding[];
  /** The plan must be confirmed with the name of the release, because --yes does not cover this. */
  risk?: {what: string; release: string} | undefined;
  /** Why the plan cannot run; thrown after it was shown. */
  blocked?: ExpectedError | undefined;
  /** The plan of a dry run without JSON, on standard output. */
  details?(): Promise<string>;
  /** Reads whether the plan can run, without a change. @throws ExpectedError */
  check?(): Promise<PlanCheck | undefined>;
  /** Questions before the confirmation; returns the steps that the user has added. @throws ExpectedError */
  ask?(): Promise<readonly Step[]>;
  /** True if the wizard has shown and confirmed the plan. */
  isConfirmed?: boolean;
  run(deps: RunDeps): Promise<Result>;
}

/** Shows, checks, confirms and runs an operation; `planned` is the result of a dry run. @throws ExpectedError */
export async function operate<Result extends object | undefined>(
  operation: Operation<Result>,
  planned: Result,
  flags: ConfirmFlags,
  context: CommandContext,
): Promise<Result> {
  const {app, say, prompter} = context;
  const {steps, text, isConfirmed = false} = operation;
  const isDryRun = flags['dry-run'] ?? false;
  if (!isConfirmed) {
    // Only a plan that was shown can be confirmed.
    if (isDryRun || flags.yes || flags.confirm !== undefined) say(text);
    else app.stderr(text);
    context.report(operation.warnings);
  }
  if (isDryRun && !context.isJson) context.show((await operation.details?.()) ?? '');
  if (operation.blocked) throw operation.blocked;
  if (isDryRun && !context.isJson) app.stdout(callsText({steps}));
  const {check = async () => undefined} = operation;
  const checked = await context.untilInterrupted(() =>
    isConfirmed ? afterWizard(check(), context) : check(),
  );
  if (isDryRun) {
    say(checked?.text ?? '');
    return withNotChecked(planned, [...(checked?.notChecked ?? []), ...(checked?.later ?? [])]);
  }
  const {notChecked = []} = checked ?? {};
  context.report(notCheckedWarnings(notChecked));
  const added = (await operation.ask?.()) ?? [];
  const isAsked = steps.length + added.length > 0;
  const {risk} = operation;
  if (risk !== undefined)
    await confirmRelease(risk.release, {risk: risk.what, typed: flags.confirm, prompter});
  else if (isAsked && !isConfirmed) await confirmPlan({isAccepted: flags.yes ?? false, prompter});
  // Keys must not move the live lines. Without a question before, this may be a job in the background, which cannot take the terminal.
  const result = await run(operation, !flags.yes && isAsked, context);
  return withNotChecked(result, notChecked);
}

/** Work between the wizard and the plan: with a sign of life, and keys that are pressed meanwhile answer nothing. */
export const afterWizard = <T>(
  work: Promise<T>,
  {prompter}: Pick<CommandContext, 'prompter'>,
): Promise<T> => prompter?.wait('Checking the plan', work) ?? work;

async function run<Result>(
  operation: Operation<Result>,
  takesTerminal: boolean,
  context: CommandContext,
): Promise<Result> {
  const {app, say, prompter, draw, screen, timeoutMs} = context;
  const interrupts = app.handleInterrupts();
  const {files, now, sleep} = app;
  const {close, ...progress} = new TerminalProgress(operation.title, {say, draw, screen, now});
  const deps = {interrupts, files, now, sleep, timeoutMs, completed: [], ...progress};
  try {
    const result = await (takesTerminal && screen.isLive && prompter !== undefined
      ? prompter.session(
          () => operation.run(deps),
          () => '',
        )
      : operation.run(deps));
    close();
    return result;
  } catch (error) {
    close(error);
    throw error;
  } finally {
    interrupts.release();
  }
}

/** The result with a warning for what the API server was not asked. */
function withNotChecked<Result extends object | undefined>(
  result: Result,
  notChecked: readonly NotChecked[],
): Result {
  if (notChecked.length === 0) return result;
  const {warnings = []} = (result ?? {}) as {warnings?: readonly SettingFinding[]};
  return {...result, warnings: [...warnings, ...notCheckedWarnings(notChecked)]};
}

/** The release that a document of --json is about. */
export interface ReleaseHead {
  release: string;
  namespace: string;
  context: string;
}

export const releaseHead = (
  {release, kubeTarget}: ReleaseName,
  {context}: Pick<InstallFacts, 'context'>,
): ReleaseHead => ({
  release,
  namespace: kubeTarget.namespace,
  context: context.name,
});

/** Steps as the documents of --json list them. */
export const stepsOf = (
  steps: readonly Pick<Step, 'id' | 'title'>[],
): {id: string; title: string}[] => steps.map(({id, title}) => ({id, title}));

interface Asking {
  /** Confirmed in advance (--yes). */
  isAccepted: boolean;
  /** Absent if prompts are disabled. */
  prompter: Prompter | undefined;
}

/** Continues only after confirmation. @throws ExpectedError */
export async function confirmPlan({isAccepted, prompter}: Asking): Promise<void> {
  if (isAccepted) return;
  if (!prompter)
    throw notConfirmed(
      'Confirmation required, but prompts are disabled. Nothing was changed.',
      'Confirm the plan with --yes',
      '--yes',
    );
  if (!(await prompter.confirm('Apply this plan?'))) throw canceled();
}

/** The answer to a question before the confirmation. @throws ExpectedError after Esc */
export async function agreed(prompter: Prompter, question: string): Promise<boolean> {
  const answer = await unlessBack(prompter.confirm(question, true), undefined);
  if (answer === undefined) throw canceled();
  return answer;
}

/** Continues only after the release name was entered, for operations that --yes does not cover. @throws ExpectedError */
async function confirmRelease(
  release: string,
  {
    risk,
    typed,
    prompter,
  }: {risk: string; typed: string | undefined; prompter: Prompter | undefined},
): Promise<void> {
  if (typed === release) return;
  if (typed !== undefined) {
    throw failed(
      'INVALID_SETTING',
      `--confirm ${typed} does not match the release name ${release}. Nothing was changed.`,
      [`To confirm this release: --confirm ${release}`],
    );
  }
  if (!prompter)
    throw notConfirmed(
      `${risk} --yes is not sufficient. Nothing was changed.`,
      `Add --confirm ${release}`,
      `--confirm ${release}`,
    );
  const question = {
    message: `${risk} Type ${release} to confirm:`,
    help: [],
    canGoBack: true,
    validate: (text: string) =>
      ['', release].includes(text) ? undefined : `Type ${release}, or press Esc to cancel.`,
  };
  if ((await unlessBack(prompter.input(question), '')) !== release) throw canceled();
}

const SHOW_PLAN = 'Show the plan with --dry-run';
const notConfirmed = (message: string, suggestion: string, add: string): ExpectedError =>
  new ExpectedError(message, {
    code: 'NOT_CONFIRMED',
    suggestions: [suggestion, SHOW_PLAN],
    options: [
      {add, when: 'Confirm and run the plan', replaces: suggestion},
      {add: '--dry-run', when: 'Show the plan again, with every call', replaces: SHOW_PLAN},
    ],
  });

const canceled = (): ExpectedError => failed('DECLINED', 'Canceled. Nothing was changed.');

/** Every call as a shell command, every request with its body. */
const callsText = ({steps}: {steps: readonly (Step | AccountStep)[]}): string =>
  steps
    .map((step) => `${'call' in step ? callText(step.call) : requestText(step.request)}\n`)
    .join('');
