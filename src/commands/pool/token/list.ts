import type {AccountObject, PoolToken} from '../../../checks/status/account.ts';
import {accountFlags} from '../../../cli/account.ts';
import {PoolCommand, poolArgument} from '../../../cli/account-command.ts';
import {listTokens} from '../../../extensions/account/account.ts';
import {findPool} from '../../../extensions/account/find-object.ts';
import {tokenTable} from '../../../extensions/account/pools-text.ts';

interface Result {
  pool: AccountObject;
  tokens: (Omit<PoolToken, 'isExpired'> & {expired: boolean})[];
}

export default class PoolTokenList extends PoolCommand<Result> {
  static override summary = 'List the tokens of an agent pool.';
  static override description =
    'Lists name, last use and expiration of each token. Scalr shows the token itself only when it is created. Read-only.';
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
    return {pool, tokens: tokens.map(({isExpired, ...token}) => ({...token, expired: isExpired}))};
  }
}
