import {token, tokenFile, tokenSecret, url} from '../settings/agent.ts';
import {cloud, nodeOs} from '../settings/cluster.ts';
import type {Get, Group, Setting} from '../settings/define.ts';
import {httpProxy, httpsProxy, metadataService, noProxy, workloadIdentity} from '../settings/network.ts';
import {concurrency, isolation, purpose} from '../settings/purpose.ts';
import {chart} from '../settings/release.ts';
import {cache, cacheAccessMode, cacheClaim, cachePath, cacheSize, cacheStorageClass, efsHandle} from '../settings/storage.ts';
import {caFile} from '../settings/tls.ts';

/** A setting to be asked for. */
export interface Asked {
  setting: Setting;
  /** Nobody is asked otherwise; `get` knows what was said so far, defaults included, `isGiven` whether it is more than one. */
  when?(get: Get, isGiven: (setting: Setting) => boolean): boolean;
  /** What Enter alone means where no default is known. Without it an answer is needed. */
  orElse?: string;
  /** The choice that Enter takes where no default is known: it promises nothing. */
  suggested?: string;
  /** The heading it stands under, where that is not the one of the setting. */
  under?: Group;
}

/** One question that spares the ones behind it. */
export interface Gate {
  id: string;
  group: Group;
  message: string;
  help: readonly string[];
  options: readonly {label: string; description: string; asked: readonly Asked[]}[];
}

const forRuns = (get: Get): boolean => get(purpose) === 'runs';
const cached =
  (...kinds: string[]) =>
  (get: Get): boolean =>
    kinds.includes(get(cache) ?? '');

/** What nobody but the operator knows of the agent. */
export const AGENT: readonly Asked[] = [
  {setting: token, when: (_, isGiven) => !isGiven(tokenFile) && !isGiven(tokenSecret), orElse: 'none: a Secret holds it'},
  {setting: tokenSecret, when: (get) => get(token) === undefined && get(tokenFile) === undefined},
  {setting: url},
];

/** In the order in which an operator thinks; the least that a recommendation needs. */
export const REST: readonly (Asked | Gate)[] = [
  {setting: cloud, suggested: 'other'},
  {setting: purpose},
  {setting: isolation, when: forRuns, orElse: 'either will do'},
  {
    id: 'network',
    group: 'Network',
    message: 'What does the network between the agent and Scalr have?',
    help: [
      'Take what there is; each takes one or two questions more.',
      'Nothing of it is common in a cluster with a way to the Internet of its own.',
      'https://docs.scalr.io/docs/agent-pools',
    ],
    options: [
      {
        label: 'A proxy',
        description: 'Pods reach Scalr, registries and clouds by way of an HTTP proxy.',
        asked: [
          {setting: httpsProxy, orElse: 'none after all'},
          {setting: httpProxy, orElse: 'none'},
          {setting: noProxy, orElse: 'only names inside the cluster'},
        ],
      },
      {
        label: 'Certificates of a private CA',
        description: 'Something on the way, or a server of your own, has a certificate that the public roots do not know.',
        asked: [{setting: caFile, orElse: 'none after all', under: 'Network'}],
      },
      {
        label: 'Rules about the metadata service or cloud identities',
        description: 'Runs must not take over the identity of the node, or get one of their own.',
        asked: [
          {setting: metadataService, when: forRuns, orElse: 'as the chart does it'},
          {setting: workloadIdentity, when: forRuns, orElse: 'not decided here'},
        ],
      },
    ],
  },
  {setting: cache, when: forRuns, orElse: 'as the chart does it'},
  {setting: cacheClaim, when: cached('existing-pvc')},
  {setting: efsHandle, when: cached('efs')},
  {setting: cachePath, when: cached('hostpath'), orElse: 'as the chart does it'},
  {setting: cacheStorageClass, when: cached('pvc'), orElse: 'the default class of the cluster'},
  {setting: cacheAccessMode, when: cached('pvc'), orElse: 'as the chart does it'},
  {setting: cacheSize, when: cached('pvc'), orElse: 'as the chart does it'},
  {setting: concurrency, when: forRuns, orElse: 'as the chart does it', under: 'Size'},
];

/** What only some charts need to know. */
export const AFTER_CHART: readonly Asked[] = [
  {
    setting: nodeOs,
    suggested: 'other',
    when: (get) => (get(chart) === 'agent-k8s' || get(cache) === 'hostpath') && get(cloud) !== 'gke-autopilot',
  },
];
