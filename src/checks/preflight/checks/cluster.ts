import {floorOf, isBelow, isTooOld, isVersion} from '../../../charts/charts.ts';
import {compare} from '../../../charts/releases/versions.ts';
import {hostPaths, podSpecs} from '../../../cluster/kubernetes/pod-specs.ts';
import type {ClusterSelection} from '../../../ground/command-line.ts';
import {INSTALL_KUBECTL} from '../../../ground/errors.ts';
import {type Fact, isKnown, isUnread, knownValue, type Unknown} from '../../../ground/fact.ts';
import {changing, joined, type Remedy, remediesOf} from '../../../ground/finding.ts';
import {count, few} from '../../../ground/text.ts';
import {getAt, type Values} from '../../../ground/tree.ts';
import {serverProblem, unreachableSteps} from '../../../ground/unreachable.ts';
import {cache} from '../../../settings/cache.ts';
import {cloud} from '../../../settings/cluster.ts';
import {chart, chartSource, chartVersion} from '../../../settings/release.ts';
import {withValue} from '../../../settings/spelling.ts';
import type {PreflightContext} from '../facts/context.ts';
import {type Check, check} from './check.ts';
import {
  type CheckResult,
  cannot,
  fail,
  ifKnown,
  notChecked,
  pass,
  unreadable,
  warn,
} from './check-result.ts';

const serverVersion = check('Cluster', 'server-version', 'Kubernetes version', {
  ref: 'README and Chart.yaml of each chart; agent-job 0.5.69 and later use image volumes',
  run: ({target, facts}) => {
    const floor = floorOf(target);
    if (floor === undefined) return undefined;
    return ifKnown(facts.versions.server, 'read the server version', (version) => {
      if (!isVersion(version))
        return notChecked(`Cannot parse the server version ${JSON.stringify(version)}`);
      if (!isBelow(version, floor.version))
        return pass(`${version}; ${target.chart} ${target.version} requires ${floor.version}`);
      const message = `Server version is ${version}; ${target.chart} ${target.version} requires ${floor.version}: ${floor.because}`;
      return floor.isHard
        ? fail(
            message,
            changing`Upgrade the cluster to ${floor.version}, or use ${withValue(chart, 'agent-local')}`,
          )
        : warn(message, `Upgrade the cluster to ${floor.version}`);
    });
  },
});

const cloudSetting = check('Cluster', 'cloud-setting', 'Cloud setting', {
  ref: 'Node labels, providerID and versions',
  run: ({get, facts}) => {
    const desired = get(cloud);
    if (desired === undefined) return undefined;
    return ifKnown(facts.platform.cloud, 'detect the cloud provider', (found, source) =>
      found === desired
        ? pass(`${found} (${source})`)
        : warn(
            `The cloud is set to ${desired}, but the cluster is ${found} (${source}). Node paths and restrictions depend on it`,
            changing`Use ${withValue(cloud, found)}`,
          ),
    );
  },
});

/** Pod Security and the SCCs of OpenShift have checks of their own. */
const hostPath = check('Cluster', 'host-path', 'hostPath volumes', {
  ref: 'https://cloud.google.com/kubernetes-engine/docs/concepts/autopilot-security; agent-k8s 0.5.58, README',
  run: (context) => {
    const paths = few(wantedHostPaths(context));
    if (paths === '') return undefined;
    return ifKnown(
      context.facts.platform.cloud,
      `determine whether this is GKE Autopilot, which forbids hostPath volumes (${paths})`,
      (cloud, source) =>
        cloud === 'gke-autopilot'
          ? fail(
              `GKE Autopilot forbids hostPath volumes (${source}): ${paths}`,
              withoutHostPath(context),
            )
          : pass(`${paths}; allowed on ${cloud} (${source})`),
    );
  },
});

