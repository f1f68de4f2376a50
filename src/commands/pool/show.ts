import type {ScalrAgent} from '../../checks/status/account.ts';
import {accountFlags} from '../../cli/account.ts';
import {
  PoolCommand,
  type PoolDocument,
  poolArgument,
  poolDocument,
} from '../../cli/account-command.ts';
import {linksOf, listAgents} from '../../extensions/account/account.ts';
import {findPool} from '../../extensions/account/find-object.ts';
import {poolText} from '../../extensions/account/pools-text.ts';

interface Result extends PoolDocument {
  /** Names. */
  workspaces: readonly string[];
  agentsList: {
    id: string;
    name: string;
    status: ScalrAgent['status'];
    version: string | null;
    lastSeen: string | null;
  }[];
}

export default class PoolShow extends PoolCommand<Result> {
  static override summary = 'Show an agent pool, its agents and what uses it.';
  static override description =
    'Shows the status and version of each agent, and the workspaces and VCS providers that use the agent pool. Read-only.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> eks-prod',
    '<%= config.bin %> <%= command.id %> eks-prod --json',
  ];
  static override args = poolArgument;
  static override flags = {...accountFlags};

  override async run(): Promise<Result> {
    const {args, flags} = await this.parse(PoolShow);
    const name = this.required(args.name);
    const client = await this.account(flags);
    const {pool, agents, links} = await this.untilInterrupted(async () => {
      const pool = await findPool(client, name);
      const [agents, links] = await Promise.all([
        listAgents(client, pool.id),
        linksOf(client, pool),
      ]);
      return {pool, agents, links};
    });
    const {workspaces, vcsProviders} = links;
    const names = {
      workspaces: workspaces.map(({name}) => name),
      vcsProviders: vcsProviders.map(({name}) => name),
    };
    if (!this.jsonEnabled()) this.show(poolText({pool, agents, ...names}, this.resultScreen));
    const agentsList = agents.map(({id, name, status, version = null, lastSeen = null}) => ({
      id,
      name,
      status,
      version,
      lastSeen,
    }));
    return {...poolDocument(pool, agents), workspaces: names.workspaces, agentsList};
  }
}
