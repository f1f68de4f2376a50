import {defineSetting, InvalidValue, type Setting} from './define.ts';
import {choice, integer, onOff} from './kinds.ts';

export const purpose = defineSetting({
  id: 'purpose',
  group: 'Purpose',
  question: 'What is the agent pool for?',
  summary: 'Purpose of the agent pool: runs of Terraform/OpenTofu, or access to a private VCS (GitHub Enterprise, GitLab Enterprise).',
  kind: choice(['runs', 'vcs']),
  explained: {
    text: 'An agent pool in Scalr has one of the two kinds, and the token belongs to the pool. VCS agents serve GitHub Enterprise and GitLab Enterprise only. After the agent has registered, link the pool: run pools to workspaces, VCS pools in the last step of the VCS provider setup. Do not install both kinds on the same infrastructure.',
    reference: 'https://docs.scalr.io/docs/agent-pools',
  },
  meanings: {
    runs: 'runs Terraform and OpenTofu inside your network',
    vcs: 'relays between Scalr and a GitHub Enterprise or GitLab Enterprise that Scalr cannot reach',
  },
  fallback: () => 'runs' as const,
});

export const isolation: Setting<'shared' | 'per-run'> = defineSetting({
  id: 'isolation',
  group: 'Purpose',
  question: 'May runs share a container?',
  summary: 'Whether runs may share a container or each gets its own pod.',
  kind: choice(['shared', 'per-run']),
  explained: {
    text: 'In a shared container a run can read the files and credentials that earlier runs left. More pods (--concurrency) execute more runs at the same time.',
    reference: 'agent-local 0.6.5 and agent-job 0.6.5, README',
  },
  meanings: {
    shared: 'each agent pod executes one run at a time, in one container: one trust boundary',
    'per-run': 'every run in a pod of its own that shares nothing',
  },
  fallback: (get) => (get(singleRun) ? ('per-run' as const) : undefined),
});

export const singleRun: Setting<boolean> = defineSetting({
  id: 'single-run',
  group: 'Agent',
  question: 'Restart the agent container after every run?',
  summary: 'Restart the agent container after every run, with provider and module cache off unless they are set.',
  kind: onOff(),
  rule: (isOn, get) =>
    isOn && get(isolation) === 'shared'
      ? new InvalidValue('gives every run a new container, and --isolation shared lets runs share one', 'Leave out one of the two')
      : undefined,
});

export const concurrency = defineSetting({
  id: 'concurrency',
  group: 'Purpose',
  question: 'How many runs at the same time?',
  summary: 'Runs at the same time.',
  kind: integer({min: 1, max: 500}),
  explained: {
    text: 'Further runs wait in Scalr. Every run at the same time needs its own CPU and memory.',
    reference: 'agent-local 0.6.5, values.yaml (replicaCount)',
  },
});
