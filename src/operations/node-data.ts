import {applyObjects} from '../cluster/kubernetes/changes.ts';
import {deleteJobs, waitForJobs} from '../cluster/kubernetes/deletions.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import type {NodeDataItem} from '../cluster/release/inventory-data.ts';
import {type ClusterTarget, kubectlCommand, type ReleaseName} from '../ground/command-line.ts';
import type {Step} from './step.ts';

/** The image in Scalr's guide to node directories. */
export const CLEANER_IMAGE = 'busybox:1.37';

/** Why --purge=node-data does not empty a directory; undefined if it does. */
export function whyNodeDataIsKept({
  path,
  nodes,
  sharedBy,
  isSafe,
}: NodeDataItem): string | undefined {
  if (!isSafe) return `${path} can contain data of other programs`;
  if (nodes === undefined || sharedBy === undefined)
    return 'your user cannot list other users of the directory';
  if (sharedBy.length > 0) return `also used by ${sharedBy.join(', ')}`;
  return nodes.some(({isReady}) => isReady) ? undefined : 'no node with this directory is ready';
}

export const readyNodes = (nodes: NonNullable<NodeDataItem['nodes']>): string[] =>
  nodes.filter(({isReady}) => isReady).map(({name}) => name);

/** One Job per node, assigned by nodeName so that it also runs on tainted and cordoned nodes. */
export function cleanSteps(
  {release, kubeTarget}: ReleaseName,
  item: NodeDataItem,
  image: string,
  timeoutSeconds: number,
): Step[] {
  const nodes = readyNodes(item.nodes ?? []);
  const labels = {'scalr.io/cleaner': release};
  const selector = `scalr.io/cleaner=${release}`;
  const items = nodes.map((node, index) =>
    cleaner(`${release}-clean-${index}`, node, {path: item.path, image, labels}),
  );
  return [
    {
      id: 'clean',
      title: `Delete the contents of ${item.path} on ${nodes.join(', ')}`,
      call: applyObjects(kubeTarget, items),
      isDestructive: true,
    },
    {
      id: 'cleaned',
      title: `Wait until ${item.path} is empty`,
      call: waitForJobs(kubeTarget, selector, timeoutSeconds),
    },
    {id: 'cleaners', title: 'Delete the cleanup Jobs', call: deleteJobs(kubeTarget, selector)},
  ];
}

function cleaner(
  name: string,
  nodeName: string,
  {path, image, labels}: {path: string; image: string; labels: Record<string, string>},
): KubernetesObject {
  const container = {
    name: 'clean',
    image,
    command: ['find', '/node-data', '-mindepth', '1', '-delete'],
    volumeMounts: [{name: 'node-data', mountPath: '/node-data'}],
    // Files of runs have other owners, so it needs these capabilities and no others.
    securityContext: {
      runAsUser: 0,
      runAsNonRoot: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: {drop: ['ALL'], add: ['DAC_OVERRIDE', 'FOWNER']},
    },
    resources: {requests: {cpu: '10m', memory: '16Mi'}, limits: {memory: '64Mi'}},
  };
  const spec = {
    nodeName,
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    tolerations: [{operator: 'Exists'}],
    containers: [container],
    volumes: [{name: 'node-data', hostPath: {path, type: 'DirectoryOrCreate'}}],
  };
  const template = {metadata: {labels}, spec};
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {name, labels},
    spec: {backoffLimit: 1, ttlSecondsAfterFinished: 600, template},
  };
  return job;
}

export function manualCleanup(
  {path, nodes = [], isSafe}: NodeDataItem,
  kubeTarget: ClusterTarget,
): string {
  const names = nodes.length === 0 ? ['NODE'] : nodes.map(({name}) => name);
  const debug = (image: string, ...args: readonly string[]): string =>
    kubectlCommand(kubeTarget, 'debug', 'node/NODE', `--image=${image}`, ...args);
  if (!isSafe) {
    const shell = debug('busybox:1.37', '--stdin', '--tty').replace('NODE', names[0] as string);
    return `Check on each node which files in /host${path} belong to the agent: ${shell}`;
  }
  const clean = debug(CLEANER_IMAGE, '--profile=sysadmin').replace('node/NODE', '"node/$node"');
  return `for node in ${names.join(' ')}; do ${clean} -- rm -rf '/host${path}'; done`;
}
