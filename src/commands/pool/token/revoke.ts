import * as Args from '@oclif/core/args';
import type {AccountObject} from '../../../checks/status/account.ts';
import {accountFlags} from '../../../cli/account.ts';
import {PoolCommand, poolArgument} from '../../../cli/account-command.ts';
import {confirmFlags} from '../../../cli/flags.ts';
import {stepsOf} from '../../../cli/operate.ts';
import {planRevocation} from '../../../extensions/account/token-plans.ts';
import type {SettingFinding} from '../../../ground/finding.ts';

interface Result {
  pool: AccountObject;
  id: string;
  revoked: boolean;
  steps: {id: string; title: string}[];
  warnings: readonly SettingFinding[];
}

export default class PoolTokenRevoke extends PoolCommand<Result> {
  static override summary = 'Revoke a token of an agent pool.';
  static override description =
    'Agents that use the token lose the connection to Scalr. Shows the plan and asks for confirmation; --yes confirms.';
  static override usage = '<%= command.id %> NAME TOKEN [flags]';
  static override examples = ['<%= config.bin %> <%= command.id %> eks-prod at-v0q1'];
  static override args = {
    ...poolArgument,
    token: Args.string({
      description: 'Name or ID of the token, not the token itself.',
      ignoreStdin: true,
    }),
  };
  static override flags = {...confirmFlags, ...accountFlags};

  override async run(): Promise<Result> {
    const {args, flags} = await this.parse(PoolTokenRevoke);
    const name = this.required(args.name);
    const desired = this.required(args.token, 'TOKEN, by name or ID');
    const client = await this.account(flags);
    const {pool, token, ...plan} = await this.untilInterrupted(() =>
      planRevocation(client, name, desired),
    );
    const {steps, warnings} = plan;
    const planned = {
      pool: {id: pool.id, name: pool.name},
      id: token.id,
      revoked: false,
      steps: stepsOf(steps),
      warnings,
    };
    return this.changeAccount({client, plan, planned}, flags, async (send) => {
      await send();
      this.say(`Token ${token.id} was revoked.\n`);
      return {...planned, revoked: true};
    });
  }
}
