import {accountFlags} from '../../cli/account.ts';
import {AccountCommand, type PoolDocument, poolDocument} from '../../cli/account-command.ts';
import {listAgents, listPools} from '../../extensions/account/account.ts';
import {poolTable} from '../../extensions/account/pools-text.ts';

export default class PoolList extends AccountCommand<{pools: PoolDocument[]}> {
  static override summary = 'List the agent pools of the Scalr account.';
  static override description =
    'Lists name, environments and the number of agents of each agent pool. Runners managed by Scalr are not listed. Read-only. Requires the token of a user or service account. Set SCALR_HOSTNAME and SCALR_TOKEN, or log in with the Scalr CLI or Terraform.';
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --url https://acme.scalr.io --json',
  ];
  static override flags = {...accountFlags};

  override async run(): Promise<{pools: PoolDocument[]}> {
    const {flags} = await this.parse(PoolList);
    const client = await this.account(flags);
    const [pools, agents] = await this.untilInterrupted(() =>
      Promise.all([listPools(client), listAgents(client)]),
    );
    if (!this.jsonEnabled()) {
      if (pools.length === 0)
        this.say(`${client.host} has no agent pools. Create one: scalr-agent pool create NAME\n`);
      else this.show(poolTable(pools, agents, this.resultScreen));
    }
    return {pools: pools.map((pool) => poolDocument(pool, agents))};
  }
}
