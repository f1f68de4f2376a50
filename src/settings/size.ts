import {defineSetting, InvalidValue, type Setting} from './define.ts';
import {bytes, cpu, exceeds} from './quantity.ts';

const aboveLimit = (limit: () => Setting<string>) => (value: string, get: <T>(setting: Setting<T>) => T | undefined) => {
  const most = get(limit());
  return most !== undefined && exceeds(value, most)
    ? new InvalidValue(
        `${value} is more than --${limit().id} ${most}; Kubernetes refuses such a pod`,
        `Raise --${limit().id} or lower this one`,
      )
    : undefined;
};

export const runCpuRequest = defineSetting({
  id: 'run-cpu-request',
  group: 'Size',
  question: 'CPU a run asks for',
  summary: 'CPU a run asks for, in cores.',
  kind: cpu(),
  rule: aboveLimit(() => runCpuLimit),
});

export const runCpuLimit = defineSetting({
  id: 'run-cpu-limit',
  group: 'Size',
  question: 'CPU a run may use',
  summary: 'CPU a run may use, in cores.',
  kind: cpu(),
});

export const runMemoryRequest = defineSetting({
  id: 'run-memory-request',
  group: 'Size',
  question: 'Memory a run asks for',
  summary: 'Memory a run asks for.',
  kind: bytes(),
  rule: aboveLimit(() => runMemoryLimit),
});

export const runMemoryLimit = defineSetting({
  id: 'run-memory-limit',
  group: 'Size',
  question: 'Memory a run may use',
  summary: 'Memory a run may use; beyond it the run is killed.',
  kind: bytes(),
});
