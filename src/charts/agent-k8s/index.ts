import {cache, dataHome} from '../../settings/storage.ts';
import {dataPath} from '../clouds.ts';
import type {Chart, ChartDefault} from '../define.ts';
import {pinnedAgent, sharedRules} from '../shared-rules.ts';
import {sharedValuesRules} from '../shared-values-rules.ts';
import {mirroredRunner, refusals, rows} from './rows.ts';
import {rules, valuesRules} from './rules.ts';
import {ignoredKeys, kubernetesFloors, ownVariables} from './versions.ts';

/** Defaults that depend on other settings. */
const defaults: readonly ChartDefault[] = [{setting: dataHome, value: (get) => (get(cache) === 'efs' ? undefined : dataPath(get))}];

/** A controller and one worker per node; the agent starts a pod per run, outside the release. */
export const agentK8s: Chart = {
  name: 'agent-k8s',
  character: 'one pod per run; uses root and node directories',
  rows,
  refusals,
  defaults,
  derived: [mirroredRunner],
  rules: [...sharedRules, pinnedAgent('agent-k8s'), ...rules],
  valuesRules: [...sharedValuesRules, ...valuesRules],
  ownVariables,
  containers: [{name: 'controller and the worker', extraEnv: ['extraEnv']}],
  ignoredKeys,
  kubernetesFloors,
};
