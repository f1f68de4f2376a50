import {ExitCode, ExpectedError} from '../errors.ts';
import type {Prompter} from '../ports/prompter.ts';

interface Asking {
  /** The operator said yes to whatever would be asked. */
  isAccepted: boolean;
  /** Absent where nobody can answer. */
  prompter: Prompter | undefined;
}

/** Goes on only after a yes. @throws ExpectedError */
export async function confirmPlan({isAccepted, prompter}: Asking): Promise<void> {
  if (isAccepted) return;
  if (!prompter) throw notConfirmed('Nobody can be asked whether to do this. Nothing was changed.', 'Accept the plan with --yes');
  if (!(await prompter.confirm('Do this?'))) throw cancelled();
}

/** Goes on only after the name of the release was typed, for what --yes does not cover. @throws ExpectedError */
export async function confirmRelease(
  release: string,
  {risk, typed, prompter}: {risk: string; typed: string | undefined; prompter: Prompter | undefined},
): Promise<void> {
  if (typed === release) return;
  if (typed !== undefined) {
    throw new ExpectedError(`--confirm ${typed} is not the name of the release, ${release}. Nothing was changed.`, {
      code: 'INVALID_SETTING',
      exit: ExitCode.usage,
      suggestions: [`If ${release} is meant: --confirm ${release}`],
    });
  }
  if (!prompter) throw notConfirmed(`${risk} --yes is not enough. Nothing was changed.`, `Add --confirm ${release}`);
  const message = `${risk} Type ${release} to confirm:`;
  if ((await prompter.input({message, help: []})) !== release) throw cancelled();
}

const notConfirmed = (message: string, suggestion: string): ExpectedError =>
  new ExpectedError(message, {code: 'NOT_CONFIRMED', exit: ExitCode.usage, suggestions: [suggestion, 'Look at it with --dry-run']});

const cancelled = (): ExpectedError => new ExpectedError('Cancelled. Nothing was changed.', {code: 'CANCELLED', exit: ExitCode.failed});
