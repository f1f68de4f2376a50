import type {Cni} from './cni.ts';
import {type Fact, follow, isKnown, known, unknown} from './fact.ts';
import type {PodOwner, Readings} from './readings.ts';

export interface NetworkPolicies {
  /** Whether NetworkPolicy objects do anything. */
  areEnforced: Fact<boolean>;
  /** Whether the policy of the charts keeps runs from 169.254.169.254; upstream measured it on few setups only. */
  blockMetadata: Fact<boolean>;
}

/** Measured by upstream. */
const README = 'agent-job 0.6.5, README';

/** `plugin/engine` of the setups that upstream measured. */
const MEASURED: Readonly<Record<string, boolean>> = {
  'gke-dataplane-v2/cilium': true,
  'gke-dataplane-v1/calico': false,
  'azure-cni/cilium': true,
};

export function networkPoliciesOf(
  cni: Fact<Cni>,
  {daemonSets, ciliumConfig}: Pick<Readings, 'daemonSets' | 'ciliumConfig'>,
): NetworkPolicies {
  const isCiliumOff = isKnown(ciliumConfig) && ciliumConfig.value?.data?.['enable-policy'] === 'never';
  const areEnforced = follow(cni, ({plugin, policyEngine}, source): Fact<boolean> => {
    if (policyEngine === 'unknown') return unknown('undetermined', `nothing says whether ${plugin} comes with a policy engine here`);
    if (policyEngine === 'none') return known(false, `${source}: ${plugin} without a policy engine`);
    if (policyEngine === 'cilium' && isCiliumOff) return known(false, 'ConfigMap cilium-config, enable-policy: never');
    return known(true, `${source}: ${policyEngine}`);
  });
  const blockMetadata = follow(areEnforced, (enforced, source) =>
    enforced ? follow(cni, (each) => blocks(each, daemonSets)) : known(false, source),
  );
  return {areEnforced, blockMetadata};
}

function blocks({plugin, policyEngine}: Cni, daemonSets: Readings['daemonSets']): Fact<boolean> {
  const measured = MEASURED[`${plugin}/${policyEngine}`];
  if (measured !== undefined) return known(measured, README);
  if (plugin === 'aws-vpc-cni' && policyEngine === 'calico') {
    return isKnown(daemonSets) && daemonSets.value.some(annotatesPods)
      ? known(true, `${README}; DaemonSet aws-node, ANNOTATE_POD_IP`)
      : unknown('undetermined', 'upstream measured the VPC CNI with Calico only with ANNOTATE_POD_IP=true, which is not set here');
  }
  return unknown('undetermined', `upstream never measured ${plugin} with ${policyEngine}`);
}

const annotatesPods = ({metadata, spec}: PodOwner): boolean =>
  metadata.name === 'aws-node' &&
  (spec?.template?.spec?.containers?.some(({env}) => env?.some(({name, value}) => name === 'ANNOTATE_POD_IP' && value === 'true')) ??
    false);
