import {ExitCode, ExpectedError} from '../ground/errors.ts';
import type {Prompter} from '../ports/prompter.ts';

interface Asking {
  /** Confirmed in advance (--yes). */
  isAccepted: boolean;
  /** Absent if prompts are disabled. */
  prompter: Prompter | undefined;
}

/** Continues only after confirmation. @throws ExpectedError */
export async function confirmPlan({isAccepted, prompter}: Asking): Promise<void> {
  if (isAccepted) return;
  if (!prompter) throw notConfirmed('Confirmation required, but prompts are disabled. Nothing was changed.', 'Confirm the plan with --yes');
  if (!(await prompter.confirm('Apply this plan?'))) throw cancelled();
}

/** Continues only after the release name was entered, for operations that --yes does not cover. @throws ExpectedError */
export async function confirmRelease(
  release: string,
  {risk, typed, prompter}: {risk: string; typed: string | undefined; prompter: Prompter | undefined},
): Promise<void> {
  if (typed === release) return;
  if (typed !== undefined) {
    throw new ExpectedError(`--confirm ${typed} does not match the release name ${release}. Nothing was changed.`, {
      code: 'INVALID_SETTING',
      exit: ExitCode.usage,
      suggestions: [`To confirm this release: --confirm ${release}`],
    });
  }
  if (!prompter) throw notConfirmed(`${risk} --yes is not sufficient. Nothing was changed.`, `Add --confirm ${release}`);
  const message = `${risk} Type ${release} to confirm:`;
  if ((await prompter.input({message, help: []})) !== release) throw cancelled();
}

const notConfirmed = (message: string, suggestion: string): ExpectedError =>
  new ExpectedError(message, {code: 'NOT_CONFIRMED', exit: ExitCode.usage, suggestions: [suggestion, 'Show the plan with --dry-run']});

const cancelled = (): ExpectedError => new ExpectedError('Cancelled. Nothing was changed.', {code: 'CANCELLED', exit: ExitCode.failed});
