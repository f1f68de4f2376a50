import {scalrChart} from '../cluster/facts/releases.ts';
import type {Revision} from '../cluster/install-facts.ts';
import type {ListedRelease} from '../cluster/inventory-definitions.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {listReleases, type ReleaseName} from '../ports/helm.ts';
import {getObject} from '../ports/kubectl.ts';
import {ownCommand} from '../ports/own-command.ts';
import type {Call, Processes} from '../ports/processes.ts';
import {jsonFrom} from '../ports/tool-output.ts';

/** The release is not there: is its namespace, and which agents are? What cannot be read makes the answer shorter. */
export async function notFound(
  name: ReleaseName,
  former: Revision | undefined,
  processes: Processes,
  over: AbortSignal,
): Promise<ExpectedError> {
  const {release, place} = name;
  const say = async (call: Call): Promise<string | undefined> => {
    const {exitCode, stdout} = await processes.run(call, {over});
    return exitCode === 0 ? stdout.trim() : undefined;
  };
  const list = listReleases(place, {everywhere: false});
  const [namespace, listed] = await Promise.all([say(getObject(place, 'namespace', place.namespace)), say(list)]);
  const others = jsonFrom<ListedRelease[]>(list, listed || '[]').filter(({chart}) => scalrChart(chart) !== undefined);
  const message =
    namespace === ''
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
