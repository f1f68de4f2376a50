import type {ContainerStatus, Pod} from '../../cluster/objects.ts';

/** From when on logs are wanted; without it from their beginning. */
export type Since = {seconds: number} | {time: string} | undefined;

/** One log that is to be read. */
export interface LogItem {
  /** Its name in the bundle: logs/<pod>/<container>.log, or .previous.log for what it said before it was restarted. */
  file: string;
  pod: string;
  container: string;
  isPrevious: boolean;
  /** Of the API server, with its query. */
  path: string;
  /** Bytes that were left out of its middle already, where it was followed. */
  cut?: number;
}

interface Options {
  since: Since;
  /** Only containers of this name. */
  container?: string | undefined;
}

/** The logs of all containers that have one: init and ephemeral ones too, and the one before wherever something restarted. Pure. */
export const logItems = (pods: readonly Pod[], namespace: string, {since, container}: Options): LogItem[] =>
  pods.flatMap((pod) =>
    statusesOf(pod)
      .filter(({name}) => container === undefined || name === container)
      .flatMap((status) => [
        ...(hasBegun(status) ? [item(pod, status.name, namespace, since, false)] : []),
        ...(hasPrevious(status) ? [item(pod, status.name, namespace, since, true)] : []),
      ]),
  );

/** How many containers they are of. */
export const containersOf = (logs: readonly LogItem[]): number => new Set(logs.map(({pod, container}) => `${pod}/${container}`)).size;

export const statusesOf = ({status}: Pod): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
  ...(status?.ephemeralContainerStatuses ?? []),
];

const hasBegun = ({state, lastState}: ContainerStatus): boolean =>
  state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined;

const hasPrevious = ({restartCount = 0, lastState}: ContainerStatus): boolean => restartCount > 0 || lastState?.terminated !== undefined;

function item({metadata: {name}}: Pod, container: string, namespace: string, since: Since, isPrevious: boolean): LogItem {
  const query = new URLSearchParams({
    container,
    timestamps: 'true',
    ...(isPrevious ? {previous: 'true'} : {}),
    // What was said before a restart is wanted whenever that was.
    ...(since === undefined || isPrevious ? {} : 'seconds' in since ? {sinceSeconds: String(since.seconds)} : {sinceTime: since.time}),
  });
  return {
    file: `logs/${name}/${container}${isPrevious ? '.previous' : ''}.log`,
    pod: name,
    container,
    isPrevious,
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/log?${query}`,
  };
}
