import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {concurrency} from '../../settings/purpose.ts';
import {cache, cacheAccessMode} from '../../settings/storage.ts';
import type {Chart, ChartDefault} from '../define.ts';
import {pinnedAgent, sharedRules} from '../shared-rules.ts';
import {sharedValuesRules} from '../shared-values-rules.ts';
import {refusals, rows} from './rows.ts';
import {rules, valuesRules} from './rules.ts';
import {formerKeys, ignoredKeys, kubernetesFloors, ownVariables} from './versions.ts';

/** Defaults that depend on other settings. */
const defaults: readonly ChartDefault[] = [
  {
    setting: cacheAccessMode,
    value: (get) =>
      get(cache) === 'pvc' && (get(concurrency) ?? 1) > 1
        ? {value: 'ReadWriteMany', because: 'several agents share the cache and can run on different nodes'}
        : undefined,
  },
  {
    setting: metadataService,
    in: '0.5.65 - 0.5.66',
    value: (get) =>
      get(workloadIdentity) === 'gke'
        ? {value: 'allow', because: 'GKE Workload Identity requires 169.254.169.254, which this version always blocks'}
        : undefined,
  },
];

/** One kind of pod that executes runs in its only container, one run at a time. */
export const agentLocal: Chart = {
  name: 'agent-local',
  character: 'runs share pods that are always running',
  rows,
  refusals,
  defaults,
  rules: [...sharedRules, pinnedAgent('agent-local'), ...rules],
  valuesRules: [...sharedValuesRules, ...valuesRules],
  ownVariables,
  containers: [{name: 'agent', extraEnv: ['extraEnv']}],
  ignoredKeys,
  formerKeys,
  kubernetesFloors,
};
