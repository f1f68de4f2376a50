import {within} from '../../../charts/releases/versions.ts';
import {podTemplates} from '../../../cluster/kubernetes/pod-specs.ts';
import type {ClusterFacts, Networks} from '../../../cluster/platform/cluster-facts.ts';
import {policyWeakness} from '../../../cluster/platform/policies.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {type Fact, isKnown, isUnread, knownValue} from '../../../ground/fact.ts';
import {changing, joined} from '../../../ground/finding.ts';
import {count, few} from '../../../ground/text.ts';
import {
  httpProxy,
  httpsProxy,
  metadataService,
  noProxy,
  workloadIdentity,
} from '../../../settings/network.ts';
import {nodeSelector} from '../../../settings/placement.ts';
import {chartVersion} from '../../../settings/release.ts';
import {withValue} from '../../../settings/spelling.ts';
import {NO_NODE_FOR_RUNS, nodesForRuns, podRole} from '../facts/chart-pods.ts';
import type {PreflightContext} from '../facts/context.ts';
import {type Check, check} from './check.ts';
import {
  type CheckResult,
  fail,
  ifKnown,
  notChecked,
  pass,
  unreadable,
  warn,
} from './check-result.ts';

/** Policies select runs by their labels. */
function probeHint({name: {kubeTarget}, manifest, target}: PreflightContext): string {
  const [template] = (knownValue(manifest) ?? [])
    .filter((each) => podRole(each, target.chart) === 'runs')
    .flatMap(podTemplates);
  const labels = Object.entries(template?.metadata?.labels ?? {}).map(
    ([key, value]) => `${key}=${value}`,
  );
  const pod = [
    '--namespace',
    kubeTarget.namespace,
    ...(labels.length > 0 ? [`--labels=${labels.join(',')}`] : []),
  ];
  const options = ['--rm', '--stdin', '--restart=Never', '--image=busybox:1.37'];
  const run = kubectlCommand(kubeTarget, 'run', 'metadata-probe', ...pod, ...options);
  return `Test it from a pod with the labels of a run:\n${run} -- wget -T 3 -O- http://169.254.169.254/`;
}

const ALLOW = withValue(metadataService, 'allow');
const ENFORCED = 'determine whether NetworkPolicies are enforced';

/** If a fact is unknown, a pod can still test it. */
const withProbe = (result: CheckResult, context: PreflightContext): CheckResult =>
  result.verdict === 'unknown' ? notChecked(result.message, probeHint(context)) : result;

export const blocks = ({get}: Pick<PreflightContext, 'get'>): boolean =>
  get(metadataService) === 'block';

const metadataBlock = check('Network', 'metadata-block', 'NetworkPolicy for the metadata service', {
  ref: 'agent-job 0.6.5, README',
  run: (context) => {
    if (!blocks(context)) return undefined;
    const {facts, target} = context;
    const result = ifKnown(facts.networkPolicies.areEnforced, ENFORCED, (_, why) =>
      ifKnown(
        policyWeakness(target, facts.networkPolicies),
        'determine whether enforced policies block 169.254.169.254',
        (weakness, source): CheckResult => {
          if (weakness === undefined) return pass(`${why} (tested: ${source})`);
          const hint = weakness.code === 'POLICY_WITHOUT_EFFECT' ? `. ${probeHint(context)}` : '';
          return warn(weakness.message, changing`${joined(weakness.remedies, '; ')}${hint}`);
        },
      ),
    );
    return withProbe(result, context);
  },
});

const metadataDns = check('Network', 'metadata-dns', 'DNS with a blocked metadata service', {
  ref: 'https://github.com/tektoncd/operator/issues/4000',
  run: (context) => {
    if (!blocks(context)) return undefined;
    const {facts} = context;
    const result = ifKnown(
      facts.dns.usesMetadataAddress,
      'determine whether pods use 169.254.169.254 for DNS',
      (isUsed, source): CheckResult => {
        if (!isUsed) return pass(`Pods do not use 169.254.169.254 for DNS (${source})`);
        const enforced = knownValue(facts.networkPolicies.areEnforced);
        if (enforced === false)
          return pass('Pods use 169.254.169.254 for DNS, but the block is not enforced');
        const message = `Cloud DNS serves pods at 169.254.169.254 (${source}), an address that the metadata block denies`;
        const remedy = changing`Use ${ALLOW}, or add a NetworkPolicy that allows port 53 to 169.254.169.254`;
        return enforced
          ? fail(`${message}. DNS fails in the pods it covers`, remedy)
          : warn(`${message} if it is enforced`, remedy);
      },
    );
    return withProbe(result, context);
  },
});

