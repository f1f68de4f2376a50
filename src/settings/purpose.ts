import {defineSetting, type Get, type Setting} from './define.ts';
import {InvalidValue} from './kinds/kind.ts';
import {integer} from './kinds/numbers.ts';
import {choice, onOff} from './kinds/texts.ts';

export const purpose = defineSetting('Purpose', 'purpose', {
  question: 'What is the agent pool used for?',
  summary:
    'Purpose of the agent pool: runs or VCS access. VCS access is for private GitHub Enterprise, GitLab Enterprise and Bitbucket Data Center servers. The pool must be linked in Scalr: run pools to workspaces, VCS pools to the VCS provider.',
  kind: choice(['runs', 'vcs']),
  explained:
    'An agent pool is either for runs or for VCS access, and a token belongs to one pool. VCS agents support GitHub Enterprise, GitLab Enterprise and Bitbucket Data Center only. After the agent has registered, link the pool. Link run pools to workspaces, and VCS pools in the last step of the VCS provider setup. Do not install both kinds on the same infrastructure.',
  reference: 'https://docs.scalr.io/docs/agent-pools',
  labels: {runs: 'Run Terraform/OpenTofu', vcs: 'Connect a private VCS'},
  meanings: {
    runs: 'runs execute in your network and can access it',
    vcs: 'a Git server in your network that Scalr cannot reach',
  },
  fallback: () => 'runs' as const,
});

/** What a setting requires to have an effect, as flags; undefined if nothing is missing. */
export function missingFor({isForRuns, appliesWhen}: Setting, get: Get): string | undefined {
  if (isForRuns && get(purpose) === 'vcs')
    return '--purpose runs, because VCS agents execute no runs';
  return appliesWhen?.test(get) === false ? appliesWhen.needs : undefined;
}

export const isolation: Setting<'shared' | 'per-run'> = defineSetting('Purpose', 'isolation', {
  isForRuns: true,
  question: 'Isolate each run in its own pod?',
  summary: 'Isolation of runs: shared or one pod per run.',
  kind: choice(['shared', 'per-run']),
  explained:
    'In a shared container, a run can read files and credentials left by earlier runs. agent-local isolates runs only by a restart of the container after every run. More pods (--concurrency) execute more concurrent runs.',
  reference: 'agent-local 0.6.5 and agent-job 0.6.5, README',
  labels: {shared: 'No', 'per-run': 'Yes'},
  meanings: {
    shared: 'runs use the same container, one after the other',
    'per-run': 'each run gets its own pod and shares nothing',
  },
  fallback: (get) => (get(singleRun) ? ('per-run' as const) : undefined),
});

export const load = defineSetting('Purpose', 'load', {
  isForRuns: true,
  question: 'How are runs distributed over time?',
  summary: 'Expected load: steady or bursty. Only affects the recommended chart.',
  kind: choice(['steady', 'bursty']),
  explained:
    'It only affects the recommended chart. With agent-job, no pods run while the pool is idle, and pods start for each run.',
  reference: 'https://github.com/Scalr/agent-helm',
  labels: {steady: 'Steady', bursty: 'Bursty'},
  meanings: {
    steady: 'agents are in use most of the time',
    bursty: 'idle for hours, then many runs at once',
  },
});

export const concurrency = defineSetting('Purpose', 'concurrency', {
  variable: 'SCALR_AGENT_CONCURRENCY',
  isForRuns: true,
  question: 'Maximum concurrent runs',
  summary: 'Maximum concurrent runs. With agent-job and agent-k8s, only for capacity checks.',
  kind: integer({min: 1, max: 500}),
  explained:
    'With agent-local and in Docker, additional runs are queued in Scalr. The charts agent-job and agent-k8s start a pod for every run. Each concurrent run requires its own CPU and memory.',
  reference: 'agent-local 0.6.5, values.yaml (replicaCount)',
});

export const singleRun: Setting<boolean> = defineSetting('Agent', 'single-run', {
  variable: 'SCALR_AGENT_SINGLE',
  isForRuns: true,
  question: 'Restart the agent container after every run?',
  summary:
    'Restart the agent container after every run; disables the provider and module cache unless they are set.',
  kind: onOff(),
  rule: (isOn, get) =>
    isOn && get(isolation) === 'shared'
      ? new InvalidValue(
          'Conflicts with shared isolation, because each run gets a new container',
          'Remove one of the two',
        )
      : undefined,
});

export const purposeSettings: readonly Setting[] = [
  singleRun,
  purpose,
  isolation,
  load,
  concurrency,
];
