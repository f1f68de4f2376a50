import {differs} from '../diff/live-drift.ts';
import type {ErrorCode, ExpectedError} from '../ground/errors.ts';
import {type ShownStatus, section} from './status.ts';
import {columnsText, diagnosisText, type Screen} from './theme.ts';

type ReleaseLine = Pick<ShownStatus, 'name' | 'status'>;

/** The releases of a cluster, or why they are unknown. */
export interface ClusterStatus {
  context: string;
  releases: readonly ReleaseLine[];
  failure?: ExpectedError | undefined;
}

const HEADING = ['NAMESPACE', 'RELEASE', 'CHART', 'STATUS', 'READY', 'RUNS', 'CHANGED OBJECTS'];

/** A line for each release, as kubectl prints tables. */
export const statusTable = (all: readonly ReleaseLine[], screen: Screen): string => columnsText([HEADING, ...all.map(cells)], screen);

/** The same for several clusters; a cluster without a known release has a line too, and its reason below the table. */
export function clustersTable(clusters: readonly ClusterStatus[], screen: Screen): string {
  const rows = clusters.flatMap(({context, releases, failure}) =>
    failure === undefined
      ? releases.map((each) => [context, ...cells(each)])
      : [[context, '-', '-', '-', STATES[failure.code] ?? 'unknown']],
  );
  const failed = clusters.flatMap(({context: object, failure}) =>
    failure
      ? [diagnosisText('!', {object, code: failure.code, reason: failure.message, remedy: failure.suggestions[0] ?? ''}, screen)]
      : [],
  );
  return columnsText([['CONTEXT', ...HEADING], ...rows], screen) + section('Could not be read', failed, screen);
}

const STATES: Readonly<Partial<Record<ErrorCode, string>>> = {CLUSTER_UNREACHABLE: 'unreachable', RELEASE_NOT_FOUND: 'not found'};

const cells = ({name, status}: ReleaseLine): string[] => [
  name.kubeTarget.namespace,
  name.release,
  status.chart ? `${status.chart.name}-${status.chart.version}` : '?',
  status.state,
  status.workloads.map(({ready, desired}) => `${ready}/${desired}`).join(' '),
  status.runs === undefined ? '?' : String(status.runs.length),
  status.objects === undefined ? '?' : String(new Set(status.objects.filter(differs).map(({object}) => object)).size),
];
