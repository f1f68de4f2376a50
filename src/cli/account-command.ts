import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {
  AGENT_STATUSES,
  type AgentStatus,
  type ScalrAgent,
  type ScalrPool,
} from '../checks/status/account.ts';
import {
  type AccountPlan,
  type PoolPlan,
  runAccountSteps,
} from '../extensions/account/account-steps.ts';
import type {Resource, ScalrClient} from '../extensions/account/client.ts';
import {type PoolLinks, planLinks} from '../extensions/account/link-pool.ts';
import {accountPlanText} from '../extensions/account/plan-text.ts';
import {usageError} from '../ground/errors.ts';
import {TARGETS} from '../settings/release.ts';
import {accountFlags} from './account.ts';
import {BaseCommand} from './base-command.ts';
import {type ConfirmFlags, confirmFlags, type Parsed, repeated} from './flags.ts';
import {operate, type RunDeps, stepsOf} from './operate.ts';

interface AccountChange<Result> {
  client: ScalrClient;
  plan: AccountPlan;
  /** The result of a dry run. */
  planned: Result;
}

/** Sends the requests of the plan. */
type Send = () => Promise<(Resource | undefined)[]>;

/** Base class of commands that use the Scalr account and no cluster. */
export abstract class AccountCommand<
  Result extends object | undefined,
> extends BaseCommand<Result> {
  protected override readonly targets = TARGETS;

  /** An argument, by default the pool. @throws ExpectedError if it is missing */
  protected required(value: string | undefined, what = 'NAME of the agent pool'): string {
    if (value) return value;
    const example = String(this.ctor.examples[0]).replace('<%= config.bin %>', 'scalr-agent');
    const id = String(this.id).replaceAll(':', ' ');
    throw usageError(`Missing argument: ${what}.`, [
      `Example: ${example.replace('<%= command.id %>', id)}`,
    ]);
  }

  /** Shows, confirms and runs a change of the account; `planned` is the result of a dry run. @throws ExpectedError */
  protected changeAccount(
    {client, plan, planned}: AccountChange<Result>,
    flags: ConfirmFlags,
    run: (send: Send) => Promise<Result>,
  ): Promise<Result> {
    const {steps, warnings, blocked} = plan;
    const operation = {
      steps,
      text: `${accountPlanText(steps, client, this.screen)}\n`,
      warnings,
      blocked,
      run: (deps: RunDeps) => run(() => runAccountSteps(steps, client, deps)),
    };
    return operate<Result>(operation, planned, flags, this.context({}));
  }
}

/** An agent pool as --json prints it; `id` is null in a dry run. */
export type PoolDocument = ReturnType<typeof poolDocument>;

export function poolDocument(
  {id, name, isDefault, isForVcs, isShared, isInUse, environments}: ScalrPool,
  agents: readonly ScalrAgent[],
) {
  const own = agents.filter(({poolId}) => poolId === id);
  const counts = AGENT_STATUSES.map((status) => [
    status,
    own.filter((agent) => agent.status === status).length,
  ]);
  return {
    id: id || null,
    name,
    default: isDefault,
    vcs: isForVcs,
    shared: isShared,
    inUse: isInUse,
    environments: environments.map((each) => each.name),
    agents: Object.fromEntries(counts) as Record<AgentStatus, number>,
  };
}

/** The result of a change of a pool. */
export type PoolChange = ReturnType<typeof poolChange>;

export const poolChange = ({pool: {id, name}, steps, warnings}: PoolPlan, changed: boolean) => ({
  pool: {id, name},
  changed,
  steps: stepsOf(steps),
  warnings,
});

/** Base class of commands about one agent pool. oclif reads arguments only from the class itself. */
export abstract class PoolCommand<Result extends object> extends AccountCommand<Result> {
  static override usage = '<%= command.id %> NAME [flags]';
}

export const poolArgument = {
  name: Args.string({description: 'Name or ID of the agent pool.', ignoreStdin: true}),
};

const several = (summary: string) =>
  Flags.string({summary, helpValue: '<NAME>', ...repeated, delimiter: ',' as const});

/** What to link to a pool, or to unlink from it. */
const linkFlags = {
  workspace: several('Workspace: name, ENVIRONMENT/NAME or ID. Can be repeated.'),
  environment: several(
    'Environment whose workspaces use the agent pool by default: name or ID. Can be repeated.',
  ),
  'account-default': Flags.boolean({
    summary: 'The account default, for workspaces without an agent pool of their own.',
  }),
  'vcs-provider': several('VCS provider: name or ID. Can be repeated.'),
};

/** Base class of `pool link` and `pool unlink`. */
export abstract class LinkCommand extends PoolCommand<PoolChange> {
  static override args = poolArgument;
  static override flags = {...linkFlags, ...confirmFlags, ...accountFlags};

  override async run(): Promise<PoolChange> {
    const {args, flags} = await this.parse(LinkCommand);
    const name = this.required(args.name);
    const isLink = this.id === 'pool:link';
    const links = linksFrom(flags, isLink ? 'link' : 'unlink');
    const client = await this.account(flags);
    const plan = await this.untilInterrupted(() => planLinks(client, name, links, isLink));
    const unchanged = poolChange(plan, false);
    if (plan.steps.length === 0) {
      this.report(plan.warnings);
      this.say('Nothing was changed.\n');
      return unchanged;
    }
    return this.changeAccount({client, plan, planned: unchanged}, flags, async (send) => {
      await send();
      this.say(`The links of agent pool ${plan.pool.name} are changed.\n`);
      return poolChange(plan, true);
    });
  }
}

/** @throws ExpectedError if nothing is selected */
function linksFrom(flags: Partial<Parsed<typeof linkFlags>>, command: string): PoolLinks {
  const {
    workspace: workspaces = [],
    environment: environments = [],
    'vcs-provider': vcsProviders = [],
  } = flags;
  const links = {
    workspaces,
    environments,
    vcsProviders,
    isAccountDefault: flags['account-default'] ?? false,
  };
  if (
    links.isAccountDefault ||
    [workspaces, environments, vcsProviders].some(({length}) => length > 0)
  )
    return links;
  const suggestions = Object.keys(linkFlags).map(
    (flag) => `Add --${flag}${flag === 'account-default' ? '' : ' NAME'}`,
  );
  throw usageError(
    `Nothing to ${command}: select workspaces, environments, VCS providers or the account default.`,
    suggestions,
  );
}
