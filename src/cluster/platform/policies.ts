import {policyMissesRuns, type Target} from '../../charts/releases/target.ts';
import {type Fact, follow, isKnown, known, knownValue, mapped, unknown} from '../../ground/fact.ts';
import {changing, type Finding} from '../../ground/finding.ts';
import {metadataService} from '../../settings/network.ts';
import {chart} from '../../settings/release.ts';
import {withValue} from '../../settings/spelling.ts';
import type {NodeObject, PlatformReadings, PodOwner} from './readings.ts';

const ENFORCE = 'pod-security.kubernetes.io/enforce';

/** Level that Pod Security enforces in the namespace: privileged, baseline or restricted. */
export const podSecurityOf = ({
  namespaceObject,
  namespace,
}: Pick<PlatformReadings, 'namespaceObject' | 'namespace'>): Fact<string> =>
  follow(namespaceObject, (found): Fact<string> => {
    const level = found?.metadata.labels?.[ENFORCE];
    if (level !== undefined) return known(level, `Namespace ${namespace}, label ${ENFORCE}`);
    return unknown(
      'undetermined',
      `${found ? 'the namespace has no Pod Security label' : 'the namespace does not exist yet'}, so the API server default applies, which this program cannot read`,
    );
  });

/** Whether Pod Security or the platform rejects pods with a hostPath volume; a policy engine may reject them too. */
export function forbidsHostPath(podSecurity: Fact<string>, cloud: Fact<string>): Fact<boolean> {
  if (isKnown(cloud) && cloud.value === 'gke-autopilot')
    return known(true, 'GKE Autopilot; agent-k8s 0.5.58, README');
  return mapped(podSecurity, (level) => level !== 'privileged');
}

const ALLOW = changing`allow it with ${withValue(metadataService, 'allow')}`;

/** What is wrong with the policy of this chart in this cluster; undefined if Scalr tested that it works. */
export const policyWeakness = (
  target: Target,
  {areEnforced, blockMetadata}: NetworkPolicies,
): Fact<Finding | undefined> =>
  follow(areEnforced, (enforced, why): Fact<Finding | undefined> => {
    if (!enforced)
      return known(
        {
          code: 'POLICY_NOT_ENFORCED',
          verdict: 'warning',
          subject: {setting: metadataService.id},
          message: `NetworkPolicies are not enforced (${why}), so runs can access the node credentials at 169.254.169.254`,
          remedies: [changing`Enable a network policy engine, or ${ALLOW}`],
        },
        why,
      );
    if (policyMissesRuns(target))
      return known(
        {
          code: 'POLICY_MISSES_RUNS',
          verdict: 'warning',
          subject: {setting: metadataService.id},
          message: `The NetworkPolicy of ${target.chart} ${target.version} does not cover run pods, so they can access 169.254.169.254`,
          remedies: [
            changing`Use ${withValue(chart, 'agent-job')} or ${withValue(chart, 'agent-local')}, whose NetworkPolicy covers runs`,
          ],
        },
        why,
      );
    return follow(blockMetadata, (isBlocked, source) =>
      known(
        isBlocked
          ? undefined
          : {
              code: 'POLICY_WITHOUT_EFFECT',
              verdict: 'warning',
              subject: {setting: metadataService.id},
              message: `NetworkPolicies do not block 169.254.169.254 here (${why}; tested by Scalr: ${source}), so runs can access the node credentials`,
              remedies: [changing`Use GKE Dataplane V2 or Workload Identity, or ${ALLOW}`],
            },
        source,
      ),
    );
  });

export interface Cni {
  /** gke-dataplane-v2, gke-dataplane-v1, aws-vpc-cni, azure-cni, cilium, calico, canal, flannel, kindnet, ovn-kubernetes, … */
  plugin: string;
  /** What enforces NetworkPolicy objects; `none` if nothing does, `unknown` if it cannot be detected. */
  policyEngine: string;
}

const UNRECOGNIZED = unknown('undetermined', 'no DaemonSet of a known CNI plugin found');

