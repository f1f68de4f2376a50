import {defineSetting} from './define.ts';
import {choice, integer} from './kinds.ts';

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

export const isolation = defineSetting({
  id: 'isolation',
  group: 'Purpose',
  question: 'May runs share a container?',
  summary: 'Whether runs may share a container or each gets its own pod.',
  kind: choice(['shared', 'per-run']),
  explained: {
    text: 'Runs that share a container can see each other’s files and credentials.',
    reference: 'agent-local 0.6.5 and agent-job 0.6.5, README',
  },
  meanings: {
    shared: 'several runs side by side in one container: fastest, one trust boundary',
    'per-run': 'every run in a pod of its own that shares nothing',
  },
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
