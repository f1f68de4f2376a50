import {within} from '../../../charts/releases.ts';
import {knownValue} from '../../../cluster/facts/fact.ts';
import {weaknessOf} from '../../../cluster/facts/policy-weakness.ts';
import {metadataService} from '../../../settings/network.ts';
import {type Check, fail, type Outcome, pass, skip, warn} from '../../check.ts';
import type {Situation} from '../../situation.ts';
import {ifKnown} from '../outcomes.ts';

const PROBE =
  'Try it from a pod with the labels of a run: kubectl run probe --rm -it --restart=Never --image=busybox:1.37 -- wget -T 3 -O- http://169.254.169.254/';
const ALLOW = '--metadata-service allow';
export const ENFORCED = 'Whether NetworkPolicy objects are enforced here is';

/** What the cluster does not say can still be tried. */
export const withProbe = (outcome: Outcome): Outcome => (outcome.status === 'skip' ? skip(outcome.message, PROBE) : outcome);

export const blocks = ({get}: Pick<Situation, 'get'>): boolean => get(metadataService) === 'block';

export const metadataBlock: Check = {
  id: 'metadata-block',
  group: 'Network',
  title: 'the cluster enforces the block of the metadata service',
  ref: 'agent-job 0.6.5, README',
  test: (situation) => {
    if (!blocks(situation)) return undefined;
    const {facts, target} = situation;
    const outcome = ifKnown(facts.networkPolicies.areEnforced, ENFORCED, (_, why) =>
      ifKnown(
        weaknessOf(target, facts.networkPolicies),
        `Policies are enforced (${why}); whether that holds for 169.254.169.254 is`,
        (weakness, source): Outcome => {
          if (weakness === undefined) return pass(`${why} (measured: ${source})`);
          return warn(weakness.message, weakness.code === 'POLICY_WITHOUT_EFFECT' ? `${weakness.remedy}. ${PROBE}` : weakness.remedy);
        },
      ),
    );
    return withProbe(outcome);
  },
};

export const metadataDns: Check = {
  id: 'metadata-dns',
  group: 'Network',
  title: 'pods resolve names at an address that the metadata block leaves open',
  ref: 'https://github.com/tektoncd/operator/issues/4000',
  test: (situation) => {
    if (!blocks(situation)) return undefined;
    const {facts} = situation;
    const outcome = ifKnown(
      facts.dns.usesMetadataAddress,
      'Whether pods resolve names at 169.254.169.254 is',
      (isUsed, source): Outcome => {
        if (!isUsed) return pass(`not at 169.254.169.254 (${source})`);
        const enforced = knownValue(facts.networkPolicies.areEnforced);
        if (enforced === false) return pass('names come from 169.254.169.254, and nothing enforces the block');
        const message = `Cloud DNS answers pods at 169.254.169.254 (${source}), which the metadata block cuts off`;
        const remedy = `Use ${ALLOW}, or add a NetworkPolicy that allows port 53 to 169.254.169.254`;
        return enforced ? fail(`${message}: the pods it covers resolve no names`, remedy) : warn(`${message} where it is enforced`, remedy);
      },
    );
    return withProbe(outcome);
  },
};

/** Versions whose policy has no rule for DNS; an agent-local before 0.5.65 selects no pods with it. */
const HAS_NO_DNS_RULE = {'agent-k8s': '*', 'agent-local': '0.5.65 - 0.5.66', 'agent-job': '<=0.5.68'};

/** For these engines an address block never means pods: https://docs.cilium.io/en/stable/security/policy/language/#ip-cidr-based */
const CILIUM = 'cilium';

export const policyDns: Check = {
  id: 'policy-dns',
  group: 'Network',
  title: 'the network policy of the chart leaves DNS open',
  ref: 'agent-job 0.5.69 and agent-local 0.5.67, CHANGELOG',
  test: (situation) => {
    const {target, facts} = situation;
    if (!blocks(situation) || !within(target.version, HAS_NO_DNS_RULE[target.chart])) return undefined;
    return ifKnown(facts.cni, 'The network plugin is', ({plugin, policyEngine}, source) => {
      const isSafe = target.chart === 'agent-k8s' ? 'Leave the metadata service open' : 'Use a newer --chart-version; or leave it open';
      if (policyEngine !== CILIUM) return pass(`${plugin} (${source}): the addresses that the policy allows hold pods and Services too`);
      return warn(
        `The policy of ${target.chart} ${target.version} allows addresses and has no rule for DNS, and to Cilium an address never means a pod (${source}): the pods it covers may resolve no names`,
        `${isSafe}: ${ALLOW}; or add a NetworkPolicy that allows port 53`,
      );
    });
  },
};