/** DaemonSets of plugins that bring their policy engine along. */
const WHOLE_PLUGINS: Readonly<Record<string, string>> = {
  cilium: 'cilium',
  'calico-node': 'calico',
  canal: 'canal',
  'rke2-canal': 'canal',
  'kube-router': 'kube-router',
  'weave-net': 'weave',
  'antrea-agent': 'antrea',
  'ovnkube-node': 'ovn-kubernetes',
  sdn: 'openshift-sdn',
  'kube-ovn-cni': 'kube-ovn',
};

/** Reads the plugin from the daemon sets; the one of k3s has none. */
export const cniOf = (
  readings: Pick<PlatformReadings, 'daemonSets' | 'nodes'>,
  distribution: Fact<string>,
): Fact<Cni> =>
  follow(readings.daemonSets, (all) => {
    const sets = new Map(running(all).map((each) => [each.metadata.name, each]));
    const found = (plugin: string, policyEngine: string, ...names: string[]): Fact<Cni> =>
      known(
        {plugin, policyEngine},
        `DaemonSet ${names.filter((name) => sets.has(name)).join(', ')}`,
      );
    const calico = sets.has('calico-node') ? 'calico' : undefined;
    const cilium = sets.has('cilium') ? 'cilium' : undefined;

    if (sets.has('anetd')) return found('gke-dataplane-v2', 'cilium', 'anetd');
    const aws = sets.get('aws-node');
    if (aws)
      return found(
        'aws-vpc-cni',
        calico ?? cilium ?? agentOfVpcCni(aws),
        'aws-node',
        'calico-node',
        'cilium',
      );
    const isAzure = sets.has('azure-cns') || sets.has('azure-npm');
    if (isAzure) {
      const engine = cilium ?? calico ?? (sets.has('azure-npm') ? 'azure-npm' : 'none');
      return found('azure-cni', engine, 'azure-cns', 'cilium', 'calico-node', 'azure-npm');
    }
    if (knownValue(distribution) === 'gke') {
      const engine = calico ?? cilium;
      return engine
        ? found('gke-dataplane-v1', engine, 'calico-node', 'cilium')
        : known(
            {plugin: 'gke-dataplane-v1', policyEngine: 'none'},
            'no DaemonSet anetd, calico-node or cilium',
          );
    }
    const kindnet = sets.get('kindnet');
    if (kindnet) return found('kindnet', kindnetEnforces(kindnet) ? 'kindnet' : 'none', 'kindnet');
    const whole = Object.keys(WHOLE_PLUGINS).find((name) => sets.has(name));
    if (whole) return found(WHOLE_PLUGINS[whole] as string, WHOLE_PLUGINS[whole] as string, whole);
    const flannel = [...sets.keys()].find((name) => /^kube-flannel/.test(name));
    if (flannel) return found('flannel', 'none', flannel);
    return isKnown(readings.nodes) ? flannelOfK3s(readings.nodes.value) : UNRECOGNIZED;
  });

/** Providers keep the DaemonSets of disabled plugins, without a matching node. */
function running(sets: readonly PodOwner[]): readonly PodOwner[] {
  const some = sets.filter(({status}) => status?.desiredNumberScheduled !== 0);
  return some.length > 0 ? some : sets;
}

/** Disabled by default: https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy.html */
const agentOfVpcCni = (set: PodOwner): string =>
  containersOf(set).some(({args}) => args?.includes('--enable-network-policy=true'))
    ? 'aws-network-policy-agent'
    : 'none';

const containersOf = ({spec}: PodOwner) => spec?.template?.spec?.containers ?? [];

/** Since kind 0.24, whose images carry the date of their build: https://github.com/kubernetes-sigs/kind/issues/842 */
const FIRST_ENFORCING_KINDNET = 20240813;

const kindnetEnforces = (set: PodOwner): boolean =>
  containersOf(set).some(
    ({image}) =>
      Number(/kindnetd:v(\d{8})\b/.exec(image ?? '')?.[1] ?? 0) >= FIRST_ENFORCING_KINDNET,
  );

