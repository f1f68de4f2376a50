import {token, tokenFile, tokenSecret, url} from '../settings/agent.ts';
import {cloud, nodeOs} from '../settings/cluster.ts';
import type {Get, Group, Setting} from '../settings/define.ts';
import {httpProxy, httpsProxy, metadataService, noProxy, workloadIdentity} from '../settings/network.ts';
import {concurrency, isolation, purpose} from '../settings/purpose.ts';
import {chart} from '../settings/release.ts';
import {cache, cacheAccessMode, cacheClaim, cachePath, cacheSize, cacheStorageClass, efsHandle} from '../settings/storage.ts';
import {caFile} from '../settings/tls.ts';
import {CHART_DEFAULT} from './chart-refusals.ts';

/** A setting to prompt for. */
export interface Question {
  setting: Setting;
  /** Condition of the prompt; `get` returns answers and defaults, `isGiven` is true for answers only. */
  when?(get: Get, isGiven: (setting: Setting) => boolean): boolean;
  /** Meaning of an empty answer if no default is known. Without it, an answer is required. */
  orElse?: string;
  /** The preselected choice if no default is known. */
  suggested?: string;
  /** The heading, if it differs from the group of the setting. */
  under?: Group;
}

/** One question that decides whether other questions are asked. */
export interface Gate {
  id: string;
  group: Group;
  message: string;
  help: readonly string[];
  options: readonly {label: string; description: string; asked: readonly Question[]}[];
}

const forRuns = (get: Get): boolean => get(purpose) === 'runs';
const cached =
  (...kinds: string[]) =>
  (get: Get): boolean =>
    kinds.includes(get(cache) ?? '');

/** Settings of the agent that only the user knows. */
export const AGENT: readonly Question[] = [
  {setting: token, when: (_, isGiven) => !isGiven(tokenFile) && !isGiven(tokenSecret), orElse: 'none, use an existing Secret'},
  {setting: tokenSecret, when: (get) => get(token) === undefined && get(tokenFile) === undefined},
  {setting: url},
];

/** The minimum that a recommendation requires. */
export const REST: readonly (Question | Gate)[] = [
  {setting: cloud, suggested: 'other'},
  {setting: purpose},
  {setting: isolation, when: forRuns, orElse: 'No preference'},
  {
    id: 'network',
    group: 'Network',
    message: 'Which of these apply to the network between the agent and Scalr?',
    help: [
      'Select all that apply. Each selection adds one or two questions.',
      'Clusters with direct Internet access usually need none of these.',
      'https://docs.scalr.io/docs/agent-pools',
    ],
    options: [
      {
        label: 'HTTP proxy',
        description: 'Pods reach Scalr, registries and clouds through an HTTP proxy.',
        asked: [
          {setting: httpsProxy, orElse: 'none'},
          {setting: httpProxy, orElse: 'none'},
          {setting: noProxy, orElse: 'cluster-internal names only'},
        ],
      },
      {
        label: 'Private CA certificates',
        description: 'A proxy or one of your servers uses a certificate that is not issued by a public CA.',
        asked: [{setting: caFile, orElse: 'none', under: 'Network'}],
      },
      {
        label: 'Metadata service or cloud identity',
        description: 'Block access of runs to the node identity, or assign a cloud identity to runs.',
        asked: [
          {setting: metadataService, when: forRuns, orElse: CHART_DEFAULT},
          {setting: workloadIdentity, when: forRuns, orElse: 'Not set'},
        ],
      },
    ],
  },
  {setting: cache, when: forRuns, orElse: CHART_DEFAULT},
  {setting: cacheClaim, when: cached('existing-pvc')},
  {setting: efsHandle, when: cached('efs')},
  {setting: cachePath, when: cached('hostpath'), orElse: CHART_DEFAULT},
  {setting: cacheStorageClass, when: cached('pvc'), orElse: 'Default StorageClass of the cluster'},
  {setting: cacheAccessMode, when: cached('pvc'), orElse: CHART_DEFAULT},
  {setting: cacheSize, when: cached('pvc'), orElse: CHART_DEFAULT},
  {setting: concurrency, when: forRuns, orElse: CHART_DEFAULT, under: 'Size'},
];

/** Questions for some charts only. */
export const AFTER_CHART: readonly Question[] = [
  {
    setting: nodeOs,
    suggested: 'other',
    when: (get) => (get(chart) === 'agent-k8s' || get(cache) === 'hostpath') && get(cloud) !== 'gke-autopilot',
  },
];