/** The node directories that pods mount; a guess from the settings where the chart could not be rendered. */
function wantedHostPaths({
  manifest,
  target,
  get,
}: Pick<PreflightContext, 'manifest' | 'target' | 'get'>): readonly string[] {
  const objects = knownValue(manifest);
  if (objects) return [...new Set(objects.flatMap(podSpecs).flatMap(hostPaths))];
  const isDesired =
    get(cache) === 'hostpath' || (target.chart === 'agent-k8s' && get(cache) !== 'efs');
  return isDesired ? ['node directories'] : [];
}

export const withoutHostPath = ({target}: Pick<PreflightContext, 'target'>): Remedy =>
  target.chart === 'agent-k8s'
    ? changing`Use ${withValue(chart, 'agent-local')} or ${withValue(chart, 'agent-job')}`
    : changing`Use ${withValue(cache, 'ephemeral')} or ${withValue(cache, 'pvc')}`;

/** What the default SCC, restricted-v2, rejects in a pod. */
function refusedByScc(spec: Values): string[] {
  const containers = (['containers', 'initContainers'] as const).flatMap((key) =>
    Array.isArray(spec[key]) ? spec[key] : [],
  );
  const users = [spec, ...containers].flatMap((each) =>
    ['runAsUser', 'fsGroup'].flatMap((key) => {
      const user = getAt(each, ['securityContext', key]);
      return user === undefined || user === null ? [] : [`${key} ${user}`];
    }),
  );
  return [...users, ...hostPaths(spec).map((path) => `hostPath volume ${path}`)];
}

const openshiftScc = check('Cluster', 'openshift-scc', 'OpenShift SCC restricted-v2', {
  ref: 'https://docs.openshift.com/container-platform/4.18/authentication/managing-security-context-constraints.html',
  run: ({facts, manifest, name, live}) => {
    const {distribution} = facts.platform;
    if (isUnread(distribution)) return unreadable(distribution, 'detect OpenShift');
    if (knownValue(distribution) !== 'openshift') return undefined;
    return ifKnown(manifest, 'render the chart', (objects) => {
      const specs = objects.flatMap(podSpecs);
      const all = [...new Set(specs.flatMap(refusedByScc))];
      if (all.length === 0) return pass('No pod sets its user or mounts a hostPath volume');
      const accounts = [
        ...new Set(specs.map((spec) => `-z ${spec['serviceAccountName'] ?? 'default'}`)),
      ];
      const isUserOnly = all.every((each) => / [1-9]\d*$/.test(each));
      const scc = isUserOnly ? 'nonroot-v2' : 'privileged';
      const granted = knownValue(live.sccs)?.find((each) => isUserOnly || each === 'privileged');
      if (granted !== undefined) return pass(`The service account may use SCC ${granted}`);
      const refuse = isKnown(live.sccs) ? fail : warn;
      return refuse(
        `SCC restricted-v2 rejects the pods: ${all.join(', ')}. ${isKnown(live.sccs) ? 'Their service account may use no SCC that allows it' : `Other SCCs of their service account are unknown: ${live.sccs.because}`}`,
        `Grant an SCC. Scalr does not document one, so test it: oc adm policy add-scc-to-user ${scc} ${accounts.join(' ')} -n ${name.kubeTarget.namespace}`,
      );
    });
  },
});

export const clusterChecks: readonly Check[] = [
  serverVersion,
  cloudSetting,
  hostPath,
  openshiftScc,
];

const OLDEST_HELM = '3.14.0';

const helm = check('Tools', 'helm-version', 'Helm version', {
  ref: 'https://helm.sh/docs/topics/version_skew/',
  run({tools}) {
    if (!isKnown(tools.helm))
      return missingTool(
        tools.helm,
        'run helm',
        'Install Helm 3.14 or newer, or set its path with --helm',
      );
    const {value} = tools.helm;
    return compare(value, OLDEST_HELM) < 0
      ? fail(
          `helm ${value} is older than 3.14`,
          'Install Helm 3.14 or newer, or set another path with --helm',
        )
      : pass(`helm ${value}`);
  },
});

/** A slow tool is not a missing one. */
const missingTool = (why: Unknown, task: string, remedy: string): CheckResult =>
  why.unknown === 'timed-out'
    ? cannot(task, why.because, 'Increase --timeout')
    : fail(why.because, remedy);

