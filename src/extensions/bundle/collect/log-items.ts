import type {ContainerStatus, Pod} from '../../../cluster/kubernetes/objects.ts';

/** Start of the logs; without it, logs are read from their beginning. */
export type Since = {seconds: number} | {time: string} | undefined;

export interface LogItem {
  /** Name in the bundle: logs/<pod>/<container>.log, or .previous.log for the log before a restart. */
  file: string;
  pod: string;
  container: string;
  isPrevious: boolean;
  /** API path with its query. */
  path: string;
  /** Bytes that were already cut from the middle of a followed log. */
  cut?: number;
}

/** Logs of all started containers, including init and ephemeral ones, and previous logs of restarted ones. Pure. */
export const logItems = (
  pods: readonly Pod[],
  namespace: string,
  {since, container}: {since: Since; container?: string | undefined},
): LogItem[] =>
  pods.flatMap((pod) =>
    statusesOf(pod)
      .filter(({name}) => container === undefined || name === container)
      .flatMap((status) => [
        ...(hasBegun(status) ? [currentLog(pod, status.name, namespace, since)] : []),
        ...(hasRestarted(status) ? [previousLog(pod, status.name, namespace)] : []),
      ]),
  );

export const logContainers = (logs: readonly LogItem[]): number =>
  new Set(logs.map(({pod, container}) => `${pod}/${container}`)).size;

export const statusesOf = ({status}: Pod): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
  ...(status?.ephemeralContainerStatuses ?? []),
];

const hasBegun = ({state, lastState}: ContainerStatus): boolean =>
  state?.running !== undefined ||
  state?.terminated !== undefined ||
  lastState?.terminated !== undefined;

const hasRestarted = ({restartCount, lastState}: ContainerStatus): boolean =>
  Boolean(restartCount || lastState?.terminated);

function sinceQuery(since: Since): Record<string, string> {
  if (since === undefined) return {};
  return 'seconds' in since ? {sinceSeconds: String(since.seconds)} : {sinceTime: since.time};
}

const currentLog = (pod: Pod, container: string, namespace: string, since: Since): LogItem => ({
  file: `logs/${pod.metadata.name}/${container}.log`,
  pod: pod.metadata.name,
  container,
  isPrevious: false,
  path: logPath(pod, namespace, container, sinceQuery(since)),
});

/** The log before a restart is collected regardless of the time range. */
const previousLog = (pod: Pod, container: string, namespace: string): LogItem => ({
  file: `logs/${pod.metadata.name}/${container}.previous.log`,
  pod: pod.metadata.name,
  container,
  isPrevious: true,
  path: logPath(pod, namespace, container, {previous: 'true'}),
});

function logPath(
  {metadata: {name}}: Pod,
  namespace: string,
  container: string,
  query: Record<string, string>,
): string {
  const pod = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
  return `${pod}/log?${new URLSearchParams({container, timestamps: 'true', ...query})}`;
}
