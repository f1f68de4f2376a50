import {defineSetting} from './define.ts';
import {bytes, cpu} from './quantity.ts';

export const runCpuRequest = defineSetting({
  id: 'run-cpu-request',
  group: 'Size',
  question: 'CPU a run asks for',
  summary: 'CPU a run asks for, in cores.',
  kind: cpu(),
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
});

export const runMemoryLimit = defineSetting({
  id: 'run-memory-limit',
  group: 'Size',
  question: 'Memory a run may use',
  summary: 'Memory a run may use; beyond it the run is killed.',
  kind: bytes(),
});
