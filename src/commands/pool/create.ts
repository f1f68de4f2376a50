import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {accountFlags} from '../../cli/account.ts';
import {PoolCommand, type PoolDocument, poolDocument} from '../../cli/account-command.ts';
import {confirmFlags, repeated} from '../../cli/flags.ts';
import {createdPool, planPoolCreation} from '../../extensions/account/create-pool.ts';

interface Result {
  pool: PoolDocument;
  created: boolean;
}

export default class PoolCreate extends PoolCommand<Result> {
  static override summary = 'Create an agent pool.';
  static override description =
    'Shows the plan and asks for confirmation; --yes confirms. If an agent pool with this name and these attributes exists, nothing is changed.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> eks-prod --environment prod',
    '<%= config.bin %> <%= command.id %> eks-prod --shared --yes --json',
    '<%= config.bin %> <%= command.id %> github --vcs',
  ];
  static override args = {
    name: Args.string({description: 'Name of the new agent pool.', ignoreStdin: true}),
  };
  static override flags = {
    environment: Flags.string({
      summary: 'Environment that can use the agent pool: name or ID. Can be repeated.',
      helpValue: '<NAME>',
      ...repeated,
      delimiter: ',',
      exclusive: ['shared'],
    }),
    shared: Flags.boolean({summary: 'All environments can use the agent pool.'}),
    vcs: Flags.boolean({summary: 'The agents connect VCS providers. They do not execute runs.'}),
    ...confirmFlags,
    ...accountFlags,
  };

  override async run(): Promise<Result> {
    const {args, flags} = await this.parse(PoolCreate);
    const name = this.required(args.name);
    const client = await this.account(flags);
    const options = {
      name,
      environments: flags.environment ?? [],
      isShared: Boolean(flags.shared),
      isForVcs: Boolean(flags.vcs),
    };
    const plan = await this.untilInterrupted(() => planPoolCreation(client, options));
    const unchanged = {pool: poolDocument(plan.pool, []), created: false};
    if (plan.steps.length === 0) {
      this.say(`Agent pool ${name} already exists (${plan.pool.id}). Nothing was changed.\n`);
      return unchanged;
    }
    return this.changeAccount({client, plan, planned: unchanged}, flags, async (send) => {
      const pool = await createdPool(client, plan, send);
      this.say(
        `Agent pool ${name} was created (${pool.id}).\nNext step: scalr-agent pool link ${name} --workspace NAME\n`,
      );
      return {pool: poolDocument(pool, []), created: true};
    });
  }
}
