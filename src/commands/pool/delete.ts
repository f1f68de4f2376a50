import {accountFlags} from '../../cli/account.ts';
import {type PoolChange, PoolCommand, poolArgument, poolChange} from '../../cli/account-command.ts';
import {confirmFlags} from '../../cli/flags.ts';
import {planPoolDeletion} from '../../extensions/account/delete-pool.ts';

export default class PoolDelete extends PoolCommand<PoolChange> {
  static override summary = 'Delete an agent pool and its tokens.';
  static override description =
    'Lists connected agents, tokens and workspaces that use the agent pool, and asks for confirmation; --yes confirms. An agent pool with busy agents is not deleted. Uninstall the agents first.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> eks-prod',
    '<%= config.bin %> <%= command.id %> eks-prod --dry-run',
  ];
  static override args = poolArgument;
  static override flags = {...confirmFlags, ...accountFlags};

  override async run(): Promise<PoolChange> {
    const {args, flags} = await this.parse(PoolDelete);
    const name = this.required(args.name);
    const client = await this.account(flags);
    const plan = await this.untilInterrupted(() => planPoolDeletion(client, name));
    return this.changeAccount(
      {client, plan, planned: poolChange(plan, false)},
      flags,
      async (send) => {
        await send();
        this.say(`Agent pool ${plan.pool.name} was deleted.\n`);
        return poolChange(plan, true);
      },
    );
  }
}
