import {AccountCommand, accountFlags, requireArgument} from '../../cli/account-command.ts';
import {answersFlag, confirmFlags} from '../../cli/flags.ts';
import {type PoolChange, poolArgument, poolChange} from '../../cli/pool-documents.ts';
import {linkFlags, linksFrom} from '../../cli/pool-links.ts';
import {planLinks} from '../../operations/pool.ts';

export default class PoolLink extends AccountCommand<PoolChange> {
  static override summary = 'Link workspaces, environments or VCS providers to an agent pool.';
  static override description =
    'Runs of a workspace use its own agent pool, then the default of its environment, then the account default. Each link is set on the workspace, environment or VCS provider, so other links are kept. Shows the plan and asks for confirmation; --yes confirms.';
  static override usage = '<%= command.id %> NAME [flags]';
  static override examples = [
    '<%= config.bin %> <%= command.id %> eks-prod --workspace network,prod/database',
    '<%= config.bin %> <%= command.id %> eks-prod --environment prod --yes',
  ];
  static override args = poolArgument;
  static override flags = {...linkFlags, ...confirmFlags, ...answersFlag, ...accountFlags};

  override async run(): Promise<PoolChange> {
    const {args, flags} = await this.parse(PoolLink);
    const name = requireArgument(args.name, 'NAME of the agent pool', 'scalr-agent pool link eks-prod --workspace network');
    const links = linksFrom(flags, 'link');
    const client = await this.account(flags);
    const plan = await this.untilInterrupted(() => planLinks(client, name, links, true));
    if (plan.steps.length === 0) {
      this.report(plan.warnings);
      this.say('Nothing was changed.\n');
      return poolChange(plan, false);
    }
    return this.changeAccount(plan, poolChange(plan, false), client, flags, async (send) => {
      await send();
      this.say(`Agent pool ${plan.pool.name}: the links are changed.\n`);
      return poolChange(plan, true);
    });
  }
}
