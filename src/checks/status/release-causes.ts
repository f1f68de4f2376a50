import {scalrChart} from '../../charts/releases/chart-name.ts';
import type {LiveDrift, ObjectDrift} from '../../cluster/diff/live-drift.ts';
import {rollback} from '../../cluster/helm/release-calls.ts';
import type {Revision} from '../../cluster/helm/release-record.ts';
import {type ClusterAccess, releasesIn} from '../../cluster/helm/releases.ts';
import {scale} from '../../cluster/kubernetes/changes.ts';
import {refOf, refText} from '../../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../../cluster/kubernetes/objects.ts';
import {getObject, listObjects, REQUIRED_MS} from '../../cluster/kubernetes/resources.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import {
  type GitOpsController,
  managedBy,
  notRecorded,
  readController,
  releaseOfAgent,
  type UnrecordedAgent,
  unrecordedAgents,
} from '../../cluster/release/managers.ts';
import {isPending} from '../../cluster/release/read-release.ts';
import {callText} from '../../ground/call-arguments.ts';
import {type ClusterTarget, ownCommand, type ReleaseName} from '../../ground/command-line.ts';
import {type ExpectedError, failed} from '../../ground/errors.ts';
import {type ObjectFinding, objectFinding} from '../../ground/finding.ts';
import {oneLine} from '../../ground/one-line.ts';
import {listCommand} from '../../ground/own-commands.ts';
import {objectLabel, rootsOf} from '../diagnose/snapshot-queries.ts';

/** Problems of a release, even if its pods are ready. Pure. */
export function causesOfRelease(
  name: ReleaseName,
  revision: Revision | undefined,
  snapshot: Snapshot | undefined,
  replicas: LiveDrift['replicas'] = {},
): ObjectFinding[] {
  const ofRecord = revision ? recordCauses(name, revision) : [];
  if (snapshot === undefined) return ofRecord;
  // A pending or uninstalling release is reported only once.
  if (ofRecord.length === 0 && revision && rootsOf(snapshot).length === 0) {
    const remedy = `Recreate the objects: ${callText(rollback(name, revision.revision))}`;
    const message = 'the release is installed, but none of its objects exist';
    return [objectFinding('warning', `release/${name.release}`, 'NO_WORKLOADS', {message, remedy})];
  }
  const stopped = snapshot.workloads.filter(
    ({kind, spec}) => kind === 'Deployment' && spec?.replicas === 0,
  );
  return [
    ...ofRecord,
    ...stopped.map((workload) => {
      const up = scale(name.kubeTarget, refOf(workload), replicas[workload.metadata.name] ?? 1);
      const remedy = `Run install, or scale it up: ${callText(up)}`;
      const message = 'scaled to 0 replicas, so no runs are accepted';
      return objectFinding('warning', objectLabel(workload), 'STOPPED', {message, remedy});
    }),
  ];
}

/** Kinds without which an agent cannot start, or starts no run. */
const REQUIRED_KINDS: ReadonlySet<string> = new Set([
  'AgentTask',
  'AgentTaskTemplate',
  'ClusterRole',
  'ClusterRoleBinding',
  'ConfigMap',
  'CustomResourceDefinition',
  'Role',
  'RoleBinding',
  'Secret',
  'ServiceAccount',
]);

/** What is missing although the running pods are ready: no run, or no new pod, can start. Pure. */
export function causesOfMissing(
  name: ReleaseName,
  differences: readonly ObjectDrift[],
  secrets: readonly string[],
): ObjectFinding[] {
  const missing = differences.filter(
    ({object, problem}) =>
      problem === 'missing' && REQUIRED_KINDS.has(object.slice(0, object.indexOf(' '))),
  );
  return [
    ...missing.map(({object}) =>
      objectFinding('warning', object, 'OBJECT_MISSING', {
        message: 'not found, so no run or no new pod can start',
        remedy: `${INSTALL}, which creates it again`,
      }),
    ),
    ...secrets.map((secret) =>
      objectFinding('warning', `secret/${secret}`, 'SECRET_NOT_FOUND', {
        message: 'not found, so pods that start again fail',
        remedy: `Create it again. For the token: ${ownCommand('rotate-token', name, '--token-file', 'FILE')}`,
      }),
    ),
  ];
}

