import type {ClusterAccess} from '../cluster/cluster-access.ts';
import {scalrChart} from '../cluster/facts/releases.ts';
import type {Revision} from '../cluster/install-facts.ts';
import type {ListedRelease} from '../cluster/inventory-readings.ts';
import {REQUIRED_MS} from '../cluster/read-facts.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {listReleases} from '../helm/helm.ts';
import {getObject} from '../kubernetes/queries.ts';
import {ownCommand} from '../ports/own-command.ts';
import type {ReleaseName} from '../ports/place.ts';
import {jsonFrom} from '../ports/tool-output.ts';

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
    exit: ExitCode.failed,
    suggestions: [
      ...others.map((each) => `There is one of ${each.chart}: ${ownCommand('status', {release: each.name, place})}`),
      'Look elsewhere with --namespace, --release or --kube-context: helm list --all-namespaces',
      `Install it: ${ownCommand('install', name)}`,
    ],
  });
}
