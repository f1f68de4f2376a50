import type {NodeDataItem} from '../cluster/inventory-node-data.ts';
import {applyObject, deleteJobs, waitForJobs} from '../kubernetes/kubectl.ts';
import type {ReleaseName} from '../ports/place.ts';
import type {Step} from './step.ts';

/** That of the guide upstream gives for node directories. */
export const CLEANER_IMAGE = 'busybox:1.37';

/** Why a directory is not emptied although that was asked for; undefined when it may be. */
export function refusal({path, nodes, sharedBy, isSafe}: NodeDataItem): string | undefined {
  if (!isSafe) return `${path} may hold what is not the agent's`;
  if (nodes === undefined || sharedBy === undefined) return 'this account may not see who else uses it';
  if (sharedBy.length > 0) return `used by ${sharedBy.join(', ')} too`;
  return nodes.some(({isReady}) => isReady) ? undefined : 'no node it may be on is ready';
}

/** The nodes that can be reached. */
export const readyNodes = (nodes: NonNullable<NodeDataItem['nodes']>): string[] =>
  nodes.filter(({isReady}) => isReady).map(({name}) => name);

/** One Job for each node, bound to it, so that tainted and cordoned nodes are reached too. */
export function cleanSteps({release, place}: ReleaseName, item: NodeDataItem, image: string, timeoutSeconds: number): Step[] {
  const nodes = readyNodes(item.nodes ?? []);
  const labels = {'scalr.io/cleaner': release};
  const selector = `scalr.io/cleaner=${release}`;
  const items = nodes.map((node, index) => cleaner(`${release}-clean-${index}`, node, {path: item.path, image, labels}));
  return [
    {
      id: 'clean',
      title: `Empty ${item.path} on ${nodes.join(', ')}`,
      call: applyObject(place, {apiVersion: 'v1', kind: 'List', items}),
      isDestructive: true,
    },
    {id: 'cleaned', title: `Wait until ${item.path} is empty`, call: waitForJobs(place, selector, timeoutSeconds)},
    {id: 'cleaners', title: 'Delete the Jobs that emptied it', call: deleteJobs(place, selector)},
  ];
}

function cleaner(
  name: string,
  nodeName: string,
  {path, image, labels}: {path: string; image: string; labels: Record<string, string>},
): object {
  const container = {
    name: 'clean',
    image,
    command: ['find', '/node-data', '-mindepth', '1', '-delete'],
    volumeMounts: [{name: 'node-data', mountPath: '/node-data'}],
    // Runs left files of other users there; more than that it may not do.
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
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {name, labels},
    spec: {backoffLimit: 1, ttlSecondsAfterFinished: 600, template: {metadata: {labels}, spec}},
  };
}

/** The same by hand. */
export const byHand = ({path, nodes = [], isSafe}: NodeDataItem): string => {
  if (!isSafe) return "Look on a node what in it is the agent's: kubectl debug node/<node> -it --image=busybox:1.37, then below /host";
  const names = nodes.map(({name}) => name).join(' ') || '<node>';
  return `for node in ${names}; do kubectl debug "node/$node" --image=${CLEANER_IMAGE} --profile=sysadmin -- rm -rf '/host${path}'; done`;
};
