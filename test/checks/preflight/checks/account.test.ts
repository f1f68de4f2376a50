import {accountChecks} from '../../../../src/checks/preflight/checks/account.ts';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import type {KubernetesObject} from '../../../../src/cluster/kubernetes/objects.ts';
import {known, unknown} from '../../../../src/ground/fact.ts';
import {prove} from './prove.ts';

const agent = (replicas: number): Pick<PreflightContext, 'manifest'> => ({
  manifest: known(
    [
      {
        kind: 'Deployment',
        metadata: {name: 'scalr-agent-agent-local'},
        spec: {
          replicas,
          template: {
            spec: {containers: [{env: [{valueFrom: {secretKeyRef: {name: 'scalr-agent-token'}}}]}]},
          },
        },
      } as unknown as KubernetesObject,
    ],
    'helm template',
  ),
});

interface Given {
  limits?: {agents: number | undefined; hasRelay: boolean | undefined};
  agents?: readonly string[];
  pool?: {name: string; isForVcs: boolean};
}

const account = ({
  limits = {agents: 5, hasRelay: true},
  agents = [],
  pool,
}: Given): Partial<PreflightContext> => ({
  account: {
    host: 'acme.scalr.io',
    limits: known(limits, 'API'),
    agents: known(agents, 'API'),
    ...(pool ? {pool: known(pool, 'API')} : {}),
  },
});
const denied = unknown('failed', 'permission denied');
const DENIED: Partial<PreflightContext> = {
  account: {host: 'acme.scalr.io', limits: denied, agents: denied, pool: denied},
};
const others = ['a-1', 'b-1', 'c-1'];
const NO_LIMITS = {agents: undefined, hasRelay: undefined};
const VCS = {chart: 'agent-local', purpose: 'vcs'};
const RUNS = {chart: 'agent-local'};

prove('account', accountChecks, [
  {
    id: 'agent-quota',
    is: 'pass',
    when: 'the agents fit',
    flags: RUNS,
    but: {...agent(2), ...account({agents: others})},
  },
  {
    id: 'agent-quota',
    is: 'pass',
    when: 'agents of the release are registered already',
    flags: RUNS,
    but: {
      ...agent(2),
      ...account({agents: [...others, 'scalr-agent-agent-local-1', 'scalr-agent-agent-local-2']}),
    },
  },
  {
    id: 'agent-quota',
    is: 'fail',
    when: 'too many agents are registered',
    flags: RUNS,
    but: {...agent(3), ...account({agents: others})},
  },
  {
    id: 'agent-quota',
    is: 'skip',
    when: 'the account cannot be read',
    flags: RUNS,
    but: {...agent(1), ...DENIED},
  },
  {
    id: 'agent-quota',
    is: 'nothing',
    when: 'there is no token for the account',
    flags: RUNS,
    but: agent(1),
  },
  {
    id: 'agent-quota',
    is: 'nothing',
    when: 'Scalr reports no quota',
    flags: RUNS,
    but: {...agent(1), ...account({limits: NO_LIMITS})},
  },
  {id: 'agent-relay', is: 'pass', when: 'VCS agents are available', flags: VCS, but: account({})},
  {
    id: 'agent-relay',
    is: 'fail',
    when: 'VCS agents are not available',
    flags: VCS,
    but: account({limits: {agents: 5, hasRelay: false}}),
  },
  {id: 'agent-relay', is: 'skip', when: 'the account cannot be read', flags: VCS, but: DENIED},
  {
    id: 'agent-relay',
    is: 'nothing',
    when: 'the agent executes runs',
    flags: RUNS,
    but: account({}),
  },
  {
    id: 'pool-type',
    is: 'pass',
    when: 'the pool fits',
    flags: VCS,
    but: account({pool: {name: 'git', isForVcs: true}}),
  },
  {
    id: 'pool-type',
    is: 'fail',
    when: 'the pool is for runs',
    flags: VCS,
    but: account({pool: {name: 'prod', isForVcs: false}}),
  },
  {id: 'pool-type', is: 'skip', when: 'the account cannot be read', flags: VCS, but: DENIED},
  {id: 'pool-type', is: 'nothing', when: 'no pool is given', flags: VCS, but: account({})},
]);
