import {defineSetting, type Setting} from './define.ts';
import {seconds} from './kinds/numbers.ts';
import {choice, onOff} from './kinds/texts.ts';

export const shutdownMode = defineSetting('Lifecycle', 'shutdown-mode', {
  isForRuns: true,
  question: 'What happens to runs when a pod is stopped?',
  summary:
    'Shutdown of runs when a pod is stopped: graceful (stop gracefully), drain (let runs finish) or force (kill).',
  kind: choice(['graceful', 'drain', 'force']),
});

/** Below 1,000,000, which Helm prints as 1e+06. */
const WEEK = 604_800;

export const gracePeriod = defineSetting('Lifecycle', 'grace-period', {
  isForRuns: true,
  question: 'Termination grace period',
  summary: 'Termination grace period; seconds or a duration, for example 1h30m.',
  kind: seconds({min: 1, max: WEEK}),
});

export const jobTtl = defineSetting('Lifecycle', 'job-ttl', {
  isForRuns: true,
  question: 'Retention time of finished Jobs',
  summary:
    'Retention time of finished Jobs and their logs; seconds or a duration, for example 1h30m.',
  kind: seconds({min: 1, max: WEEK}),
});

export const schedulingTimeout = defineSetting('Lifecycle', 'scheduling-timeout', {
  isForRuns: true,
  question: 'Scheduling timeout of run pods',
  summary:
    'Scheduling timeout of run pods; a run fails if its pod is not scheduled in time. Seconds or a duration, for example 10m.',
  kind: seconds({min: 1, max: 86_400}),
});

export const acquireTimeout = defineSetting('Lifecycle', 'acquire-timeout', {
  isForRuns: true,
  question: 'Timeout for accepting a run',
  summary:
    'Timeout for a worker to accept a run, including the start of a new node. Seconds or a duration, for example 10m.',
  kind: seconds({min: 1, max: 86_400}),
});

export const writableRoot = defineSetting('Lifecycle', 'writable-root', {
  isForRuns: true,
  question: 'Run as root with a writable root filesystem?',
  summary: 'Execute runs as root with a writable root filesystem, for hooks that install packages.',
  kind: onOff(),
  caution: (isOn) =>
    isOn
      ? 'Runs execute as root. All Linux capabilities are still dropped, so apt-get requires -o APT::Sandbox::User=root. If possible, use an image that contains the packages.'
      : undefined,
});

export const lifecycleSettings: readonly Setting[] = [
  shutdownMode,
  gracePeriod,
  jobTtl,
  schedulingTimeout,
  acquireTimeout,
  writableRoot,
];
