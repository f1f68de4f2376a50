import type {AccountStatus, ReleaseStatus} from '../checks/status/status.ts';
import {differs} from '../cluster/diff/live-drift.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import type {ErrorCode, ExpectedError} from '../ground/errors.ts';
import {unknownOf} from '../ground/finding.ts';
import {findingText} from './finding-text.ts';
import {type ShownStatus, section} from './status.ts';
import {columnsText, type Screen} from './theme.ts';

/** What `status --json` prints; schemas/output/status.json describes it. */
export type StatusDocument = ReturnType<typeof statusDocument>;

/** What `status --contexts --json` prints. */
export type ClustersDocument = ReturnType<typeof clustersDocument>;

export const clustersDocument = (clusters: readonly ClusterStatus[]) => ({
  clusters: clusters.map(({context, releases, failure}) => ({
    context,
    releases: releases.map(({name, status}) => statusDocument(name, status, [])),
    ...(failure && {
      error: {code: failure.code, message: failure.message, suggestions: failure.suggestions},
    }),
  })),
});

export function statusDocument(
  {release, kubeTarget}: ReleaseName,
  status: ReleaseStatus,
  files: readonly string[],
) {
  const {revision, managedBy, controller, chart, purpose, objects, runs, cacheUse, drift, account} =
    status;
  return {
    release,
    namespace: kubeTarget.namespace,
    context: status.context,
    state: status.state,
    ...(revision && {helm: helmOf(revision)}),
    ...(managedBy === undefined ? {} : {managedBy}),
    ...(controller && {controller: withoutRemedies(controller)}),
    ...(chart && {chart: chartOf(chart)}),
    ...(purpose && {purpose}),
    workloads: status.workloads.map(({object, state, ready, desired, text}) => ({
      object,
      state,
      ready,
      desired,
      text,
    })),
    causes: status.causes,
    agents: status.agents,
    images: status.images,
    /** Null if it is not known, because objects could not be read. */
    objects: {
      differs: objects?.some(differs) || (status.isFullyCompared ? false : null),
      verified: status.isVerified,
      differences: objects ?? [],
    },
    runs: {
      visible: runs !== undefined,
      inFlight: (runs ?? []).map(({kind, name, isCertain}) => ({kind, name, certain: isCertain})),
    },
    recent: status.recent,
    advice: status.advice,
    ...(cacheUse && {cacheUse}),
    ...(files.length > 0 && {
      values: {
        files,
        differs: drift ? drift.differences.length > 0 : null,
        differences: drift?.differences ?? [],
      },
    }),
    unread: status.unread,
    ...(account && {account: accountOf(account)}),
  };
}

const accountOf = ({host, pool, isUnused, agents, withoutPod}: AccountStatus) => ({
  host,
  pool:
    pool === undefined
      ? null
      : {id: pool.id, name: pool.name, inUse: isUnused === undefined ? pool.isInUse : !isUnused},
  agents: agents.map(({pod, agent}) => ({
    pod,
    id: agent?.id ?? null,
    status: agent?.status ?? 'unknown',
    version: agent?.version ?? null,
    lastSeen: agent?.lastSeen ?? null,
    error: agent?.error ?? null,
  })),
  withoutPod: withoutPod.map(({name}) => name),
});

const withoutRemedies = ({remedies: _, ...controller}: NonNullable<ReleaseStatus['controller']>) =>
  controller;

const helmOf = ({
  status,
  revision,
  updated,
  description,
}: NonNullable<ReleaseStatus['revision']>) => ({
  status,
  revision,
  updated,
  ...(description && {description}),
});

const chartOf = ({agentVersion, ...chart}: NonNullable<ReleaseStatus['chart']>) => ({
  ...chart,
  ...(agentVersion && {agentVersion}),
});

type ReleaseLine = Pick<ShownStatus, 'name' | 'status'>;

/** The releases of a cluster, or why they are unknown. */
export interface ClusterStatus {
  context: string;
  releases: readonly ReleaseLine[];
  failure?: ExpectedError | undefined;
}

const HEADING = ['NAMESPACE', 'RELEASE', 'CHART', 'STATUS', 'READY', 'RUNS', 'CHANGED OBJECTS'];

/** A line for each release, as kubectl prints tables. */
export const statusTable = (all: readonly ReleaseLine[], screen: Screen): string =>
  columnsText([HEADING, ...all.map(cells)], screen);

/** The same for several clusters; a cluster without a known release has a line too, and its reason below the table. */
export function clustersTable(clusters: readonly ClusterStatus[], screen: Screen): string {
  const rows = clusters.flatMap(({context, releases, failure}) =>
    failure === undefined
      ? releases.map((each) => [context, ...cells(each)])
      : [[context, '-', '-', '-', STATES[failure.code] ?? 'unknown']],
  );
  const failed = clusters.flatMap(({context: object, failure}) =>
    failure ? [findingText(unknownOf(object, failure), screen)] : [],
  );
  return (
    columnsText([['CONTEXT', ...HEADING], ...rows], screen) +
    section('Could not be read', failed, screen)
  );
}

const STATES: Readonly<Partial<Record<ErrorCode, string>>> = {
  CLUSTER_UNREACHABLE: 'unreachable',
  RELEASE_NOT_FOUND: 'not found',
};

const cells = ({name, status}: ReleaseLine): string[] => [
  name.kubeTarget.namespace,
  name.release,
  status.chart ? `${status.chart.name}-${status.chart.version}` : '?',
  status.state,
  status.workloads.map(({ready, desired}) => `${ready}/${desired}`).join(' '),
  status.runs === undefined ? '?' : String(status.runs.length),
  changedCount(status),
];

/** How many objects differ; a question mark if that is not known. */
function changedCount({objects = [], isFullyCompared}: ReleaseStatus): string {
  const {size} = new Set(objects.filter(differs).map(({object}) => object));
  if (isFullyCompared) return String(size);
  return size === 0 ? '?' : `${size}+`;
}
