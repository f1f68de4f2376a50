import type {AgentStatus, PoolToken, ScalrAgent} from '../../src/checks/status/account.ts';
import type {AccountStatus} from '../../src/checks/status/status.ts';
import {withAccount} from '../../src/extensions/account/account-status.ts';
import {planPoolCreation} from '../../src/extensions/account/create-pool.ts';
import {planPoolDeletion} from '../../src/extensions/account/delete-pool.ts';
import {planLinks} from '../../src/extensions/account/link-pool.ts';
import type {Finding} from '../../src/ground/finding.ts';
import {NAME, NOW, statusFrom} from '../checks/status/readings.ts';
import {clientOf} from '../extensions/account/client-of.ts';
import {mockApi} from '../extensions/account/mock-api.ts';

/** What the program prints about agents and pools of the Scalr account. */
export async function accountFindings(): Promise<Finding[]> {
  const ofStatus = STATES.flatMap((account) => {
    const {causes, advice} = withAccount(NAME, statusFrom(), {...HEALTHY, ...account}, NOW);
    return [...causes, ...advice];
  });
  return [...ofStatus, ...(await ofPools())];
}

const agent = (status: AgentStatus, more: Partial<ScalrAgent> = {}): ScalrAgent => ({
  id: 'agent-v0p7',
  name: 'agent-5f-x',
  poolId: 'apool-v0p7',
  status,
  version: '1.8.0',
  createdAt: '2026-11-21T08:00:00Z',
  lastSeen: '2026-11-21T09:00:00Z',
  error: undefined,
  upgrade: 'none',
  ...more,
});

const of = (...agents: (ScalrAgent | undefined)[]): Pick<AccountStatus, 'agents'> => ({
  agents: agents.map((each, index) => ({pod: `agent-5f-${'xyz'[index]}`, agent: each})),
});

const HEALTHY: AccountStatus = {
  host: 'acme.scalr.io',
  pool: {
    id: 'apool-v0p7',
    name: 'eks-prod',
    isDefault: false,
    isForVcs: false,
    isShared: true,
    isInUse: true,
    environments: [],
  },
  isUnused: false,
  ...of(agent('idle')),
  withoutPod: [],
  tokens: [],
  unread: [],
};

const TOKEN: PoolToken = {
  id: 'at-v0p7',
  name: null,
  description: null,
  createdAt: null,
  lastUsedAt: null,
  expiresAt: '2026-11-25T00:00:00Z',
  isExpired: false,
};

/** Each differs from a healthy account in one thing. */
const STATES: readonly Partial<AccountStatus>[] = [
  of(agent('offline')),
  of(agent('errored', {error: 'No space left on device'})),
  of(undefined),
  {...of(agent('idle'), undefined), quota: {used: 5, allowed: 5}},
  {isUnused: true},
  of(agent('idle'), agent('idle', {version: '1.7.0'})),
  of(agent('idle', {upgrade: 'high'})),
  {withoutPod: [agent('offline', {name: 'agent-4c-w'})]},
  {tokens: [TOKEN]},
];

/** Plans for pools of an account, whose warnings are shown with the plan. */
async function ofPools(): Promise<Finding[]> {
  const api = await mockApi();
  const {client} = clientOf(api);
  const pool = api.account.pool('eks-prod');
  api.account.agent(pool, 'agent-5f-x');
  api.account.pool('vcs', {'vcs-enabled': true});
  api.account.workspace('network', api.account.environment('prod'));
  const network = {
    workspaces: ['network'],
    environments: [],
    vcsProviders: [],
    isAccountDefault: false,
  };
  const desired = {name: 'eks-test', isShared: false, isForVcs: false, environments: []};
  const plans = [
    await planPoolCreation(client, desired),
    await planPoolDeletion(client, 'eks-prod'),
    await planLinks(client, 'eks-prod', network, false),
    await planLinks(client, 'vcs', network, true),
  ];
  return plans.flatMap(({warnings}) => warnings);
}
