import type {Workload} from '../../../cluster/kubernetes/objects.ts';
import {readsSecret} from '../../../cluster/release/workload-users.ts';
import {type Fact, isKnown, mapped} from '../../../ground/fact.ts';
import {changing} from '../../../ground/finding.ts';
import {count} from '../../../ground/text.ts';
import {tokenSecret} from '../../../settings/agent.ts';
import {concurrency, purpose} from '../../../settings/purpose.ts';
import {controllerReplicas} from '../../../settings/size.ts';
import {withValue} from '../../../settings/spelling.ts';
import type {PreflightContext} from '../facts/context.ts';
import {type Check, check} from './check.ts';
import {fail, ifKnown, pass, unreadable} from './check-result.ts';

const REF = 'https://docs.scalr.io/docs/agent-pools';

/** Workloads with agents: they read the token. The number of pods of a DaemonSet is not known before. */
const agentWorkloads = ({manifest, get}: PreflightContext): Fact<readonly Workload[]> =>
  mapped(manifest, (objects) =>
    (objects as readonly Workload[]).filter(
      (object) =>
        ['Deployment', 'StatefulSet'].includes(object.kind ?? '') &&
        readsSecret(get(tokenSecret) ?? '')(object),
    ),
  );

const quota = check('Scalr account', 'agent-quota', 'Agent quota', {
  ref: REF,
  run(context) {
    const {account} = context;
    if (account === undefined) return undefined;
    const found = agentWorkloads(context);
    if (!isKnown(found)) return unreadable(found, 'render the chart');
    const {value: workloads} = found;
    if (workloads.length === 0) return undefined;
    return ifKnown(account.limits, 'read the quota', ({agents: allowed}) =>
      ifKnown(account.agents, 'list the agents', (agents) => {
        if (allowed === undefined) return undefined;
        const desired = workloads.reduce((sum, {spec}) => sum + (spec?.replicas ?? 1), 0);
        const {length: others} = agents.filter(
          (name) => !workloads.some(({metadata}) => name.startsWith(`${metadata.name}-`)),
        );
        const state = `${account.host} allows ${count(allowed, 'agent')}: ${others} in other releases, ${desired} in this one`;
        if (others + desired <= allowed) return pass(state);
        return fail(
          state,
          changing`Reduce ${concurrency} or ${controllerReplicas}, delete unused agents in Scalr, or request a larger quota`,
        );
      }),
    );
  },
});

const relay = check('Scalr account', 'agent-relay', 'Relay for VCS agents', {
  ref: 'https://docs.scalr.io/docs/vcs-agents',
  run({account, get}) {
    if (account === undefined || get(purpose) !== 'vcs') return undefined;
    return ifKnown(account.limits, 'read whether VCS agents are available', ({hasRelay}) => {
      if (hasRelay === undefined) return undefined;
      return hasRelay
        ? pass(`available on ${account.host}`)
        : fail(
            `not available on ${account.host}`,
            changing`Request VCS agents from Scalr, or use ${withValue(purpose, 'runs')}`,
          );
    });
  },
});

const poolType = check('Scalr account', 'pool-type', 'Agent pool type', {
  ref: REF,
  run({account, get}) {
    if (account?.pool === undefined) return undefined;
    return ifKnown(account.pool, 'read the agent pool', ({name, isForVcs}) => {
      if (isForVcs === (get(purpose) === 'vcs'))
        return pass(`${name} is ${isForVcs ? '' : 'not '}for VCS`);
      return fail(
        `${name} is ${isForVcs ? '' : 'not '}for VCS, but the purpose is ${isForVcs ? 'runs' : 'vcs'}`,
        changing`Use another agent pool, or ${withValue(purpose, isForVcs ? 'vcs' : 'runs')}`,
      );
    });
  },
});

/** Read from the Scalr account, if there is a token for it. */
export const accountChecks: readonly Check[] = [quota, relay, poolType];
