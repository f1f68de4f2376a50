import {ExitCode, ExpectedError} from '../errors.ts';

interface Asking {
  /** The operator said yes to whatever would be asked. */
  isAccepted: boolean;
  /** Absent where nobody can answer. */
  confirm: ((question: string) => Promise<boolean>) | undefined;
}

/** Goes on only after a yes. @throws ExpectedError */
export async function confirmPlan({isAccepted, confirm}: Asking): Promise<void> {
  if (isAccepted) return;
  if (!confirm) {
    throw new ExpectedError('Nobody can be asked whether to do this. Nothing was changed.', {
      code: 'NOT_CONFIRMED',
      exit: ExitCode.usage,
      suggestions: ['Accept the plan with --yes', 'Look at it with --dry-run'],
    });
  }
  if (!(await confirm('Do this?'))) throw new ExpectedError('Cancelled. Nothing was changed.', {code: 'CANCELLED', exit: ExitCode.failed});
}
