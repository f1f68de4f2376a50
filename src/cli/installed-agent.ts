import type {Target} from '../charts/define.ts';
import {scalrChart} from '../charts/define.ts';
import {versionStatus} from '../charts/version-status.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
import {count} from '../ground/text.ts';
import {getAt, isMap, sameTree, spellPath, type Tree, type Values} from '../ground/tree.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {newestRevision} from '../release/read-release.ts';
import {InvalidValue} from '../settings/define.ts';
import {set} from '../settings/escape-hatch.ts';
import {readStatus} from '../status/read-status.ts';
import {readValues, writtenSettings} from '../values/read-values.ts';
import {parseAssignment} from '../values/render.ts';
import type {InstalledAgent} from '../wizard/installed.ts';

/** The release of this name with its settings. Undefined if there is none, it cannot be read, or its version is too old to be read. */
export async function installedAgent(
  name: ReleaseName,
  access: ClusterAccess & {now(): Date},
  signal: AbortSignal,
): Promise<InstalledAgent | undefined> {
  try {
    const [found, live] = await Promise.all([newestRevision(name, access, signal), liveText(name, access, signal)]);
    const target = scalrChart(found?.chart ?? '');
    if (found === undefined || target === undefined || found.status === 'uninstalled') return undefined;
    if (versionStatus(target.chart, target.version).standing === 'older-than-known') return undefined;
    return {
      ...{release: name.release, namespace: name.kubeTarget.namespace, ...target, status: found.status, live},
      settings: new Map([...writtenSettings(found.values, target), [set.id, unmappedValues(found.values, target)]]),
    };
  } catch (error) {
    if (error instanceof ExpectedError) return undefined;
    throw error;
  }
}

/** "ready · 3 of 3 agents registered · 2 runs in flight" */
async function liveText(name: ReleaseName, access: ClusterAccess & {now(): Date}, signal: AbortSignal): Promise<string | undefined> {
  try {
    const {state, agents, runs} = await readStatus(name, {wanted: undefined, signal}, access);
    const registered = agents.filter((each) => each.state === 'registered').length;
    return [
      state === 'ready' ? 'ready' : 'not ready',
      ...(agents.length === 0 ? [] : [`${registered} of ${count(agents.length, 'agent')} registered`]),
      ...(runs === undefined || runs.length === 0 ? [] : [`${count(runs.length, 'run')} in flight`]),
    ].join(' · ');
  } catch (error) {
    if (error instanceof ExpectedError) return undefined;
    throw error;
  }
}

/** Values of the release that no setting expresses, as --set writes them; without those that its chart version does not know. */
export function unmappedValues(values: Values, target: Target): Readonly<Record<string, string>> | undefined {
  const textOf = (value: Tree): string => (isMap(value) || Array.isArray(value) ? JSON.stringify(value) : String(value));
  const pairs = readValues(values, target).rest.flatMap((path) => {
    const value = getAt(values, path) as Tree;
    const pair = [spellPath(path), textOf(value)] as const;
    return isSame(() => parseAssignment(...pair, target).value, value) ? [pair] : [];
  });
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

function isSame(read: () => Tree, value: Tree): boolean {
  try {
    return sameTree(read(), value);
  } catch (error) {
    if (error instanceof InvalidValue) return false;
    throw error;
  }
}
