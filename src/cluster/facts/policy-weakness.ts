import type {Target} from '../../charts/define.ts';
import {within} from '../../charts/releases.ts';
import {type Fact, follow, known} from './fact.ts';
import type {NetworkPolicies} from './network-policy.ts';

/** Why the metadata block of a chart does not do what it is for. */
export interface Weakness {
  code: 'POLICY_NOT_ENFORCED' | 'POLICY_MISSES_RUNS' | 'POLICY_WITHOUT_EFFECT';
  message: string;
  remedy: string;
}

/** Pods of runs that the policy does not select (templates/networkpolicy.yaml). */
export const missesRuns = ({chart, version}: Target): boolean =>
  chart === 'agent-k8s' || (chart === 'agent-job' && within(version, '<=0.5.63'));

const ALLOW = 'say that it is open: --metadata-service allow';

/** What is wrong with the policy of this chart in this cluster; undefined where it was measured to hold. */
export const weaknessOf = (target: Target, {areEnforced, blockMetadata}: NetworkPolicies): Fact<Weakness | undefined> =>
  follow(areEnforced, (enforced, why): Fact<Weakness | undefined> => {
    if (!enforced)
      return known(
        {
          code: 'POLICY_NOT_ENFORCED',
          message: `Nothing enforces NetworkPolicy objects here (${why}), so runs reach 169.254.169.254 and with it the credentials of the node`,
          remedy: `Switch on a network policy engine; or ${ALLOW}`,
        },
        why,
      );
    if (missesRuns(target))
      return known(
        {
          code: 'POLICY_MISSES_RUNS',
          message: `The policy of ${target.chart} ${target.version} covers its own pods and not those of runs, which reach 169.254.169.254`,
          remedy: 'Use --chart agent-job or --chart agent-local, whose policy covers runs',
        },
        why,
      );
    return follow(blockMetadata, (isBlocked, source) =>
      known(
        isBlocked
          ? undefined
          : {
              code: 'POLICY_WITHOUT_EFFECT',
              message: `Upstream measured that ${why} lets pods reach 169.254.169.254 all the same (${source}), and with it the credentials of the node`,
              remedy: `Use GKE Dataplane V2 or Workload Identity; or ${ALLOW}`,
            },
        source,
      ),
    );
  });
