import {getAt, type Values} from '../../charts/tree.ts';
import {floorOf, isBelow, isVersion} from '../../charts/version-status.ts';
import {knownValue} from '../../cluster/facts/fact.ts';
import {hostPaths, podSpecs} from '../../cluster/pod-specs.ts';
import {cloud} from '../../settings/cluster.ts';
import {cache} from '../../settings/storage.ts';
import {type Check, fail, few, ifKnown, pass, skip, warn} from '../check.ts';
import type {PreflightContext} from '../preflight-context.ts';

const serverVersion: Check = {
  id: 'server-version',
  group: 'Cluster',
  title: 'the Kubernetes server is new enough for the chart',
  ref: 'README and Chart.yaml of each chart; agent-job since 0.5.69 has image volumes',
  run: ({target, facts}) => {
    const floor = floorOf(target);
    if (floor === undefined) return undefined;
    return ifKnown(facts.versions.server, 'The version of the server is', (version) => {
      if (!isVersion(version)) return skip(`The server says that it is ${JSON.stringify(version)}, which is no version`);
      if (!isBelow(version, floor.version)) return pass(`${version}; ${target.chart} ${target.version} needs ${floor.version}`);
      const message = `The server is ${version}, and ${target.chart} ${target.version} needs ${floor.version}: ${floor.because}`;
      return floor.isHard
        ? fail(message, `Upgrade the cluster to ${floor.version}, or use --chart agent-local`)
        : warn(message, `Upgrade the cluster to ${floor.version}`);
    });
  },
};

const cloudSetting: Check = {
  id: 'cloud-setting',
  group: 'Cluster',
  title: 'the setting cloud says what the cluster is',
  ref: 'what the nodes say: labels, providerID, versions',
  run: ({get, facts}) => {
    const wanted = get(cloud);
    if (wanted === undefined) return undefined;
    return ifKnown(facts.platform.cloud, 'The provider of the cluster is', (found, source) =>
      found === wanted
        ? pass(`${found} (${source})`)
        : warn(
            `The settings say --cloud ${wanted}, and the cluster is ${found} (${source}); node paths and what it forbids follow from that`,
            `Use --cloud ${found}`,
          ),
    );
  },
};

/** Pod Security and the SCCs of OpenShift have checks of their own. */
const hostPath: Check = {
  id: 'host-path',
  group: 'Cluster',
  title: 'the provider lets pods mount directories of their node',
  ref: 'https://cloud.google.com/kubernetes-engine/docs/concepts/autopilot-security; agent-k8s 0.5.58, README',
  run: (context) => {
    const paths = few(wantedHostPaths(context));
    if (paths === '') return undefined;
    return ifKnown(
      context.facts.platform.cloud,
      `Pods mount ${paths} of their node, which GKE Autopilot forbids; whether this is one is`,
      (cloud, source) =>
        cloud === 'gke-autopilot'
          ? fail(`Pods mount ${paths} of their node, and GKE Autopilot forbids that (${source})`, withoutHostPath(context))
          : pass(`${paths}; GKE Autopilot forbids that, and this is ${cloud} (${source})`),
    );
  },
};

/** The node directories that pods mount; a guess from the settings where the chart could not be rendered. */
function wantedHostPaths({manifest, target, get}: Pick<PreflightContext, 'manifest' | 'target' | 'get'>): readonly string[] {
  const objects = knownValue(manifest);
  if (objects) return [...new Set(objects.flatMap(podSpecs).flatMap(hostPaths))];
  const isWanted = get(cache) === 'hostpath' || (target.chart === 'agent-k8s' && get(cache) !== 'efs');
  return isWanted ? ['directories'] : [];
}

/** How to avoid hostPath volumes. */
export const withoutHostPath = ({target}: Pick<PreflightContext, 'target'>): string =>
  target.chart === 'agent-k8s' ? 'Use --chart agent-local or --chart agent-job' : 'Use --cache ephemeral or --cache pvc';

/** What a pod asks for that the default SCC, restricted-v2, refuses. */
function refusedByScc(spec: Values): string[] {
  const containers = (['containers', 'initContainers'] as const).flatMap((key) => (Array.isArray(spec[key]) ? spec[key] : []));
  const users = [spec, ...containers].flatMap((each) =>
    ['runAsUser', 'fsGroup'].flatMap((key) => {
      const user = getAt(each, ['securityContext', key]);
      return user === undefined || user === null ? [] : [`${key} ${user}`];
    }),
  );
  return [...users, ...hostPaths(spec).map((path) => `the directory ${path} of the node`)];
}

const openshiftScc: Check = {
  id: 'openshift-scc',
  group: 'Cluster',
  title: 'pods ask for nothing that OpenShift keeps from them by default',
  ref: 'https://docs.openshift.com/container-platform/4.18/authentication/managing-security-context-constraints.html',
  run: ({facts, manifest, name}) => {
    if (knownValue(facts.platform.distribution) !== 'openshift') return undefined;
    return ifKnown(manifest, 'What the chart makes of the values is', (objects) => {
      const specs = objects.flatMap(podSpecs);
      const all = [...new Set(specs.flatMap(refusedByScc))];
      if (all.length === 0) return pass('no pod fixes its user or mounts a directory of the node');
      const accounts = [...new Set(specs.map((spec) => `-z ${spec['serviceAccountName'] ?? 'default'}`))];
      const scc = all.every((each) => / [1-9]\d*$/.test(each)) ? 'nonroot-v2' : 'privileged';
      return warn(
        `Pods ask for ${all.join(', ')}, which the SCC restricted-v2 refuses; whether their service account may use another one is not looked at`,
        `Grant one; upstream documents none, so test it: oc adm policy add-scc-to-user ${scc} ${accounts.join(' ')} -n ${name.place.namespace}`,
      );
    });
  },
};

/** The Kubernetes version and the platform. */
export const clusterChecks: readonly Check[] = [serverVersion, cloudSetting, hostPath, openshiftScc];
