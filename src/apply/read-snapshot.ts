import type {KubernetesObject, Pod, Snapshot} from '../cluster/objects.ts';
import {isOfAgent, isTelling} from '../diagnose/agent-log.ts';
import type {Cause} from '../diagnose/cause.ts';
import {oneLine} from '../diagnose/error-text.ts';
import {snapshotOf} from '../diagnose/snapshot.ts';
import type {ReleaseName} from '../ports/helm.ts';
import {LOG_LINES, listObjects, podLogs, startOfLogs} from '../ports/kubectl.ts';
import type {Processes} from '../ports/processes.ts';
import {toolFailure} from '../ports/tool-failure.ts';
import {jsonFrom} from '../ports/tool-output.ts';

const KINDS = ['deployments', 'daemonsets', 'replicasets', 'jobs', 'pods', 'persistentvolumeclaims', 'events'];
/** What only says why something is not ready. */
const OPTIONAL = ['persistentvolumeclaims', 'events'];
const MOST_LOGS = 6;

export interface ReleaseSnapshot {
  snapshot: Snapshot;
  /** All that was listed, of whatever release. */
  objects: readonly KubernetesObject[];
  /** What this account may not read although it would help to explain. */
  gaps: readonly Cause[];
}

/** Reads everything of a release, until `over`. @throws ExpectedError */
export async function readSnapshot({release, place}: ReleaseName, processes: Processes, over: AbortSignal): Promise<ReleaseSnapshot> {
  const call = listObjects(place, KINDS);
  const outcome = await processes.run(call, {over});
  const hidden = outcome.exitCode === 0 ? [] : hiddenKinds(outcome.stderr);
  if (hidden === undefined) throw toolFailure(call, outcome);
  // kubectl lists what it may list, and fails all the same.
  const list = jsonFrom<{items: KubernetesObject[]}>(call, outcome.stdout);
  const {pods} = snapshotOf(list, release, {});
  const {logs, denial} = await logsOf(pods, place, processes, over);
  return {
    snapshot: snapshotOf(list, release, logs),
    objects: list.items,
    gaps: [...hidden.map(([, kind, why]) => gap(kind, why)), ...denial],
  };
}

/** What was read when nothing was. */
export const NOTHING: ReleaseSnapshot = {snapshot: snapshotOf({items: []}, '', {}), objects: [], gaps: []};

const DENIED = /^Error from server \(Forbidden\): (.+?) is forbidden: (.*)$/;

/** The kinds that were refused when these are optional ones and nothing else went wrong. */
function hiddenKinds(stderr: string): RegExpExecArray[] | undefined {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !/^warning/i.test(line));
  const denied = lines.map((line) => DENIED.exec(line));
  return denied.length > 0 && denied.every((each) => each?.[1] && OPTIONAL.includes(each[1])) ? (denied as RegExpExecArray[]) : undefined;
}

const gap = (what = '', why = ''): Cause => ({
  object: what,
  code: 'FORBIDDEN',
  reason: `cannot be read, so that reasons may stay hidden: ${oneLine(why)}`,
  remedy: `Ask for the permission to read ${what}, if you want to be told more`,
  isHopeless: false,
});

/** The last lines of containers that run or broke, of an agent that says nothing in them the first ones too; one that never started has none. */
async function logsOf(
  pods: readonly Pod[],
  place: ReleaseName['place'],
  processes: Processes,
  over: AbortSignal,
): Promise<{logs: Record<string, string>; denial: Cause[]}> {
  const wanted = pods
    .flatMap(({metadata, status}) =>
      [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map((container) => ({
        pod: metadata.name,
        container,
      })),
    )
    .filter(({container: {state, lastState}}) => state?.running || state?.terminated || lastState?.terminated)
    .slice(0, MOST_LOGS);
  const read = await Promise.all(
    wanted.map(async ({pod, container: {name, state, lastState}}) => {
      const previous = state?.running === undefined && lastState?.terminated !== undefined;
      const {exitCode, stdout, stderr} = await processes.run(podLogs(place, pod, name, {previous}), {over});
      const text = exitCode === 0 ? stdout : '';
      // An agent says once that it is ready, and of its runs for weeks.
      const isLost = !previous && isOfAgent(name) && text.split('\n').length >= LOG_LINES && !isTelling(text);
      const start = isLost ? await processes.run(startOfLogs(place, pod, name), {over}) : undefined;
      return {
        key: `${pod}/${name}`,
        text: start?.exitCode === 0 ? `${start.stdout}\n…\n${text}` : text,
        denial: DENIED.exec(stderr.trim())?.[2],
      };
    }),
  );
  const denial = read.find((each) => each.denial)?.denial;
  return {
    logs: Object.fromEntries(read.filter(({text}) => text !== '').map(({key, text}) => [key, text])),
    denial: denial === undefined ? [] : [gap('logs', denial)],
  };
}
