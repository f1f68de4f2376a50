import {knownValue} from '../../cluster/facts/fact.ts';
import {hostPaths, podSpecs} from '../../cluster/pod-specs.ts';
import {cloud} from '../../settings/cluster.ts';
import {cache} from '../../settings/storage.ts';
import {type Check, fail, pass, skip, warn} from '../check.ts';
import type {Situation} from '../situation.ts';
import {floorOf, isBelow, isVersion} from './kubernetes-floor.ts';
import {openshiftScc} from './openshift-scc.ts';
import {few, ifKnown} from './outcomes.ts';

const serverVersion: Check = {
  id: 'server-version',
  group: 'Cluster',
  title: 'the Kubernetes server is new enough for the chart',
  ref: 'README and Chart.yaml of each chart; agent-job since 0.5.69 has image volumes',
  test: ({target, facts}) => {
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
  test: ({get, facts}) => {
    const said = get(cloud);
    if (said === undefined) return undefined;
    return ifKnown(facts.platform.cloud, 'The provider of the cluster is', (found, source) =>
      found === said
        ? pass(`${found} (${source})`)
        : warn(
            `The settings say --cloud ${said}, and the cluster is ${found} (${source}); node paths and what it forbids follow from that`,
            `Use --cloud ${found}`,
          ),
    );
  },
};

/** The directories of nodes that pods mount; what the settings say where the chart could not be rendered. */
function wantedHostPaths({manifest, target, get}: Situation): readonly string[] {
  const objects = knownValue(manifest);
  if (objects) return [...new Set(objects.flatMap(podSpecs).flatMap(hostPaths))];
  const isWanted = get(cache) === 'hostpath' || (target.chart === 'agent-k8s' && get(cache) !== 'efs');
  return isWanted ? ['directories'] : [];
}

const hostPath: Check = {
  id: 'host-path',
  group: 'Cluster',
  title: 'pods may mount directories of their node',
  ref: 'https://kubernetes.io/docs/concepts/security/pod-security-standards/',
  test: (situation) => {
    const {facts, target, name} = situation;
    const paths = few(wantedHostPaths(situation));
    if (paths === '') return undefined;
    const {namespace} = name.place;
    const allow = `kubectl label namespace ${namespace} pod-security.kubernetes.io/enforce=privileged --overwrite`;
    const outcome = ifKnown(
      facts.forbidsHostPath,
      `Pods mount ${paths} of their node, and whether the cluster lets them is`,
      (forbids, source) => {
        if (!forbids) return pass(`${paths} (${source})`);
        const instead =
          target.chart === 'agent-k8s' ? 'Use --chart agent-local or --chart agent-job' : 'Use --cache ephemeral or --cache pvc';
        return knownValue(facts.platform.cloud) === 'gke-autopilot'
          ? fail(`Pods mount ${paths} of their node, and GKE Autopilot forbids that (${source})`, instead)
          : fail(
              `Pods mount ${paths} of their node, and the namespace ${namespace} forbids that (${source})`,
              `${instead}; or allow it: ${allow}`,
            );
      },
    );
    return outcome.status === 'skip' ? skip(outcome.message, outcome.remedy ?? `Make sure of it: ${allow}`) : outcome;
  },
};

/** What the cluster is, and what follows from that for the chart. */
export const clusterChecks: readonly Check[] = [serverVersion, cloudSetting, hostPath, openshiftScc];
