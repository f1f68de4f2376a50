import {AccountCommand, accountFlags, requireArgument} from '../../cli/account-command.ts';
import {answersFlag, confirmFlags} from '../../cli/flags.ts';
import {type PoolChange, poolArgument, poolChange} from '../../cli/pool-documents.ts';
import {linkFlags, linksFrom} from '../../cli/pool-links.ts';
import {planLinks} from '../../operations/pool.ts';

export default class PoolUnlink extends AccountCommand<PoolChange> {
  static override summary = 'Unlink workspaces, environments or VCS providers from an agent pool.';
  static override description = 'Only links to this agent pool are removed. Shows the plan and asks for confirmation; --yes confirms.';
  static override usage = '<%= command.id %> NAME [flags]';
  static override examples = [
    '<%= config.bin %> <%= command.id %> eks-prod --workspace network,prod/database',
    '<%= config.bin %> <%= command.id %> eks-prod --environment prod --yes',
  ];
  static override args = poolArgument;
  static override flags = {...linkFlags, ...confirmFlags, ...answersFlag, ...accountFlags};

  override async run(): Promise<PoolChange> {
    const {args, flags} = await this.parse(PoolUnlink);
    const name = requireArgument(args.name, 'NAME of the agent pool', 'scalr-agent pool unlink eks-prod --workspace network');
    const links = linksFrom(flags, 'unlink');
    const client = await this.account(flags);
    const plan = await this.untilInterrupted(() => planLinks(client, name, links, false));
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
