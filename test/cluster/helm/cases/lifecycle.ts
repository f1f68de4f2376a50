import {within} from '../../../../src/charts/releases/versions.ts';
import type {Values} from '../../../../src/ground/tree.ts';
import {agentRoles, type Case, type Claim, claim, inEach, NESTED, variableIn} from '../claims.ts';
import type {Rendered} from '../render.ts';
import {type Container, variableOf} from '../workloads.ts';

const MODES = {graceful: 'grace-shutdown', drain: 'drain', force: 'force-shutdown'} as const;
const STOPS = {'agent-k8s': '*', 'agent-local': '*'} as const;

/** Seconds that the agent reserves for its shutdown. */
function ownSeconds(container: Container): number {
  const drain =
    variableOf(container, 'SCALR_AGENT_WORKER_ON_STOP_ACTION') === 'drain'
      ? Number(variableOf(container, 'SCALR_AGENT_WORKER_DRAIN_TIMEOUT'))
      : 0;
  return drain + Number(variableOf(container, 'SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT'));
}

/** Grace period of the kubelet; the timeout of the agent must fit and use most of it. */
const stopsWithin = (rendered: Rendered, seconds: number): Claim[] =>
  inEach(
    rendered,
    rendered.target.chart === 'agent-job' ? ['worker'] : agentRoles(rendered.target),
    (container) => [
      claim(
        'terminationGracePeriodSeconds',
        container.pod.spec['terminationGracePeriodSeconds'],
        seconds,
      ),
      claim(
        `seconds the agent plans with (${ownSeconds(container)}) within the last 10 of those ${seconds}`,
        ownSeconds(container) <= seconds && ownSeconds(container) >= seconds - 10,
        true,
      ),
    ],
  );

/** Up to 0.5.68, the worker of agent-job has a fixed timeout, and `values` warns about it. */
const hasConstant = ({target}: Rendered): boolean =>
  target.chart === 'agent-job' && within(target.version, '<=0.5.68');

const waits = (rendered: Rendered, seconds: number): Claim[] =>
  inEach(
    rendered,
    rendered.target.chart === 'agent-job' ? ['worker'] : agentRoles(rendered.target),
    (container) => [
      claim(
        'terminationGracePeriodSeconds',
        container.pod.spec['terminationGracePeriodSeconds'],
        seconds,
      ),
    ],
  );

const modeCase = (mode: keyof typeof MODES, seconds?: number): Case => ({
  name: `${mode} shutdown${seconds === undefined ? '' : ` within ${seconds} s`}`,
  settings: {
    'shutdown-mode': mode,
    ...(seconds === undefined ? {} : {'grace-period': String(seconds)}),
  },
  takenBy: STOPS,
  check: (rendered) => [
    ...variableIn(
      rendered,
      agentRoles(rendered.target),
      'SCALR_AGENT_WORKER_ON_STOP_ACTION',
      MODES[mode],
    ),
    ...(seconds === undefined
      ? []
      : mode === 'force'
        ? waits(rendered, seconds)
        : stopsWithin(rendered, seconds)),
  ],
});

export const drainCase = modeCase('drain', 7200);
export const gracefulCase = modeCase('graceful', 7200);

const graceCase = (seconds: number, range: string): Case => ({
  name: `${seconds} seconds for stopping`,
  settings: {'grace-period': String(seconds)},
  takenBy: {...STOPS, 'agent-job': range},
  check: (rendered) =>
    hasConstant(rendered) ? waits(rendered, seconds) : stopsWithin(rendered, seconds),
});

export const timeoutCase: Case = {
  name: 'more time for new nodes',
  settings: {'scheduling-timeout': '10m', 'acquire-timeout': '15m'},
  takenBy: {'agent-k8s': '*'},
  check: (rendered) => [
    ...variableIn(
      rendered,
      ['controller', 'worker'],
      'SCALR_AGENT_CONTAINER_TASK_SCHEDULING_TIMEOUT',
      '600',
    ),
    ...variableIn(
      rendered,
      ['controller', 'worker'],
      'SCALR_AGENT_CONTAINER_TASK_ACQUIRE_TIMEOUT',
      '900',
    ),
  ],
};

export const jobTtlCase: Case = {
  name: 'finished Jobs that stay for a week',
  settings: {'job-ttl': '168h'},
  takenBy: {'agent-job': NESTED},
  check: ({objects}) => [
    claim(
      'ttlSecondsAfterFinished',
      objects.flatMap(({spec}) => {
        const template = (spec as {jobTemplate?: {spec: Values}} | undefined)?.jobTemplate;
        return template ? [template.spec['ttlSecondsAfterFinished']] : [];
      }),
      [604_800],
    ),
  ],
};

export const writableRootCase: Case = {
  name: 'runs as root with a writable root filesystem',
  settings: {'writable-root': true},
  takenBy: {'agent-local': '*', 'agent-job': NESTED},
  check: (rendered) =>
    inEach(
      rendered,
      [rendered.target.chart === 'agent-job' ? 'runner' : 'agent'],
      ({securityContext}) => [
        claim(
          'user and group',
          [
            securityContext['runAsUser'],
            securityContext['runAsGroup'],
            securityContext['runAsNonRoot'],
          ],
          [0, 0, false],
        ),
        claim('readOnlyRootFilesystem', securityContext['readOnlyRootFilesystem'] ?? false, false),
      ],
    ),
};

/** Every run gets a new container, without a cache that another run could have changed. */
export const singleRunCase: Case = {
  name: 'one run for every container',
  settings: {'single-run': true},
  takenBy: {'agent-local': '*'},
  check: (rendered) => [
    ...variableIn(rendered, ['agent'], 'SCALR_AGENT_SINGLE', 'true'),
    ...variableIn(rendered, ['agent'], 'SCALR_AGENT_PROVIDER_CACHE_ENABLED', 'false'),
    ...variableIn(rendered, ['agent'], 'SCALR_AGENT_MODULE_CACHE_ENABLED', 'false'),
  ],
};

export const lifecycleCases: readonly Case[] = [
  modeCase('graceful'),
  modeCase('drain'),
  modeCase('force'),
  modeCase('force', 30),
  drainCase,
  gracefulCase,
  graceCase(5400, NESTED),
  graceCase(150, '>=0.5.69'),
  timeoutCase,
  jobTtlCase,
  writableRootCase,
  singleRunCase,
];
