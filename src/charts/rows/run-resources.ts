import {runCpuLimit, runCpuRequest, runMemoryLimit, runMemoryRequest} from '../../settings/pods.ts';
import {asQuantity} from '../codecs.ts';
import type {Row} from '../define.ts';
import {key} from './row-kinds.ts';

/** CPU and memory of the container that runs execute in, at `<path>.requests` and `<path>.limits`. */
export const runResources = (path: string): Row[] => [
  key(runCpuRequest, `${path}.requests.cpu`, asQuantity),
  key(runCpuLimit, `${path}.limits.cpu`, asQuantity),
  key(runMemoryRequest, `${path}.requests.memory`, asQuantity),
  key(runMemoryLimit, `${path}.limits.memory`, asQuantity),
];
