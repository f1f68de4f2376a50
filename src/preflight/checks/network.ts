import {within} from '../../charts/releases.ts';
import type {ClusterFacts} from '../../cluster/facts/cluster-facts.ts';
import {type Fact, isKnown, knownValue} from '../../cluster/facts/fact.ts';
import type {Networks} from '../../cluster/facts/networks.ts';
import {weaknessOf} from '../../cluster/facts/policies.ts';
import {podTemplates} from '../../cluster/pod-specs.ts';
import {kubectlCommand} from '../../command-line.ts';
import {httpProxy, httpsProxy, metadataService, noProxy, workloadIdentity} from '../../settings/network.ts';
import {type Check, type CheckResult, count, fail, few, ifKnown, pass, skip, warn} from '../check.ts';
import type {PreflightContext} from '../preflight-context.ts';
import {NO_NODE_FOR_RUNS, nodesForRuns, roleOf} from './available-nodes.ts';

/** Policies select runs by their labels. */
function tryIt({name: {place}, manifest, target}: PreflightContext): string {
  const [template] = (knownValue(manifest) ?? []).filter((each) => roleOf(each, target.chart) === 'runs').flatMap(podTemplates);
  const labels = Object.entries(template?.metadata?.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  const pod = ['--namespace', place.namespace, ...(labels.length > 0 ? [`--labels=${labels.join(',')}`] : [])];
  const options = ['--rm', '--stdin', '--restart=Never', '--image=busybox:1.37'];
  const run = kubectlCommand(place, 'run', 'metadata-probe', ...pod, ...options);
  return `Try it from a pod with the labels of a run:\n${run} -- wget -T 3 -O- http://169.254.169.254/`;
}

const ALLOW = '--metadata-service allow';
const ENFORCED = 'Whether NetworkPolicy objects are enforced here is';

/** Where a fact is unknown, a pod can still try it. */
const withProbe = (result: CheckResult, context: PreflightContext): CheckResult =>
  result.status === 'skip' ? skip(result.message, tryIt(context)) : result;

export const blocks = ({get}: Pick<PreflightContext, 'get'>): boolean => get(metadataService) === 'block';

const metadataBlock: Check = {
  id: 'metadata-block',
  group: 'Network',
  title: 'the cluster enforces the block of the metadata service',
  ref: 'agent-job 0.6.5, README',
  run: (context) => {
    if (!blocks(context)) return undefined;
    const {facts, target} = context;
    const result = ifKnown(facts.networkPolicies.areEnforced, ENFORCED, (_, why) =>
      ifKnown(
        weaknessOf(target, facts.networkPolicies),
        `Policies are enforced (${why}); whether that holds for 169.254.169.254 is`,
        (weakness, source): CheckResult => {
          if (weakness === undefined) return pass(`${why} (measured: ${source})`);
          return warn(
            weakness.message,
            weakness.code === 'POLICY_WITHOUT_EFFECT' ? `${weakness.remedy}. ${tryIt(context)}` : weakness.remedy,
          );
        },
      ),
    );
    return withProbe(result, context);
  },
};

const metadataDns: Check = {
  id: 'metadata-dns',
  group: 'Network',
  title: 'pods resolve names at an address that the metadata block leaves open',
  ref: 'https://github.com/tektoncd/operator/issues/4000',
  run: (context) => {
    if (!blocks(context)) return undefined;
    const {facts} = context;
    const result = ifKnown(
      facts.dns.usesMetadataAddress,
      'Whether pods resolve names at 169.254.169.254 is',
      (isUsed, source): CheckResult => {
        if (!isUsed) return pass(`not at 169.254.169.254 (${source})`);
        const enforced = knownValue(facts.networkPolicies.areEnforced);
        if (enforced === false) return pass('names come from 169.254.169.254, and nothing enforces the block');
        const message = `Cloud DNS answers pods at 169.254.169.254 (${source}), which the metadata block cuts off`;
        const remedy = `Use ${ALLOW}, or add a NetworkPolicy that allows port 53 to 169.254.169.254`;
        return enforced ? fail(`${message}: the pods it covers resolve no names`, remedy) : warn(`${message} where it is enforced`, remedy);
      },
    );
    return withProbe(result, context);
  },
};

/** Versions whose policy has no rule for DNS; the policy of an agent-local before 0.5.65 selects no pods. */
const HAS_NO_DNS_RULE = {'agent-k8s': '*', 'agent-local': '0.5.65 - 0.5.66', 'agent-job': '<=0.5.68'};

/** For Cilium an ipBlock never matches pods: https://docs.cilium.io/en/stable/security/policy/language/#ip-cidr-based */
const CILIUM = 'cilium';

const policyDns: Check = {
  id: 'policy-dns',
  group: 'Network',
  title: 'the network policy of the chart leaves DNS open',
  ref: 'agent-job 0.5.69 and agent-local 0.5.67, CHANGELOG',
  run: (context) => {
    const {target, facts} = context;
    if (!blocks(context) || !within(target.version, HAS_NO_DNS_RULE[target.chart])) return undefined;
    return ifKnown(facts.cni, 'The network plugin is', ({plugin, policyEngine}, source) => {
      const remedy = target.chart === 'agent-k8s' ? 'Leave the metadata service open' : 'Use a newer --chart-version; or leave it open';
      if (policyEngine !== CILIUM) return pass(`${plugin} (${source}): the addresses that the policy allows hold pods and Services too`);
      return warn(
        `The policy of ${target.chart} ${target.version} allows addresses and has no rule for DNS, and to Cilium an address never means a pod (${source}): the pods it covers may resolve no names`,
        `${remedy}: ${ALLOW}; or add a NetworkPolicy that allows port 53`,
      );
    });
  },
};

/** GKE labels the nodes whose pods get their identity from its metadata server. */
const GKE_LABEL = 'iam.gke.io/gke-metadata-server-enabled';
const GKE = ['gke', 'gke-autopilot'];
const EKS_AGENT = 'eks-pod-identity-agent';

const isOf = (facts: ClusterFacts, clouds: readonly string[], conclude: (cloud: string) => CheckResult): CheckResult =>
  ifKnown(facts.platform.cloud, 'The provider of the cluster is', (cloud, source) =>
    clouds.includes(cloud)
      ? conclude(cloud)
      : warn(
          `The cluster is no ${(clouds[0] as string).toUpperCase()} but ${cloud} (${source}), where nothing of the kind comes with it`,
          'Use the --workload-identity of this provider, or none',
        ),
  );

const onGke = (context: PreflightContext): CheckResult =>
  isOf(context.facts, GKE, (cloud) => {
    if (cloud === 'gke-autopilot') return pass('Autopilot has Workload Identity on every node');
    return ifKnown(nodesForRuns(context), 'The nodes that take runs are', (nodes) => {
      if (nodes.length === 0) return skip(NO_NODE_FOR_RUNS);
      const without = nodes.filter(({labels}) => labels[GKE_LABEL] !== 'true').map(({name, pool}) => pool ?? name);
      if (without.length === 0) return pass(`${count(nodes.length, 'node')} for runs with ${GKE_LABEL}`);
      const pools = [...new Set(without)];
      return fail(
        `Nodes of ${few(pools)} have no ${GKE_LABEL}: runs there get the identity of the node`,
        `Switch it on: gcloud container node-pools update ${pools[0]} --workload-metadata GKE_METADATA; or keep runs away with --node-selector ${GKE_LABEL}=true`,
      );
    });
  });

const podIdentity = ({facts, readings}: PreflightContext): CheckResult =>
  isOf(facts, ['eks'], () =>
    ifKnown(facts.platform.flavour, 'The flavour of EKS is', (flavour) => {
      if (flavour === 'auto-mode') return pass('EKS Auto Mode has the agent of Pod Identity built in');
      return ifKnown(readings.daemonSets, 'DaemonSets are', (sets) =>
        sets.some(({metadata}) => metadata.name === EKS_AGENT)
          ? pass(`DaemonSet ${EKS_AGENT}`)
          : fail(
              `No DaemonSet ${EKS_AGENT} runs here, so runs get no credentials`,
              'Install the add-on: aws eks create-addon --addon-name eks-pod-identity-agent --cluster-name CLUSTER',
            ),
      );
    }),
  );

const MECHANISMS: Readonly<Record<string, (context: PreflightContext) => CheckResult>> = {
  gke: onGke,
  'eks-pod-identity': podIdentity,
  irsa: ({facts}) => isOf(facts, ['eks'], () => pass('EKS gives pods the token of their role itself')),
  azure: ({facts}) =>
    isOf(facts, ['aks'], () => skip('AKS brings Workload Identity where its add-on is on, which does not show in what is read here')),
};

const identityMechanism: Check = {
  id: 'workload-identity',
  group: 'Network',
  title: 'the cluster hands out the identities that runs get their credentials with',
  ref: 'https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity, https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html',
  run: (context) => MECHANISMS[context.get(workloadIdentity) ?? 'none']?.(context),
};

/** Validation of the values refuses the block together with the setting, so here neither was given. */
const metadataIdentity: Check = {
  id: 'metadata-identity',
  group: 'Network',
  title: 'runs reach Workload Identity where the nodes have it',
  ref: 'https://cloud.google.com/kubernetes-engine/docs/concepts/workload-identity',
  run: (context) => {
    const {facts, get} = context;
    const cloud = knownValue(facts.platform.cloud);
    if (!blocks(context) || get(workloadIdentity) !== undefined || cloud === undefined || !GKE.includes(cloud)) return undefined;
    return ifKnown(nodesForRuns(context), 'The nodes that take runs are', (nodes) => {
      const isThere = cloud === 'gke-autopilot' || nodes.some(({labels}) => labels[GKE_LABEL] === 'true');
      if (!isThere) return pass('no node for runs has it');
      return ifKnown(facts.networkPolicies.areEnforced, ENFORCED, (enforced, why) =>
        enforced
          ? warn(
              `The nodes have Workload Identity, and the metadata block keeps runs from it (${why}): they get no credentials of Google that way`,
              'Say whether runs use it: --workload-identity gke, which opens the metadata service, or --workload-identity none',
            )
          : pass(`nothing enforces the block (${why})`),
      );
    });
  },
};

/** `note` is added to a warning. */
type NetworksToCheck = {networks: Fact<readonly string[]>; note?: string};

const noProxyFor = (what: 'service' | 'pod', networksOf: (networks: Networks) => NetworksToCheck): Check => ({
  id: `no-proxy-${what}s`,
  group: 'Network',
  title: `${what} addresses are reached without the proxy`,
  ref: 'agent-job 0.6.5, README',
  run: ({get, facts}) => {
    if ((get(httpsProxy) ?? get(httpProxy)) === undefined) return undefined;
    const found = networksOf(facts.networks);
    return ifKnown(found.networks, `The ${what} network is`, (networks, source) => {
      const entries = get(noProxy) ?? [];
      const missing = networks.filter((network) => !entries.some((entry) => entry === '*' || covers(entry, network)));
      if (missing.length === 0) return pass(`${few(networks)} (${source})`);
      return warn(
        `NO_PROXY leaves out ${few(missing)} (${source}): what is asked for by address there goes to the proxy${found.note ?? ''}`,
        `Add --no-proxy ${[...entries, ...missing].join(',')}`,
      );
    });
  },
});

const noProxyServices = noProxyFor('service', ({services}) => ({networks: services}));

/** Where only the pod networks of the nodes are known, those of the current nodes count. */
const noProxyPods = noProxyFor('pod', ({pods, podsOfNodes}) =>
  isKnown(pods) || !isKnown(podsOfNodes)
    ? {networks: pods}
    : {networks: podsOfNodes, note: '; every node that joins brings another network'},
);

/** Address and prefix of an IPv4 network; undefined for anything else. */
function rangeOf(cidr: string): {from: number; prefix: number} | undefined {
  const [, address = '', prefix] = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(cidr) ?? [];
  const bytes = address.split('.').map(Number);
  if (prefix === undefined || bytes.some((byte) => byte > 255) || Number(prefix) > 32) return undefined;
  return {from: bytes.reduce((sum, byte) => sum * 256 + byte, 0), prefix: Number(prefix)};
}

/** True where every address of the second network lies in the first; IPv6 networks only when they are spelled alike. */
export function covers(outer: string, inner: string): boolean {
  const [one, other] = [rangeOf(outer), rangeOf(inner)];
  if (one === undefined || other === undefined) return outer.toLowerCase() === inner.toLowerCase();
  const size = 2 ** (32 - one.prefix);
  return one.prefix <= other.prefix && Math.floor(one.from / size) === Math.floor(other.from / size);
}

/** Network policies, workload identities and proxies. */
export const networkChecks = [metadataBlock, metadataDns, policyDns, metadataIdentity, identityMechanism, noProxyServices, noProxyPods];
