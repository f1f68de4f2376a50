import {PURPOSE_ANNOTATION} from '../../charts/agent-local/rows.ts';
import {type VersionStatus, versionStatus} from '../../charts/charts.ts';
import {type ChartName, scalrChart} from '../../charts/releases/chart-name.ts';
import {agentVersionOf} from '../../charts/releases/schema.ts';
import {differs, type LiveDrift, type ObjectDrift} from '../../cluster/diff/live-drift.ts';
import {type Drift, driftOf} from '../../cluster/diff/values-diff.ts';
import type {Revision} from '../../cluster/helm/release-record.ts';
import type {Event, KubernetesObject, Pod} from '../../cluster/kubernetes/objects.ts';
import {
  isOfRun,
  type Run,
  type RunsOf,
  runsIn,
  runsOfRelease,
} from '../../cluster/release/inventory.ts';
import {
  type GitOpsController,
  reasonOf,
  type UnrecordedAgent,
} from '../../cluster/release/managers.ts';
import type {ReleaseName} from '../../ground/command-line.ts';
import {byVerdict, type Finding, type ObjectFinding, remediesOf} from '../../ground/finding.ts';
import {count} from '../../ground/text.ts';
import {isMap, type Values} from '../../ground/tree.ts';
import {type Agent, agentsOf} from '../diagnose/agent-log.ts';

import {
  explainSnapshot,
  isReady,
  NO_NODE_MATCHES,
  type Progress,
  progress,
} from '../diagnose/explain.ts';
import {type CacheUse, cacheUseIn, sumOfCacheUse} from '../diagnose/log-matcher.ts';
import type {ReleaseSnapshot} from '../diagnose/read-snapshot.ts';
import {replicaCount} from '../diagnose/rollout.ts';
import {rootsOf} from '../diagnose/snapshot-queries.ts';
import type {PoolToken, ScalrAgent, ScalrPool} from './account.ts';
import {recentHistory} from './recent-history.ts';
import {causesOfController, causesOfMissing, causesOfRelease} from './release-causes.ts';

/** The Scalr account, as far as it is about a release. */
export interface AccountStatus {
  host: string;
  /** Undefined if Scalr knows no agent of the release. */
  pool: ScalrPool | undefined;
  /** Nothing is linked to the pool. Undefined if this could not be read. */
  isUnused: boolean | undefined;
  /** The pods of the release; `agent` is undefined if no agent, or several agents, have the name of the pod. */
  agents: readonly {pod: string; agent: ScalrAgent | undefined}[];
  /** Offline agents whose names are those of earlier pods of the release. */
  withoutPod: readonly ScalrAgent[];
  tokens: readonly PoolToken[];
  /** Agents of the whole account; undefined without a limit, and if no agent is missing. */
  quota?: {used: number; allowed: number} | undefined;
  unread: readonly ObjectFinding[];
}

/** State of a release from kubectl and helm at one moment. */
export interface StatusReadings {
  name: ReleaseName;
  context: string;
  now: Date;
  /** Undefined if it could not be read. */
  revision: Revision | undefined;
  /** Helm has no record of this agent. */
  unrecorded?: UnrecordedAgent | undefined;
  controller?: GitOpsController | undefined;
  given: Values | undefined;
  /** Undefined if the workloads could not be read. */
  releaseSnapshot: ReleaseSnapshot | undefined;
  /** Release objects compared with the cluster; undefined if this was not possible. */
  live: LiveDrift | undefined;
  /** Names of Secrets that the pods require and that do not exist. */
  missingSecrets?: readonly string[];
  unread: readonly ObjectFinding[];
  /** Values to compare with. */
  desired: Values | undefined;
  runLogs?: readonly string[];
}

export interface InstalledChart extends VersionStatus {
  name: ChartName;
  version: string;
  agentVersion: string | undefined;
  /** In the public repository, if it was asked. */
  newest?: string | undefined;
}

export interface WorkloadLine extends Progress {
  ready: number;
  desired: number;
}

