import {accountFlags} from '../../../cli/account.ts';
import {AccountCommand, poolArgument, type TokenDocument, tokenDocument} from '../../../cli/account-command.ts';
import {findPool, listTokens, type Named} from '../../../scalr/account.ts';
import {tokenTable} from '../../../ui/pools.ts';

interface Result {
  pool: Named;
  tokens: TokenDocument[];
}

export default class PoolTokenList extends AccountCommand<Result> {
  static override summary = 'List the tokens of an agent pool.';
  static override description =
    'Lists name, last use and expiration of each token. Scalr shows the token itself only when it is created. Read-only.';
  static override usage = '<%= command.id %> NAME [flags]';
  static override examples = ['<%= config.bin %> <%= command.id %> eks-prod'];
  static override args = poolArgument;
  static override flags = {...accountFlags};

  override async run(): Promise<Result> {
    const {args, flags} = await this.parse(PoolTokenList);
    const name = this.required(args.name);
    const client = await this.account(flags);
    const {pool, tokens} = await this.untilInterrupted(async () => {
      const {id, name: found} = await findPool(client, name);
      const pool = {id, name: found};
      return {pool, tokens: await listTokens(client, pool)};
    });
    if (!this.jsonEnabled()) {
      if (tokens.length === 0) this.say(`Agent pool ${pool.name} has no tokens.\n`);
      else this.show(tokenTable(tokens, this.resultScreen));
    }
    return {pool, tokens: tokens.map(tokenDocument)};
  }
}
