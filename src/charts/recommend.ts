import {ExpectedError} from '../ground/errors.ts';
import {cache} from '../settings/cache.ts';
import {cloud} from '../settings/cluster.ts';
import type {Get} from '../settings/define.ts';
import {isolation, load, purpose, singleRun} from '../settings/purpose.ts';
import {chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {type ChartVersion, newestVersions} from './chart-version.ts';
import type {ChartName} from './releases/chart-name.ts';
import {releasesOf} from './releases/target.ts';
import {compare, isAtLeast, type KubernetesVersions, olderThan} from './releases/versions.ts';
import {unsupported} from './support.ts';

/** Facts about the cluster that exclude charts. */
export interface ChartRequirements {
  kubernetes?: KubernetesVersions;
  /** A policy or Pod Security refuses hostPath volumes in the namespace. */
  forbidsHostPath?: boolean;
}

/** One argument about a chart; `source` is the source of the fact. */
export interface Reason {
  verdict: 'for' | 'against' | 'excluded';
  message: string;
  source: string;
  /** Id of the setting that the chart does not support. */
  setting?: string;
}

export interface Recommendation {
  chart: ChartName;
  reasons: Reason[];
  rejected: {chart: ChartName; reasons: Reason[]}[];
}

/** The recommended chart of one of several clusters, and the charts that cannot serve it. */
export interface ClusterChoice {
  cluster: string;
  chart: ChartName;
  excluded: {chart: ChartName; message: string}[];
}

interface Argument {
  verdict: Reason['verdict'];
  /** The pools that it is about (default: those for runs). */
  purpose?: 'vcs';
  /** Weight (default: 0); excluded charts are never recommended. */
  weight?: number;
  /** Condition (default: always true). */
  test?(get: Get, facts: ChartRequirements): boolean;
  message: string | ((facts: ChartRequirements) => string);
  source: string;
}

const JOB_KUBERNETES = '1.35.0';

/** In the order in which reasons are shown. */
const VERDICTS: readonly Reason['verdict'][] = ['excluded', 'for', 'against'];

const ARGUMENTS: Readonly<Record<ChartName, readonly Argument[]>> = {
  'agent-local': [
    {
      verdict: 'for',
      purpose: 'vcs',
      message: 'The only chart that supports VCS agent pools.',
      source: 'agent-helm, README',
    },
    {
      verdict: 'for',
      purpose: 'vcs',
      message:
        'The agent only opens HTTPS connections, to Scalr and to the VCS server. It requires no ingress, no Service and no open port.',
      source: 'https://docs.scalr.io/docs/agent-pools; agent-local 0.6.5, templates',
    },
    {
      verdict: 'for',
      weight: 1,
      message:
        'Recommended by Scalr for run pools, and the only chart for VCS pools. Requires no CRD, no cluster role and no directory on the nodes.',
      source: 'agent-helm, README; agent-local 0.6.5, templates',
    },
    {
      verdict: 'against',
      test: (get) => get(isolation) !== 'shared' && !get(singleRun),
      message: 'Runs share the agent container. Use one agent pool per trust boundary.',
      source: 'agent-local 0.6.5, README',
    },
    {
      verdict: 'for',
      test: (get) => get(isolation) === 'per-run' && !get(singleRun),
      message:
        'With --single-run, the container restarts after every run and the provider and module caches are disabled: isolation without agent-job.',
      source: 'agent-local, README',
    },
    {
      verdict: 'against',
      message: 'Each concurrent run requires a replica, which reserves its resources permanently.',
      source: 'agent-local 0.6.5, templates/deployment.yaml',
    },
    {
      verdict: 'against',
      message:
        'No built-in autoscaling. A HorizontalPodAutoscaler can remove a pod during a run. Use --shutdown-mode drain with a --grace-period longer than a run, or only scale out.',
      source: 'agent-local 0.6.5, README',
    },
  ],
  'agent-job': [
    {
      verdict: 'against',
      message:
        'On a new node, a run waits until its images are pulled. Pre-pull them with a DaemonSet, or use a registry mirror in the same region (--image-registry).',
      source: 'agent-job 0.6.5, README',
    },
    {
      verdict: 'for',
      test: (get) => get(cloud) === 'gke' || get(cloud) === 'gke-autopilot',
      message: 'GKE image streaming shortens the startup of runs on new nodes.',
      source: 'agent-job 0.6.5, README',
    },
    {
      verdict: 'for',
      weight: 3,
      test: (get) => get(isolation) === 'per-run',
      message:
        'Recommended by Scalr for isolated runs: each run gets its own Job and shares nothing with other runs.',
      source: 'agent-helm, README; agent-job 0.6.5, templates/task.yaml',
    },
    {
      verdict: 'for',
      weight: 3,
      test: (get) => get(load) === 'bursty',
      message:
        'Suits bursty load: pods start for each run, and none reserve resources while the pool is idle.',
      source: 'agent-job 0.6.5, templates/task.yaml',
    },
    {
      verdict: 'for',
      test: (get) => get(isolation) !== 'per-run',
      message:
        'Runs are isolated from each other, and no resources are reserved while no run is active.',
      source: 'agent-job 0.6.5, templates/task.yaml',
    },
    {
      verdict: 'against',
      weight: 1,
      test: (_, {kubernetes}) =>
        !isAtLeast(JOB_KUBERNETES, kubernetes) && olderThan(JOB_KUBERNETES, kubernetes) === '',
      message:
        'Requires Kubernetes 1.35 or newer on the control plane and on all nodes. Check with `kubectl get nodes`.',
      source: 'agent-job 0.6.5, Chart.yaml and README',
    },
    {
      verdict: 'excluded',
      test: (_, {kubernetes}) => olderThan(JOB_KUBERNETES, kubernetes) !== '',
      message: ({kubernetes}) =>
        `Requires Kubernetes 1.35 or newer on the control plane and on all nodes. Older: ${olderThan(JOB_KUBERNETES, kubernetes)}.`,
      source: 'agent-job 0.6.5, Chart.yaml and README',
    },
    {
      verdict: 'against',
      message: 'The install requires permission to create a CRD and a cluster role.',
      source: 'agent-job 0.6.5, README',
    },
    {
      verdict: 'against',
      test: (get) => get(cache) === 'pvc',
      message: 'All runs mount the same cache, so its PVC must be ReadWriteMany.',
      source: 'agent-job 0.6.5, templates/agent.yaml and task.yaml',
    },
  ],
  'agent-k8s': [
    {
      verdict: 'excluded',
      test: (_, {forbidsHostPath}) => forbidsHostPath === true,
      message: 'Stores its data in a hostPath volume, which this cluster forbids.',
      source: 'agent-k8s 0.6.5, templates/worker.yaml',
    },
    {
      verdict: 'for',
      test: (get) => get(isolation) !== 'shared',
      message: 'Each run gets its own pod.',
      source: 'agent-helm, README',
    },
    {
      verdict: 'for',
      test: (get) => get(cache) !== 'efs',
      message: 'The cache is stored on the nodes and requires no PVC.',
      source: 'agent-k8s 0.6.5, templates/worker.yaml',
    },
    {
      verdict: 'against',
      weight: 5,
      message:
        'Recommended only if you need it: complex configuration, runs as root, data on nodes or EFS, dedicated node pool.',
      source: 'agent-k8s 0.6.5, values.yaml; agent-helm, README',
    },
    {
      verdict: 'against',
      weight: 1,
      test: (get) => get(cloud) === 'openshift',
      message: 'On OpenShift, the service account requires the privileged SCC.',
      source: 'agent-k8s 0.6.5, values.yaml (hostPath, runAsUser 0)',
    },
  ],
};

/** Recommends a chart, with reasons for and against each chart. Pure. @throws ExpectedError if no chart fits */
export function recommend(
  settings: Settings,
  facts: ChartRequirements = {},
  newest: readonly ChartVersion[] = newestVersions(),
): Recommendation {
  const judged = newest.map((each) => judge(each, settings, facts));
  const [best, ...others] = judged.toSorted((one, other) => other.score - one.score);
  if (best === undefined || best.score === Number.NEGATIVE_INFINITY) throw noChartFits(judged);
  const found = ({chart, reasons}: (typeof judged)[number]) => ({chart, reasons});
  return {...found(best), rejected: others.map(found)};
}

function judge(
  newest: ChartVersion,
  settings: Settings,
  facts: ChartRequirements,
): {chart: ChartName; reasons: Reason[]; score: number} {
  const {chart} = newest;
  const desired = settings.get(chartVersion);
  const hasVersion =
    desired === undefined ||
    releasesOf(chart).includes(desired) ||
    compare(desired, newest.version) > 0;
  const version = hasVersion && desired !== undefined ? desired : newest.version;
  const missing: Reason[] = hasVersion
    ? []
    : [
        {
          verdict: 'excluded',
          message: `${chart} ${desired} does not exist.`,
          source: 'agent-helm, releases',
        },
      ];
  const target = version === newest.version ? newest : {chart, version};
  const refused = unsupported(target, settings).map(
    ({setting, message}): Reason => ({
      setting: setting.id,
      verdict: 'excluded',
      message: `${message}.`,
      source: `${chart} ${version}, values`,
    }),
  );
  const pool = settings.get(purpose) ?? 'runs';
  const held = ARGUMENTS[chart].filter(
    (argument) =>
      (argument.purpose ?? 'runs') === pool && (argument.test?.(settings.get, facts) ?? true),
  );
  const reasons = [
    ...missing,
    ...refused,
    ...held.map(({verdict, message, source}) => ({
      verdict,
      message: typeof message === 'string' ? message : message(facts),
      source,
    })),
  ].toSorted((one, other) => VERDICTS.indexOf(one.verdict) - VERDICTS.indexOf(other.verdict));
  const isExcluded = reasons.some(({verdict}) => verdict === 'excluded');
  const score = held.reduce(
    (sum, {verdict, weight = 0}) => sum + (verdict === 'for' ? weight : -weight),
    0,
  );
  return {chart, reasons, score: isExcluded ? Number.NEGATIVE_INFINITY : score};
}

function noChartFits(judged: readonly {chart: ChartName; reasons: Reason[]}[]): ExpectedError {
  const lines = judged.map(({reasons}) =>
    reasons
      .filter(({verdict}) => verdict === 'excluded')
      .map(({message}) => message)
      .join(' '),
  );
  return new ExpectedError(`No chart supports all settings:\n${lines.join('\n')}`, {
    code: 'NO_CHART_FITS',
    suggestions: [
      'Remove one of the settings listed above',
      'Set --chart to list the unsupported settings of one chart',
    ],
  });
}
