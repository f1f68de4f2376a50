import {floorOf, isBelow, isVersion} from '../../charts/version-status.ts';
import {cloud} from '../../settings/cluster.ts';
import {type Check, fail, pass, skip, warn} from '../check.ts';
import {wantedHostPaths, withoutHostPath} from './host-paths.ts';
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

/** Pod Security and the SCCs of OpenShift have checks of their own. */
const hostPath: Check = {
  id: 'host-path',
  group: 'Cluster',
  title: 'the provider lets pods mount directories of their node',
  ref: 'https://cloud.google.com/kubernetes-engine/docs/concepts/autopilot-security; agent-k8s 0.5.58, README',
  test: (situation) => {
    const paths = few(wantedHostPaths(situation));
    if (paths === '') return undefined;
    return ifKnown(
      situation.facts.platform.cloud,
      `Pods mount ${paths} of their node, which GKE Autopilot forbids; whether this is one is`,
      (cloud, source) =>
        cloud === 'gke-autopilot'
          ? fail(`Pods mount ${paths} of their node, and GKE Autopilot forbids that (${source})`, withoutHostPath(situation))
          : pass(`${paths}; GKE Autopilot forbids that, and this is ${cloud} (${source})`),
    );
  },
};

/** What the cluster is, and what follows from that for the chart. */
export const clusterChecks: readonly Check[] = [serverVersion, cloudSetting, hostPath, openshiftScc];
