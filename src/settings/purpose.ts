import {defineSetting} from './define.ts';
import {choice, integer} from './kinds.ts';

export const purpose = defineSetting({
  id: 'purpose',
  group: 'Purpose',
  question: 'What is the agent pool for?',
  summary: 'What the agent pool does: run Terraform/OpenTofu, or relay to a private VCS.',
  kind: choice(['runs', 'vcs']),
  fallback: () => 'runs' as const,
});

export const isolation = defineSetting({
  id: 'isolation',
  group: 'Purpose',
  question: 'May runs share a container?',
  summary: 'Whether runs may share a container or each gets its own pod.',
  kind: choice(['shared', 'per-run']),
});

export const concurrency = defineSetting({
  id: 'concurrency',
  group: 'Purpose',
  question: 'How many runs at the same time?',
  summary: 'Runs at the same time.',
  kind: integer({min: 1, max: 500}),
});
