import {ExitCode, ExpectedError} from '../errors.ts';
import type {App} from './app.ts';

interface Options {
  yes?: boolean | undefined;
  'no-input'?: boolean | undefined;
  quiet?: boolean | undefined;
  app: Pick<App, 'prompter' | 'hasTerminal' | 'stderr'>;
}

/** Shows a plan and goes on only after a yes. @throws ExpectedError */
export async function confirmPlan(text: string, {yes, 'no-input': noInput, quiet, app}: Options): Promise<void> {
  if (!(quiet && yes)) app.stderr(`${text}\n`);
  if (yes) return;
  if (!app.hasTerminal || noInput) {
    throw new ExpectedError('Nobody can be asked whether to do this. Nothing was changed.', {
      code: 'NOT_CONFIRMED',
      exit: ExitCode.usage,
      suggestions: ['Accept the plan with --yes', 'Look at it with --dry-run'],
    });
  }
  if (!(await app.prompter.confirm('Do this?'))) {
    throw new ExpectedError('Cancelled. Nothing was changed.', {code: 'CANCELLED', exit: ExitCode.failed});
  }
}