const kubectl = check('Tools', 'kubectl-version', 'kubectl', {
  ref: 'https://kubernetes.io/releases/version-skew-policy/#kubectl',
  run({tools, facts}) {
    if (!isKnown(tools.kubectl)) return missingTool(tools.kubectl, 'run kubectl', INSTALL_KUBECTL);
    const own = tools.kubectl.value;
    if (!isKnown(facts.versions.server))
      return cannot(`compare kubectl ${own} with the API server`, facts.versions.server.because);
    const server = facts.versions.server.value;
    if (!/^v?1\./.test(own)) return pass(`oc ${own}, API server ${server}`);
    const apart = Math.abs(minorOf(own) - minorOf(server));
    return apart > 1
      ? warn(
          `kubectl ${own} and API server ${server} differ by ${apart} minor versions; at most one is supported`,
          `Install kubectl 1.${minorOf(server)}, or set another path with --kubectl`,
        )
      : pass(`kubectl ${own}, API server ${server}`);
  },
});

const minorOf = (version: string): number => Number(/^v?\d+\.(\d+)/.exec(version)?.[1]);

const reachable = check('Cluster', 'cluster-reachable', 'Kubernetes API', {
  ref: 'https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/',
  run({tools, facts, context, live, name: {kubeTarget}}) {
    if (!isKnown(tools.kubectl)) return notChecked('kubectl not found');
    const {server: version} = facts.versions;
    const {name, cluster, server} = knownValue(context) ?? {};
    const where = [name && `context ${name}`, cluster && `cluster ${cluster}`, server].filter(
      (each) => each !== undefined && each !== '',
    ) as string[];
    // Everyone may read the version by default, without a login too.
    const rejected = [live.user, facts.nodes].find(isRejected);
    if (rejected !== undefined) return notReached(where, rejected, kubeTarget);
    if (isKnown(version)) return pass([...where, `Kubernetes ${version.value}`].join(', '));
    if (version.unknown === 'forbidden')
      return notChecked([...where, 'your user cannot read the server version'].join(', '));
    return notReached(where, version, kubeTarget);
  },
});

const isRejected = (fact: Fact<unknown>): fact is Unknown =>
  !isKnown(fact) && fact.unknown === 'not-logged-in';

function notReached(
  where: readonly string[],
  why: Unknown,
  cluster: ClusterSelection,
): CheckResult {
  const problem = serverProblem(why);
  // Some problems start with the address.
  const before = where.filter((each) => !problem.startsWith(each));
  const steps = why.steps ?? unreachableSteps(why.because, cluster);
  return {
    ...fail([...before, problem].join(', '), joined(remediesOf(...steps), '. ')),
    because: why.because,
  };
}

const renders = check('Release', 'chart-renders', 'Chart download and rendering', {
  ref: 'https://helm.sh/docs/helm/helm_template/',
  run({tools, target, manifest, refusal, facts}) {
    const what = `${target.chart} ${target.version}`;
    if (isKnown(manifest)) {
      const creates = `creates ${count(manifest.value.length, 'object')}`;
      if (refusal === undefined) return pass(`${what} ${creates}`);
      // The check server-version reports that the server is too old.
      return isTooOld(knownValue(facts.versions.server) ?? '', target)
        ? pass(`${what} ${creates} on a supported Kubernetes version`)
        : fail(
            `${what}: ${refusal}`,
            changing`Upgrade the cluster, or use an older ${chartVersion}`,
          );
    }
    if (!isKnown(tools.helm)) return notChecked('helm not found');
    if (manifest.unknown === 'timed-out')
      return notChecked(`${what}: ${manifest.because}`, 'Increase --timeout');
    const remedy = changing`Check ${chartVersion}, ${chartSource} and --set, and whether the chart repository can be reached`;
    return {...fail(`${what}: ${manifest.because}`, remedy), because: manifest.because};
  },
});

export const toolChecks: readonly Check[] = [helm, kubectl, reachable, renders];
