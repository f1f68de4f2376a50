import type {ClusterAccess} from '../cluster/cluster-access.ts';
import {scalrChart} from '../cluster/facts/releases.ts';
import {isPending, type Revision} from '../cluster/install-facts.ts';
import type {ListedRelease} from '../cluster/inventory-readings.ts';
import type {LiveDrift} from '../cluster/live-drift.ts';
import type {Snapshot, Workload} from '../cluster/objects.ts';
import {REQUIRED_MS} from '../cluster/read-facts.ts';
import {commandLine, helmCommand, ownCommand} from '../command-line.ts';
import type {Cause} from '../diagnose/cause.ts';
import {oneLine} from '../diagnose/error-text.ts';
import {rootsOf} from '../diagnose/readiness.ts';
import {nameOf} from '../diagnose/snapshot-queries.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {listReleases, rollback} from '../helm/helm.ts';
import {scale} from '../kubernetes/kubectl.ts';
import {getObject} from '../kubernetes/queries.ts';
import type {ReleaseName} from '../ports/processes.ts';
import {jsonFrom} from '../tool-errors.ts';

/** What is wrong with a release although its pods may be well. Pure. */
export function causesOfRelease(
  name: ReleaseName,
  revision: Revision | undefined,
  snapshot: Snapshot | undefined,
  replicas: LiveDrift['replicas'] = {},
): Cause[] {
  const ofRecord = revision ? recordCauses(name, revision) : [];
  if (snapshot === undefined) return ofRecord;
  // What is on its way, or going away, is told once.
  if (ofRecord.length === 0 && revision && rootsOf(snapshot).length === 0) return [nothingThere(name, revision)];
  return [...ofRecord, ...snapshot.workloads.filter(isStopped).map((workload) => stopped(name, workload, replicas))];
}

const INSTALL = 'Run install again with the same settings: it goes on from there';

function recordCauses(name: ReleaseName, revision: Revision): Cause[] {
  const {status, updated, description} = revision;
  const cause = (code: string, reason: string, remedy: string): Cause[] => [
    {object: `release/${name.release}`, code, reason: oneLine(reason), remedy, isHopeless: false},
  ];
  if (status === 'uninstalling')
    return cause(
      'RELEASE_UNINSTALLING',
      `helm began to uninstall it at ${updated} and has not ended`,
      `End it: ${ownCommand('uninstall', name)}`,
    );
  if (isPending(revision))
    return cause(
      'RELEASE_PENDING',
      `${status} since ${updated}: helm is at work, or was broken off`,
      `If no helm is at work any more: ${INSTALL.toLowerCase()}`,
    );
  if (status === 'failed')
    return cause(
      'RELEASE_FAILED',
      `helm failed: ${description || 'it does not say why'}`,
      `${INSTALL}; or take it away: ${ownCommand('uninstall', name)}`,
    );
  return [];
}

const isStopped = ({kind, spec}: Workload): boolean => kind === 'Deployment' && spec?.replicas === 0;

const stopped = ({place}: ReleaseName, workload: Workload, replicas: LiveDrift['replicas']): Cause => ({
  object: nameOf(workload),
  code: 'STOPPED',
  reason: 'it is scaled to nothing, so that it takes no runs',
  remedy: `Start it with install, or: ${commandLine(scale(place, 'Deployment', workload.metadata.name, replicas[workload.metadata.name] ?? 1))}`,
  isHopeless: false,
});

const nothingThere = (name: ReleaseName, {revision}: Revision): Cause => ({
  object: `release/${name.release}`,
  code: 'NO_WORKLOADS',
  reason: 'helm has installed it, and nothing of it is there',
  remedy: `Make it again: ${commandLine(rollback(name, revision))}`,
  isHopeless: false,
});

/** The release is not there: is its namespace, and which agents are? What cannot be read makes the answer shorter. */
export async function notFound(
  name: ReleaseName,
  former: Revision | undefined,
  {kubernetes, processes}: ClusterAccess,
  over: AbortSignal,
): Promise<ExpectedError> {
  const {release, place} = name;
  const list = listReleases(place, {everywhere: false});
  const [namespace, listed] = await Promise.all([
    getObject(kubernetes, 'namespaces', place.namespace, {over, idleMs: REQUIRED_MS}),
    processes.run(list, {over}),
  ]);
  const others = jsonFrom<ListedRelease[]>(list, (listed.exitCode === 0 && listed.stdout.trim()) || '[]').filter(
    ({chart}) => scalrChart(chart) !== undefined,
  );
  const message =
    namespace.trouble === undefined && namespace.object === undefined
      ? `There is no namespace ${place.namespace}, so no release ${release} in it.`
      : `There is no release ${release} in namespace ${place.namespace}${former ? `: it was uninstalled at ${former.updated}` : ''}.`;
  return new ExpectedError(message, {
    code: 'RELEASE_NOT_FOUND',
    exit: ExitCode.usage,
    suggestions: [
      ...others.map((each) => `There is one of ${each.chart}: ${ownCommand('status', {release: each.name, place})}`),
      `Look elsewhere with --namespace, --release or --kube-context: ${helmCommand(place, 'list', '--all-namespaces')}`,
      `Install it: ${ownCommand('install', name)}`,
    ],
  });
}
