import {LinkCommand} from '../../cli/account-command.ts';

export default class PoolLink extends LinkCommand {
  static override summary = 'Link workspaces, environments or VCS providers to an agent pool.';
  static override description =
    'Runs of a workspace use its own agent pool, then the default of its environment, then the account default. Each link is set on the workspace, environment or VCS provider, so other links are kept. Shows the plan and asks for confirmation; --yes confirms.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> eks-prod --workspace network,prod/database',
    '<%= config.bin %> <%= command.id %> eks-prod --environment prod --yes',
  ];
}