export interface ReleaseStatus {
  context: string;
  state: 'ready' | 'not-ready' | 'failed' | 'unknown';
  revision: Revision | undefined;
  /** Present if Helm has no record of the agent: Argo CD application agents */
  managedBy?: string;
  /** Present if Argo CD or Flux applies the agent. */
  controller?: GitOpsController;
  /** Values of the installed release. They can contain secrets; never printed. */
  installedValues: Values | undefined;
  chart: InstalledChart | undefined;
  /** Present if the release is known to serve a VCS pool. No documented line of the agent log contains the purpose. */
  purpose?: 'vcs';
  workloads: readonly WorkloadLine[];
  /** Reasons why the release is not ready, lasting ones (errors) first. */
  causes: readonly ObjectFinding[];
  agents: readonly Agent[];
  /** Images of the running containers, as reported by the nodes. */
  images: readonly string[];
  /** Objects that differ from the release; undefined if they could not be compared. */
  objects: readonly ObjectDrift[] | undefined;
  /** Every object of the manifest could be read. */
  isFullyCompared: boolean;
  /** Changed objects were compared with what an apply would make of them. */
  isVerified: boolean;
  /** Undefined if runs cannot be detected. */
  runs: readonly Run[] | undefined;
  advice: readonly Finding[];
  /** What happened in the last hours, even if everything is ready now. */
  recent: readonly ObjectFinding[];
  /** Cache use of runs; undefined if no log contains it. */
  cacheUse: CacheUse | undefined;
  /** Undefined if there is nothing to compare, or it could not be read. */
  drift: Drift | undefined;
  unread: readonly ObjectFinding[];
  /** Absent without a token for the account of the release. */
  account?: AccountStatus;
}

/** Objects of the release are not as installed, for another reason than a program that sets fields. */
export const hasChanged = ({objects = []}: Pick<ReleaseStatus, 'objects'>): boolean =>
  objects.some(differs);

/** Pure. */
export function statusOf(readings: StatusReadings): ReleaseStatus {
  const {name, context, now, revision, unrecorded, controller} = readings;
  const {given, releaseSnapshot, live, unread, desired, runLogs = []} = readings;
  const chart = chartOf(revision, releaseSnapshot);
  const runsOf = chart && runsOfRelease(name.release, {...chart, chart: chart.name}, given);
  const causes = causesOf(readings);
  const logs = Object.values(releaseSnapshot?.snapshot.logs ?? {});
  return {
    context,
    state: stateOf(readings, causes),
    revision,
    ...(unrecorded && {
      managedBy: reasonOf({...unrecorded, manager: unrecorded.manager ?? controller?.name}),
    }),
    ...(controller && {controller}),
    installedValues: given,
    chart,
    ...(servesVcs(readings) && {purpose: 'vcs'}),
    workloads: releaseSnapshot ? workloadsOf(releaseSnapshot, causes.ofPods) : [],
    causes: [...causes.ofRelease, ...causes.ofPods].toSorted(byVerdict),
    agents: releaseSnapshot ? agentsOf(releaseSnapshot.snapshot, now) : [],
    images: imagesOf(releaseSnapshot),
    objects: live?.differences,
    isFullyCompared: live?.failures.length === 0,
    isVerified: live?.isVerified ?? false,
    runs: releaseSnapshot && runsOf && runsIn(releaseSnapshot.objects, runsOf),
    advice: releaseSnapshot && runsOf ? pullAdvice(releaseSnapshot.objects, runsOf) : [],
    recent: releaseSnapshot ? recentHistory(releaseSnapshot, {name, now, runsOf, revision}) : [],
    cacheUse: sumOfCacheUse([...logs, ...runLogs].map(cacheUseIn)),
    drift: desired && given && driftOf(given, desired),
    unread: [...unread, ...(releaseSnapshot?.gaps ?? [])],
  };
}

interface StatusCauses {
  ofRelease: readonly ObjectFinding[];
  ofPods: readonly ObjectFinding[];
}

/** What a controller of GitOps applies, only it can repair. */
function causesOf(readings: StatusReadings): StatusCauses {
  const {name, revision, releaseSnapshot, live, controller, missingSecrets = [], now} = readings;
  const snapshot = releaseSnapshot?.snapshot;
  const own = [
    ...causesOfRelease(name, revision, snapshot, live?.replicas),
    ...causesOfMissing(name, live?.differences ?? [], missingSecrets),
  ];
  const remedies = remediesOf(controller?.remedies[0]);
  return {
    ofRelease: controller
      ? [...causesOfController(controller), ...own.map((cause) => ({...cause, remedies}))]
      : own,
    ofPods: snapshot ? explainSnapshot(snapshot, now) : [],
  };
}

function stateOf(
  {releaseSnapshot, unread, now}: StatusReadings,
  {ofRelease, ofPods}: StatusCauses,
): ReleaseStatus['state'] {
  const canRun = ofRelease.length === 0 && !ofPods.some(({code}) => code === NO_NODE_MATCHES);
  if (releaseSnapshot && isReady(releaseSnapshot.snapshot, now) && canRun) {
    // Missing permissions are expected; a failed query makes the state unknown.
    return unread.every(({code}) => code === 'FORBIDDEN') ? 'ready' : 'unknown';
  }
  const causes = [...ofRelease, ...ofPods];
  if (causes.some(({verdict}) => verdict === 'error')) return 'failed';
  return releaseSnapshot === undefined && causes.length === 0 ? 'unknown' : 'not-ready';
}