const INSTALL = 'Run install again with the same settings';

function recordCauses(name: ReleaseName, revision: Revision): ObjectFinding[] {
  const {status, updated, description} = revision;
  const cause = (code: string, reason: string, remedy: string) => [
    objectFinding('warning', `release/${name.release}`, code, {message: oneLine(reason), remedy}),
  ];
  if (status === 'uninstalling')
    return cause(
      'RELEASE_UNINSTALLING',
      `uninstall started at ${updated} and did not finish`,
      `Finish the uninstall: ${ownCommand('uninstall', name)}`,
    );
  if (isPending(revision))
    return cause(
      'RELEASE_PENDING',
      `${status} since ${updated}: a Helm operation is running, or was interrupted`,
      `If no Helm operation is running: ${INSTALL.toLowerCase()} and --take-over`,
    );
  if (status === 'failed')
    return cause(
      'RELEASE_FAILED',
      `helm failed: ${description || 'no reason given'}`,
      `${INSTALL}, or uninstall the release: ${ownCommand('uninstall', name)}`,
    );
  return [];
}

/** The desired state is not applied, although the agent may run. Pure. */
export const causesOfController = ({
  name,
  state,
  reason = 'no reason given',
  remedies,
}: GitOpsController): ObjectFinding[] =>
  state === 'failed'
    ? [
        objectFinding('warning', name, 'CONTROLLER_FAILED', {
          message: reason,
          remedy: remedies[0] ?? '',
        }),
      ]
    : [];

/** The release was not found: checks its namespace and lists other agents, as far as the account can read them. */
export async function notFound(
  name: ReleaseName,
  former: Revision | undefined,
  access: ClusterAccess,
  signal: AbortSignal,
): Promise<ExpectedError> {
  const {release, kubeTarget} = name;
  const {kubernetes} = access;
  const options = {signal, idleMs: REQUIRED_MS};
  const where = {...options, namespace: kubeTarget.namespace};
  const list = (kind: string) => listObjects<KubernetesObject>(kubernetes, kind, where);
  const [namespace, releases, deployments, daemonSets] = await Promise.all([
    getObject(kubernetes, 'namespaces', kubeTarget.namespace, options),
    releasesIn(access).list(kubeTarget, {...options, everywhere: false}),
    list('deployments.apps'),
    list('daemonsets.apps'),
  ]);
  const objects = [...deployments.items, ...daemonSets.items];
  const unrecorded = unrecordedAgents(objects, releases.items);
  const own = unrecorded.find((each) => each.release === release);
  if (own) {
    const agents = objects.filter((each) => releaseOfAgent(each) === release);
    const controller = await readController(kubeTarget, agents, kubernetes, options);
    return controller ? managedBy(name, controller) : notRecorded(name, own);
  }
  const isMissing = namespace.error === undefined && namespace.object === undefined;
  const when = former ? ` (uninstalled at ${former.updated})` : '';
  const message = isMissing
    ? `Release ${release} not found: namespace ${kubeTarget.namespace} does not exist.`
    : `Release ${release} not found in namespace ${kubeTarget.namespace}${when}.`;
  return failed('RELEASE_NOT_FOUND', message, [
    ...otherAgents(unrecorded, releases.items, kubeTarget),
    `Use another --namespace, --release or --kube-context. List agents: ${listCommand(kubeTarget)}`,
    `Start the wizard to install the agent: ${ownCommand('install', name)}`,
  ]);
}

/** The commands that show the agents of a namespace. */
function otherAgents(
  unrecorded: readonly UnrecordedAgent[],
  releases: readonly {name: string; chart: string}[],
  kubeTarget: ClusterTarget,
): string[] {
  const status = (release: string): string => ownCommand('status', {release, kubeTarget});
  const others = releases.filter(({chart}) => scalrChart(chart) !== undefined);
  return [
    ...unrecorded.map(
      ({workload, chart, release}) => `Show ${refText(workload)} of ${chart}: ${status(release)}`,
    ),
    ...others.map(({chart, name}) => `Show the release of ${chart}: ${status(name)}`),
  ];
}
