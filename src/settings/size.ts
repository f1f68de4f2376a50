import {defineSetting, type Setting} from './define.ts';
import type {Kind} from './kinds/kind.ts';
import {integer} from './kinds/numbers.ts';
import {bytes, cpu} from './kinds/quantities.ts';

/** Requests and limits of one kind of container. */
export interface ContainerSize {
  cpuRequest: Setting<string>;
  cpuLimit: Setting<string>;
  memoryRequest: Setting<string>;
  memoryLimit: Setting<string>;
}

function sizeOf(
  id: string,
  owner: string,
  limit: string,
  more: {isForRuns?: true} = {},
): ContainerSize {
  const size = (name: string, what: string, kind: Kind<string>, note = ''): Setting<string> =>
    defineSetting('Size', `${id}-${name}`, {
      question: `${what} of ${owner}`,
      summary: `${what} of ${owner}${note}.`,
      kind,
      ...more,
    });
  return {
    cpuRequest: size('cpu-request', 'CPU request', cpu(), ', in cores'),
    cpuLimit: size('cpu-limit', 'CPU limit', cpu(), ', in cores'),
    memoryRequest: size('memory-request', 'Memory request', bytes()),
    memoryLimit: size('memory-limit', 'Memory limit', bytes(), limit),
  };
}

export const runSize = sizeOf('run', 'a run', '; a run that exceeds it is killed', {
  isForRuns: true,
});

export const workerSize = sizeOf('worker', 'the worker container in each run pod', '', {
  isForRuns: true,
});

export const controllerReplicas = defineSetting('Size', 'controller-replicas', {
  question: 'Controller replicas',
  summary: 'Number of controller replicas.',
  kind: integer({min: 1, max: 10}),
});

export const controllerSize = sizeOf(
  'controller',
  'the controller',
  '; a controller that exceeds it is killed',
);

export const sizeSettings: readonly Setting[] = [
  ...Object.values(runSize),
  ...Object.values(workerSize),
  controllerReplicas,
  ...Object.values(controllerSize),
];