const servesVcs = ({given, releaseSnapshot}: StatusReadings): boolean =>
  [
    given?.['podAnnotations'],
    ...(releaseSnapshot?.snapshot.pods ?? []).map(({metadata}) => metadata.annotations),
  ].some((each) => isMap(each) && each[PURPOSE_ANNOTATION] === 'vcs');

function imagesOf(releaseSnapshot: ReleaseSnapshot | undefined): string[] {
  const containers = (releaseSnapshot?.snapshot.pods ?? []).flatMap(
    ({status}) => status?.containerStatuses ?? [],
  );
  return [...new Set(containers.flatMap(({image}) => image ?? []))].toSorted();
}

/** From the Helm record, otherwise from the labels of the workloads. */
export function chartOf(
  revision: Revision | undefined,
  releaseSnapshot: ReleaseSnapshot | undefined,
): InstalledChart | undefined {
  const labels = releaseSnapshot?.snapshot.workloads
    .map(({metadata}) => metadata.labels ?? {})
    .find((each) => each['helm.sh/chart'] !== undefined);
  const found = scalrChart(revision?.chart ?? labels?.['helm.sh/chart'] ?? '');
  if (found === undefined) return undefined;
  const {chart, version} = found;
  const appVersion =
    revision === undefined ? labels?.['app.kubernetes.io/version'] : revision.app_version;
  return {
    name: chart,
    version,
    agentVersion: appVersion || agentVersionOf({chart, version}),
    ...versionStatus(chart, version),
  };
}

function workloadsOf(
  {snapshot}: ReleaseSnapshot,
  causes: readonly ObjectFinding[],
): WorkloadLine[] {
  const lines = progress(snapshot, causes);
  return rootsOf(snapshot).map((root, index) => {
    const {ready, desired} = replicaCount(root);
    return {...(lines[index] as Progress), ready: Math.min(ready, desired), desired: desired};
  });
}

/** Shorter pulls are not worth a change. */
const LONG_SECONDS = 20;

/** Finds runs that spend most of their start-up time on image pulls. Pure. */
export function pullAdvice(objects: readonly KubernetesObject[], of: RunsOf): Finding[] {
  const pods = objects.filter((object) => object.kind === 'Pod' && isOfRun(object, of)) as Pod[];
  const events = objects.filter(({kind}) => kind === 'Event') as Event[];
  const slow = pods
    .map(({metadata: {name}}) =>
      startUp(
        events.filter(({involvedObject: about}) => about?.kind === 'Pod' && about.name === name),
      ),
    )
    .filter(({pullSeconds, seconds}) => pullSeconds >= LONG_SECONDS && pullSeconds * 2 >= seconds);
  if (slow.length === 0) return [];
  const longest = Math.max(...slow.map(({pullSeconds}) => pullSeconds));
  return [
    {
      code: 'SLOW_IMAGE_PULLS',
      verdict: 'note',
      subject: {},
      message: `Image pulls take most of the start-up time in ${slow.length} of ${count(pods.length, 'run')} (up to ${Math.round(longest)}s)`,
      remedies: remediesOf(
        'Pull the images in advance with a DaemonSet (docs/guide/recipes.md)',
        'Use a mirror near the nodes (--image-registry)',
        'Use image streaming on GKE',
      ),
    },
  ];
}

/** Seconds from scheduling to the last started container, and seconds of image pulls. */
function startUp(events: readonly Event[]): {seconds: number; pullSeconds: number} {
  const times = (reason: string): number[] =>
    events
      .filter((event) => event.reason === reason)
      .map(({eventTime, firstTimestamp, lastTimestamp}) =>
        Date.parse(eventTime ?? firstTimestamp ?? lastTimestamp ?? ''),
      )
      .filter((time) => !Number.isNaN(time));
  const pullSeconds = events.reduce(
    (sum, {reason, message = ''}) => sum + (reason === 'Pulled' ? pulledIn(message) : 0),
    0,
  );
  const seconds = (Math.max(...times('Started')) - Math.min(...times('Scheduled'))) / 1000;
  return {seconds: Number.isFinite(seconds) ? seconds : pullSeconds, pullSeconds};
}

/** Successfully pulled image "scalr/runner:0.2.0" in 1m2.5s (1m2.5s including waiting). An image that already exists has no time. */
function pulledIn(message: string): number {
  const [, minutes = '0', seconds = '0', milliseconds = '0'] =
    /^Successfully pulled image .* in (?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:([\d.]+)ms)?(?=\s|$)/.exec(
      message,
    ) ?? [];
  return Number(minutes) * 60 + Number(seconds) + Number(milliseconds) / 1000;
}
