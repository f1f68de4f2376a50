import {LinkCommand} from '../../cli/account-command.ts';

export default class PoolUnlink extends LinkCommand {
  static override summary = 'Unlink workspaces, environments or VCS providers from an agent pool.';
  static override description =
    'Only links to this agent pool are removed. Shows the plan and asks for confirmation; --yes confirms.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> eks-prod --workspace network,prod/database',
    '<%= config.bin %> <%= command.id %> eks-prod --environment prod --yes',
  ];
}
