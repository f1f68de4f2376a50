import {ExitCode, ExpectedError} from '../ground/errors.ts';
import {type AccountPlan, runAccountSteps} from '../operations/account-steps.ts';
import type {Resource, ScalrClient} from '../scalr/client.ts';
import {TARGETS} from '../settings/release.ts';
import {accountPlanText} from '../ui/plan.ts';
import {BaseCommand} from './base-command.ts';
import {type ConfirmFlags, operate} from './operate.ts';

type Send = () => Promise<(Resource | undefined)[]>;

/** Base class of commands that use the Scalr account and no cluster. */
export abstract class AccountCommand<Result extends object | undefined> extends BaseCommand<Result> {
  protected override readonly targets = TARGETS;

  /** Shows, confirms and runs a change of the account; `planned` is the result of a dry run. @throws ExpectedError */
  protected changeAccount(
    {steps, warnings, blocked}: AccountPlan,
    planned: Result,
    client: ScalrClient,
    flags: ConfirmFlags,
    run: (send: Send) => Promise<Result>,
  ): Promise<Result> {
    const text = `${accountPlanText(steps, client, this.screen)}\n`;
    const context = this.context({});
    return operate<Result>(
      {
        ...{steps, text, warnings, blocked},
        run: (deps) => run(() => runAccountSteps(steps, client, deps)),
      },
      planned,
      flags,
      context,
    );
  }
}

/** @throws ExpectedError if the argument is missing */
export function requireArgument(value: string | undefined, what: string, example: string): string {
  if (value) return value;
  throw new ExpectedError(`Missing argument: ${what}.`, {code: 'USAGE', exit: ExitCode.usage, suggestions: [`Example: ${example}`]});
}