/** Versions whose policy has no rule for DNS; the policy of an agent-local before 0.5.65 selects no pods. */
const HAS_NO_DNS_RULE = {
  'agent-k8s': '*',
  'agent-local': '0.5.65 - 0.5.66',
  'agent-job': '<=0.5.68',
};

/** For Cilium an ipBlock never matches pods: https://docs.cilium.io/en/stable/security/policy/language/#ip-cidr-based */
const CILIUM = 'cilium';

const policyDns = check('Network', 'policy-dns', 'NetworkPolicy for DNS', {
  ref: 'agent-job 0.5.69 and agent-local 0.5.67, CHANGELOG',
  run: (context) => {
    const {target, facts} = context;
    if (!blocks(context) || !within(target.version, HAS_NO_DNS_RULE[target.chart]))
      return undefined;
    return ifKnown(facts.cni, 'detect the CNI plugin', ({plugin, policyEngine}, source) => {
      const remedy =
        target.chart === 'agent-k8s'
          ? {text: 'Allow the metadata service'}
          : changing`Use a newer ${chartVersion}, or allow the metadata service`;
      if (policyEngine !== CILIUM)
        return pass(`${plugin} (${source}): the allowed IP blocks include pods and Services`);
      return warn(
        `The NetworkPolicy of ${target.chart} ${target.version} has no DNS rule, and its ipBlock rules never match pods in Cilium (${source}). DNS can fail in the pods it covers`,
        changing`${remedy}: ${ALLOW}; or add a NetworkPolicy that allows port 53`,
      );
    });
  },
});

/** GKE labels the nodes whose pods get their identity from its metadata server. */
const GKE_LABEL = 'iam.gke.io/gke-metadata-server-enabled';
const GKE = ['gke', 'gke-autopilot'];
const EKS_AGENT = 'eks-pod-identity-agent';

const onCloud = (
  facts: ClusterFacts,
  clouds: readonly string[],
  conclude: (cloud: string) => CheckResult,
): CheckResult =>
  ifKnown(facts.platform.cloud, 'detect the cloud provider', (cloud, source) =>
    clouds.includes(cloud)
      ? conclude(cloud)
      : warn(
          `The cluster is ${cloud} (${source}), which does not provide this type of workload identity`,
          changing`Set ${workloadIdentity} to the type of this provider, or to none`,
        ),
  );

const onGke = (context: PreflightContext): CheckResult =>
  onCloud(context.facts, GKE, (cloud) => {
    if (cloud === 'gke-autopilot')
      return pass('GKE Autopilot enables Workload Identity on every node');
    return ifKnown(nodesForRuns(context), 'list the nodes for runs', (nodes) => {
      if (nodes.length === 0) return notChecked(NO_NODE_FOR_RUNS);
      const without = nodes
        .filter(({labels}) => labels[GKE_LABEL] !== 'true')
        .map(({name, pool}) => pool ?? name);
      if (without.length === 0)
        return pass(`${count(nodes.length, 'node')} for runs with label ${GKE_LABEL}`);
      const pools = [...new Set(without)];
      return fail(
        `Nodes of ${few(pools)} have no label ${GKE_LABEL}, so runs use the identity of the node`,
        changing`Enable it: gcloud container node-pools update ${pools[0] ?? 'POOL'} --workload-metadata GKE_METADATA; or use other nodes with ${withValue(nodeSelector, `${GKE_LABEL}=true`)}`,
      );
    });
  });

const podIdentity = ({facts, readings}: PreflightContext): CheckResult =>
  onCloud(facts, ['eks'], () =>
    ifKnown(facts.platform.flavor, 'detect the EKS mode', (flavor) => {
      if (flavor === 'auto-mode') return pass('EKS Auto Mode includes the Pod Identity agent');
      return ifKnown(readings.daemonSets, 'list DaemonSets', (sets) =>
        sets.some(({metadata}) => metadata.name === EKS_AGENT)
          ? pass(`DaemonSet ${EKS_AGENT}`)
          : fail(
              `DaemonSet ${EKS_AGENT} not found, so runs get no credentials`,
              'Install the add-on: aws eks create-addon --addon-name eks-pod-identity-agent --cluster-name CLUSTER',
            ),
      );
    }),
  );

const MECHANISMS: Readonly<Record<string, (context: PreflightContext) => CheckResult>> = {
  gke: onGke,
  'eks-pod-identity': podIdentity,
  irsa: ({facts}) =>
    onCloud(facts, ['eks'], () => pass('EKS supports IAM roles for service accounts (IRSA)')),
  azure: ({facts}) =>
    onCloud(facts, ['aks'], () =>
      notChecked('Cannot detect whether the Workload Identity add-on of AKS is enabled'),
    ),
};

