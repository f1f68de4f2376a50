import type {Get} from '../../settings/define.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {cache, cacheAccessMode, cachePath, isPersistent, moduleCache, providerCache} from '../../settings/storage.ts';
import {cacheDirectory} from '../clouds.ts';
import type {Chart, ChartDefault} from '../define.ts';
import {pinnedAgent, sharedRules} from '../shared-rules.ts';
import {sharedValuesRules} from '../shared-values-rules.ts';
import {refusals} from './refusals.ts';
import {rows} from './rows.ts';
import {cacheLimits, rules} from './rules.ts';
import {valuesRules} from './values-rules.ts';
import {containers, ignoredKeys, kubernetesFloors, NESTED, ownVariables} from './versions.ts';

/** Defaults that depend on other settings. */
const defaults: readonly ChartDefault[] = [
  {
    setting: cacheAccessMode,
    value: (get) =>
      get(cache) === 'pvc' ? {value: 'ReadWriteMany', because: 'all run pods and the controller mount the cache'} : undefined,
  },
  {setting: cachePath, in: '>=0.6.2', value: (get) => (get(cache) === 'hostpath' ? cacheDirectory(get) : undefined)},
  ...[providerCache, moduleCache].map((setting) => ({
    setting,
    in: '>=0.5.65',
    value: (get: Get) => (isPersistent(get(cache)) ? {value: true, because: 'the cache is persistent'} : undefined),
  })),
  {
    setting: metadataService,
    in: NESTED,
    value: (get) =>
      get(workloadIdentity) === 'gke'
        ? {value: 'allow', because: 'GKE Workload Identity requires 169.254.169.254, which this chart blocks by default'}
        : undefined,
  },
];

/** A controller that starts one Kubernetes Job per run. */
export const agentJob: Chart = {
  name: 'agent-job',
  character: 'one pod per run, none while idle',
  rows,
  refusals,
  defaults,
  derived: [cacheLimits],
  rules: [...sharedRules, pinnedAgent('agent-job'), ...rules],
  valuesRules: [...sharedValuesRules, ...valuesRules],
  ownVariables,
  containers,
  ignoredKeys,
  kubernetesFloors,
};