/** k3s runs flannel and the policy controller of kube-router in its own process: https://docs.k3s.io/networking/networking-services */
function flannelOfK3s(nodes: readonly NodeObject[]): Fact<Cni> {
  const hasFlannel = nodes.some(
    ({metadata}) => metadata.annotations?.['flannel.alpha.coreos.com/backend-type'] !== undefined,
  );
  const args = nodes
    .map(({metadata}) => metadata.annotations?.['k3s.io/node-args'] ?? '')
    .filter((each) => each !== '');
  if (args.length === 0 || !hasFlannel) return UNRECOGNIZED;
  // It is an argument of servers; agents do not know.
  const ofServers = args.filter((each) => each.startsWith('["server"'));
  return known(
    {plugin: 'flannel', policyEngine: policyEngineOf(ofServers)},
    'node annotations flannel.alpha.coreos.com/backend-type and k3s.io/node-args',
  );
}

function policyEngineOf(serverArguments: readonly string[]): Cni['policyEngine'] {
  if (serverArguments.length === 0) return 'unknown';
  const isOff = serverArguments.some((each) => each.includes('--disable-network-policy'));
  return isOff ? 'none' : 'kube-router';
}

export interface NetworkPolicies {
  /** Whether NetworkPolicy objects are enforced. */
  areEnforced: Fact<boolean>;
  /** Whether the policy of the charts keeps runs from 169.254.169.254; Scalr tested it on a few setups only. */
  blockMetadata: Fact<boolean>;
}

/** Tested by Scalr. */
const README = 'agent-job 0.6.5, README';

/** `plugin/engine` of the setups that Scalr tested. */
const TESTED: Readonly<Record<string, boolean>> = {
  'gke-dataplane-v2/cilium': true,
  'gke-dataplane-v1/calico': false,
  'azure-cni/cilium': true,
};

export function networkPoliciesOf(
  cni: Fact<Cni>,
  {daemonSets, ciliumConfig}: Pick<PlatformReadings, 'daemonSets' | 'ciliumConfig'>,
): NetworkPolicies {
  const isCiliumOff =
    isKnown(ciliumConfig) && ciliumConfig.value?.data?.['enable-policy'] === 'never';
  const areEnforced = follow(cni, ({plugin, policyEngine}, source): Fact<boolean> => {
    if (policyEngine === 'unknown')
      return unknown('undetermined', `cannot detect whether ${plugin} has a policy engine`);
    if (policyEngine === 'none')
      return known(false, `${source}: ${plugin} without a policy engine`);
    if (policyEngine === 'cilium' && isCiliumOff)
      return known(false, 'ConfigMap cilium-config, enable-policy: never');
    return known(true, `${source}: ${policyEngine}`);
  });
  const blockMetadata = follow(areEnforced, (enforced, source) =>
    enforced ? follow(cni, (each) => blocks(each, daemonSets)) : known(false, source),
  );
  return {areEnforced, blockMetadata};
}

function blocks(
  {plugin, policyEngine}: Cni,
  daemonSets: PlatformReadings['daemonSets'],
): Fact<boolean> {
  const measured = TESTED[`${plugin}/${policyEngine}`];
  if (measured !== undefined) return known(measured, README);
  if (plugin === 'aws-vpc-cni' && policyEngine === 'calico') {
    return isKnown(daemonSets) && daemonSets.value.some(annotatesPods)
      ? known(true, `${README}; DaemonSet aws-node, ANNOTATE_POD_IP`)
      : unknown(
          'undetermined',
          'Scalr tested the VPC CNI with Calico only with ANNOTATE_POD_IP=true, which is not set',
        );
  }
  return unknown(
    'undetermined',
    `Scalr has not tested ${plugin === policyEngine ? plugin : `${plugin} with ${policyEngine}`}`,
  );
}

const annotatesPods = (set: PodOwner): boolean =>
  set.metadata.name === 'aws-node' &&
  containersOf(set).some(({env}) =>
    env?.some(({name, value}) => name === 'ANNOTATE_POD_IP' && value === 'true'),
  );
