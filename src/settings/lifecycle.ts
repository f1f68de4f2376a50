import {defineSetting} from './define.ts';
import {choice, seconds} from './kinds.ts';

export const shutdownMode = defineSetting({
  id: 'shutdown-mode',
  group: 'Lifecycle',
  question: 'What happens to runs when a pod is stopped?',
  summary: 'What happens to runs when a pod is stopped: stop them in order, let them finish, or kill them.',
  kind: choice(['graceful', 'drain', 'force']),
});

export const gracePeriod = defineSetting({
  id: 'grace-period',
  group: 'Lifecycle',
  question: 'How long may stopping take?',
  summary: 'How long stopping may take, in seconds or as 1h30m.',
  kind: seconds({min: 1, max: 604_800}),
});
