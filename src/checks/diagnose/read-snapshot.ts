import {apiFailure} from '../../cluster/kubernetes/api-error.ts';
import type {KubernetesObject, Pod} from '../../cluster/kubernetes/objects.ts';
import {listObjects, podLog, REQUIRED_MS, type Reader} from '../../cluster/kubernetes/resources.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import type {ReleaseName} from '../../ground/command-line.ts';
import {type ObjectFinding, objectFinding} from '../../ground/finding.ts';
import {oneLine} from '../../ground/one-line.ts';
import {hasSignificantLine, isOfAgent} from './agent-log.ts';
import {snapshotOf} from './snapshot-queries.ts';

const KINDS = [
  'deployments.apps',
  'daemonsets.apps',
  'replicasets.apps',
  'jobs.batch',
  'pods',
  'persistentvolumeclaims',
  'events',
];
/** Only used to explain why something is not ready. */
const OPTIONAL = ['persistentvolumeclaims', 'events'];
/** Enough for every agent of most releases; those of agents come first. */
const MAX_LOGS = 50;
/** The number of lines read from the end of a log, and of bytes from its start. */
const LOG_LINES = 50;
const START_BYTES = 64 * 1024;

export interface ReleaseSnapshot {
  snapshot: Snapshot;
  /** All listed objects, of any release. */
  objects: readonly KubernetesObject[];
  /** What this account cannot read, although it would help to find causes. */
  gaps: readonly ObjectFinding[];
}

/** Reads everything of a release, until `signal`. @throws ExpectedError */
export async function readSnapshot(
  name: ReleaseName,
  kubernetes: Reader,
  signal: AbortSignal,
): Promise<ReleaseSnapshot> {
  const options = {signal, idleMs: REQUIRED_MS, namespace: name.kubeTarget.namespace};
  const lists = await Promise.all(
    KINDS.map(async (kind) => ({
      kind,
      ...(await listObjects<KubernetesObject>(kubernetes, kind, options)),
    })),
  );
  const refused = lists.flatMap(({kind, error}) => {
    if (error === undefined) return [];
    if (error.kind === 'forbidden' && OPTIONAL.includes(kind)) return [{kind, error}];
    throw apiFailure(error, name.kubeTarget);
  });
  const items = lists.flatMap((list) => list.items);
  const {pods} = snapshotOf({items}, name, {});
  const {logs, denial} = await logsOf(pods, kubernetes, options);
  return {
    snapshot: snapshotOf({items}, name, logs),
    objects: items,
    gaps: [...refused.map(({kind, error: {message}}) => gap(kind, reasonIn(message))), ...denial],
  };
}

/** The snapshot before the first successful read. */
export const EMPTY_SNAPSHOT: ReleaseSnapshot = {
  snapshot: snapshotOf({items: []}, {release: '', kubeTarget: {namespace: ''}}, {}),
  objects: [],
  gaps: [],
};

/** `events is forbidden: User "jane" cannot list …` without the parts that the gap already contains. */
const reasonIn = (message: string): string =>
  /^.+? is forbidden: (.*)$/s.exec(message)?.[1] ?? message;

const gap = (what = '', why = ''): ObjectFinding =>
  objectFinding('unknown', what, 'FORBIDDEN', {
    message: `not readable, so causes may be missing: ${oneLine(why)}`,
    remedy: `Ask an administrator for the permission to read ${what} to see more causes`,
  });

/** The last log lines of running and failed containers; also the first ones of an agent if the last ones do not show its state. */
async function logsOf(
  pods: readonly Pod[],
  kubernetes: Reader,
  options: {signal: AbortSignal; idleMs: number; namespace: string},
): Promise<{logs: Record<string, string>; denial: ObjectFinding[]}> {
  const desired = pods
    .flatMap(({metadata, status}) =>
      [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map(
        (container) => ({
          pod: metadata.name,
          container,
        }),
      ),
    )
    .filter(
      ({container: {state, lastState}}) =>
        state?.running || state?.terminated || lastState?.terminated,
    )
    .toSorted(
      (one, other) =>
        Number(isOfAgent(other.container.name)) - Number(isOfAgent(one.container.name)),
    )
    .slice(0, MAX_LOGS);
  const read = await Promise.all(
    desired.map(async ({pod, container: {name, state, lastState}}) => {
      const previous = state?.running === undefined && lastState?.terminated !== undefined;
      const {text, error} = await podLog(kubernetes, pod, name, {
        ...options,
        tailLines: LOG_LINES,
        previous,
        timestamps: true,
      });
      // An agent logs once that it is ready, and then its runs for weeks.
      const isLost =
        !previous &&
        isOfAgent(name) &&
        text.split('\n').length >= LOG_LINES &&
        !hasSignificantLine(text);
      const start = isLost
        ? await podLog(kubernetes, pod, name, {
            ...options,
            limitBytes: START_BYTES,
            timestamps: true,
          })
        : undefined;
      return {
        key: `${pod}/${name}`,
        text: start && !start.error ? `${start.text}\n…\n${text}` : text,
        denial: error?.kind === 'forbidden' ? reasonIn(error.message) : undefined,
      };
    }),
  );
  const denial = read.find((each) => each.denial)?.denial;
  return {
    logs: Object.fromEntries(
      read.filter(({text}) => text !== '').map(({key, text}) => [key, text]),
    ),
    denial: denial === undefined ? [] : [gap('logs', denial)],
  };
}