const identityMechanism = check(
  'Network',
  'workload-identity',
  'Workload identity in the cluster',
  {
    ref: 'https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity, https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html',
    run: (context) => MECHANISMS[context.get(workloadIdentity) ?? 'none']?.(context),
  },
);

/** Validation of the values rejects the block together with the setting, so here neither was given. */
const metadataIdentity = check('Network', 'metadata-identity', 'Workload Identity, from runs', {
  ref: 'https://cloud.google.com/kubernetes-engine/docs/concepts/workload-identity',
  run: (context) => {
    const {facts, get} = context;
    if (!blocks(context) || get(workloadIdentity) !== undefined) return undefined;
    if (isUnread(facts.platform.cloud))
      return unreadable(facts.platform.cloud, 'detect the cloud provider');
    const cloud = knownValue(facts.platform.cloud);
    if (cloud === undefined || !GKE.includes(cloud)) return undefined;
    return ifKnown(nodesForRuns(context), 'list the nodes for runs', (nodes) => {
      const isThere =
        cloud === 'gke-autopilot' || nodes.some(({labels}) => labels[GKE_LABEL] === 'true');
      if (!isThere) return pass('No node for runs has Workload Identity');
      return ifKnown(facts.networkPolicies.areEnforced, ENFORCED, (enforced, why) =>
        enforced
          ? warn(
              `Workload Identity requires the metadata service, but access is blocked (${why}), so runs get no Google credentials`,
              changing`Use ${withValue(workloadIdentity, 'gke')}, which allows the metadata service, or ${withValue(workloadIdentity, 'none')}`,
            )
          : pass(`The block is not enforced (${why})`),
      );
    });
  },
});

/** `note` is added to a warning. */
type NetworksToCheck = {networks: Fact<readonly string[]>; note?: string};

const noProxyFor = (
  what: 'service' | 'pod',
  title: string,
  networksOf: (networks: Networks) => NetworksToCheck,
): Check =>
  check('Network', `no-proxy-${what}s`, title, {
    ref: 'agent-job 0.6.5, README',
    run: ({get, facts}) => {
      if ((get(httpsProxy) ?? get(httpProxy)) === undefined) return undefined;
      const found = networksOf(facts.networks);
      return ifKnown(found.networks, `read the ${what} network`, (networks, source) => {
        const entries = get(noProxy) ?? [];
        const missing = networks.filter(
          (network) => !entries.some((entry) => entry === '*' || covers(entry, network)),
        );
        if (missing.length === 0) return pass(`${few(networks)} (${source})`);
        return warn(
          `NO_PROXY does not include ${few(missing)} (${source}), so requests to these addresses use the proxy${found.note ?? ''}`,
          changing`Add ${withValue(noProxy, [...entries, ...missing].join(','))}`,
        );
      });
    },
  });

const noProxyServices = noProxyFor('service', 'Service network in NO_PROXY', ({services}) => ({
  networks: services,
}));

/** Where only the pod networks of the nodes are known, those of the current nodes count. */
const noProxyPods = noProxyFor('pod', 'Pod network in NO_PROXY', ({pods, podsOfNodes}) =>
  isKnown(pods) || !isKnown(podsOfNodes)
    ? {networks: pods}
    : {networks: podsOfNodes, note: '. Each new node adds another network'},
);

/** Address and prefix of an IPv4 network; undefined for anything else. */
function rangeOf(cidr: string): {from: number; prefix: number} | undefined {
  const [, address = '', prefix] = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(cidr) ?? [];
  const bytes = address.split('.').map(Number);
  if (prefix === undefined || bytes.some((byte) => byte > 255) || Number(prefix) > 32)
    return undefined;
  return {from: bytes.reduce((sum, byte) => sum * 256 + byte, 0), prefix: Number(prefix)};
}

/** True if the first network contains the second; IPv6 networks must be identical. */
export function covers(outer: string, inner: string): boolean {
  const one = rangeOf(outer);
  const other = rangeOf(inner);
  if (one === undefined || other === undefined) return outer.toLowerCase() === inner.toLowerCase();
  const size = 2 ** (32 - one.prefix);
  return (
    one.prefix <= other.prefix && Math.floor(one.from / size) === Math.floor(other.from / size)
  );
}

export const networkChecks = [
  metadataBlock,
  metadataDns,
  policyDns,
  metadataIdentity,
  identityMechanism,
  noProxyServices,
  noProxyPods,
];
