import {floorOf, isBelow, isVersion} from '../../charts/charts.ts';
import {knownValue} from '../../ground/fact.ts';
import {few} from '../../ground/text.ts';
import {getAt, type Values} from '../../ground/tree.ts';
import {hostPaths, podSpecs} from '../../kubernetes/pod-specs.ts';
import {cloud} from '../../settings/release.ts';
import {cache} from '../../settings/storage.ts';
import {type Check, check, fail, ifKnown, pass, skip, warn} from '../check.ts';
import type {PreflightContext} from '../preflight-context.ts';

const serverVersion = check('Cluster', 'server-version', 'Kubernetes version', {
  ref: 'README and Chart.yaml of each chart; agent-job 0.5.69 and later use image volumes',
  run: ({target, facts}) => {
    const floor = floorOf(target);
    if (floor === undefined) return undefined;
    return ifKnown(facts.versions.server, 'read the server version', (version) => {
      if (!isVersion(version)) return skip(`Cannot parse the server version ${JSON.stringify(version)}`);
      if (!isBelow(version, floor.version)) return pass(`${version}; ${target.chart} ${target.version} requires ${floor.version}`);
      const message = `Server version is ${version}; ${target.chart} ${target.version} requires ${floor.version}: ${floor.because}`;
      return floor.isHard
        ? fail(message, `Upgrade the cluster to ${floor.version}, or use --chart agent-local`)
        : warn(message, `Upgrade the cluster to ${floor.version}`);
    });
  },
});

const cloudSetting = check('Cluster', 'cloud-setting', 'Value of --cloud', {
  ref: 'Node labels, providerID and versions',
  run: ({get, facts}) => {
    const wanted = get(cloud);
    if (wanted === undefined) return undefined;
    return ifKnown(facts.platform.cloud, 'detect the cloud provider', (found, source) =>
      found === wanted
        ? pass(`${found} (${source})`)
        : warn(
            `--cloud is ${wanted}, but the cluster is ${found} (${source}). Node paths and restrictions depend on it`,
            `Use --cloud ${found}`,
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
          ? fail(`GKE Autopilot forbids hostPath volumes (${source}): ${paths}`, withoutHostPath(context))
          : pass(`${paths}; allowed on ${cloud} (${source})`),
    );
  },
});

/** The node directories that pods mount; a guess from the settings where the chart could not be rendered. */
function wantedHostPaths({manifest, target, get}: Pick<PreflightContext, 'manifest' | 'target' | 'get'>): readonly string[] {
  const objects = knownValue(manifest);
  if (objects) return [...new Set(objects.flatMap(podSpecs).flatMap(hostPaths))];
  const isWanted = get(cache) === 'hostpath' || (target.chart === 'agent-k8s' && get(cache) !== 'efs');
  return isWanted ? ['node directories'] : [];
}

/** How to avoid hostPath volumes. */
export const withoutHostPath = ({target}: Pick<PreflightContext, 'target'>): string =>
  target.chart === 'agent-k8s' ? 'Use --chart agent-local or --chart agent-job' : 'Use --cache ephemeral or --cache pvc';

/** What the default SCC, restricted-v2, rejects in a pod. */
function refusedByScc(spec: Values): string[] {
  const containers = (['containers', 'initContainers'] as const).flatMap((key) => (Array.isArray(spec[key]) ? spec[key] : []));
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
  run: ({facts, manifest, name}) => {
    if (knownValue(facts.platform.distribution) !== 'openshift') return undefined;
    return ifKnown(manifest, 'render the chart', (objects) => {
      const specs = objects.flatMap(podSpecs);
      const all = [...new Set(specs.flatMap(refusedByScc))];
      if (all.length === 0) return pass('No pod sets its user or mounts a hostPath volume');
      const accounts = [...new Set(specs.map((spec) => `-z ${spec['serviceAccountName'] ?? 'default'}`))];
      const scc = all.every((each) => / [1-9]\d*$/.test(each)) ? 'nonroot-v2' : 'privileged';
      return warn(
        `SCC restricted-v2 rejects the pods: ${all.join(', ')}. Other SCCs of their service account are not checked`,
        `Grant an SCC. Scalr does not document one, so test it: oc adm policy add-scc-to-user ${scc} ${accounts.join(' ')} -n ${name.kubeTarget.namespace}`,
      );
    });
  },
});

/** The Kubernetes version and the platform. */
export const clusterChecks: readonly Check[] = [serverVersion, cloudSetting, hostPath, openshiftScc];
