import * as Flags from '@oclif/core/flags';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import {type AccountPlan, runAccountSteps} from '../operations/account-steps.ts';
import type {PoolLinks} from '../operations/pool.ts';
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
        run: ({interrupts}) => {
          const onStep = ({title}: {title: string}): void => this.say(`${title} …\n`);
          return run(() => runAccountSteps(steps, client, {interrupts, onStep}));
        },
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

const several = (summary: string) =>
  Flags.string({summary, helpValue: '<NAME>', multiple: true, multipleNonGreedy: true, delimiter: ',' as const});

/** What to link to a pool, or to unlink from it. */
export const linkFlags = {
  workspace: several('Workspace: name, ENVIRONMENT/NAME or ID. May be repeated.'),
  environment: several('Environment whose workspaces use the agent pool by default: name or ID. May be repeated.'),
  'account-default': Flags.boolean({summary: 'The account default.'}),
  'vcs-provider': several('VCS provider: name or ID. May be repeated.'),
};

/** @throws ExpectedError if nothing is selected */
export function linksFrom(
  flags: {
    workspace?: string[] | undefined;
    environment?: string[] | undefined;
    'account-default'?: boolean;
    'vcs-provider'?: string[] | undefined;
  },
  command: string,
): PoolLinks {
  const {workspace: workspaces = [], environment: environments = [], 'vcs-provider': vcsProviders = []} = flags;
  const links = {workspaces, environments, vcsProviders, isAccountDefault: flags['account-default'] ?? false};
  if (links.isAccountDefault || [workspaces, environments, vcsProviders].some(({length}) => length > 0)) return links;
  throw new ExpectedError(`Nothing to ${command}: select workspaces, environments, VCS providers or the account default.`, {
    code: 'USAGE',
    exit: ExitCode.usage,
    suggestions: Object.keys(linkFlags).map((flag) => `Add --${flag}${flag === 'account-default' ? '' : ' NAME'}`),
  });
}
