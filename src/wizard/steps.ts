import {token, tokenFile, tokenSecret, url} from '../settings/agent.ts';
import type {Get, Setting} from '../settings/define.ts';
import {httpsProxy, metadataService, noProxy, workloadIdentity} from '../settings/network.ts';
import {imageRegistry} from '../settings/pods.ts';
import {concurrency, isolation, purpose} from '../settings/purpose.ts';
import {chart, cloud, nodeOs} from '../settings/release.ts';
import {cache, cacheAccessMode, cacheClaim, cachePath, cacheSize, cacheStorageClass, efsHandle} from '../settings/storage.ts';
import {caFile, caPublicRoots} from '../settings/tls.ts';

export const STEPS = ['Target', 'Agent', 'Purpose', 'Network', 'Cache', 'Size', 'Chart'] as const;
export type WizardStep = (typeof STEPS)[number];

export interface SettingQuestion {
  step: WizardStep;
  setting: Setting;
  /** Condition of the prompt; `get` returns answers and defaults, `isGiven` is true for answers that are not from the cluster. */
  when?(get: Get, isGiven: (setting: Setting) => boolean): boolean;
  /** The box of the network question that opens this question. */
  box?: Box['id'];
  /** Meaning of an empty answer. Without it and without a chart default, an answer is required. */
  orElse?: string;
  /** An empty answer leaves the chart default. */
  hasChartDefault?: true;
  orElseMeaning?: string;
  /** A value from the cluster is shown for editing instead of being taken. */
  isConfirmed?: boolean;
  /** The preselected choice if no default is known. */
  suggested?: string | ((get: Get) => string);
  /** Values that the platform cannot have. */
  hides?(value: unknown, get: Get): boolean;
}

/** One option of the network question. */
export interface Box {
  id: 'proxy' | 'ca' | 'metadata' | 'identity' | 'mirror';
  label: string;
  description: string;
  /** Settings that it asks for; given ones close the box. */
  settings: readonly Setting[];
  /** True if only runs need it. */
  forRuns?: boolean;
  /** True if only pods can have it. */
  forPods?: boolean;
}

export const BOXES: readonly Box[] = [
  {id: 'proxy', label: 'HTTP(S) proxy', description: 'the Internet is reached through a proxy', settings: [httpsProxy, noProxy]},
  {
    id: 'ca',
    label: 'Private CA',
    description: 'Scalr, a proxy or a registry uses certificates of your own CA',
    settings: [caFile, caPublicRoots],
  },
  {
    id: 'metadata',
    label: 'Instance metadata',
    description: 'decide whether runs may reach it',
    settings: [metadataService],
    forRuns: true,
    forPods: true,
  },
  {
    id: 'identity',
    label: 'Workload identity',
    description: 'runs get cloud credentials from the cluster',
    settings: [workloadIdentity],
    forRuns: true,
    forPods: true,
  },
  {id: 'mirror', label: 'Registry mirror', description: 'images are pulled from your own registry', settings: [imageRegistry]},
];

const cached =
  (...kinds: string[]) =>
  (get: Get): boolean =>
    kinds.includes(get(cache) ?? '');

const NO_EFS: readonly (string | undefined)[] = ['gke', 'gke-autopilot', 'aks'];

/** Amazon EFS exists on AWS only, and Autopilot has no access to directories of nodes. */
const hidesCache = (value: unknown, get: Get): boolean =>
  (value === 'efs' && NO_EFS.includes(get(cloud))) || (value === 'hostpath' && get(cloud) === 'gke-autopilot');

const IDENTITY_OF: Readonly<Record<string, string>> = {gke: 'gke', 'gke-autopilot': 'gke', eks: 'irsa', aks: 'azure', openshift: 'irsa'};

/** Questions about settings, in order. The target, the network boxes, the role and the chart are questions of their own. */
export const QUESTIONS: readonly SettingQuestion[] = [
  {step: 'Target', setting: cloud, suggested: 'other'},
  {
    step: 'Agent',
    setting: token,
    when: (_, isGiven) => !isGiven(tokenFile) && !isGiven(tokenSecret),
    orElse: 'Enter: use an existing Secret',
  },
  {step: 'Agent', setting: tokenSecret, when: (get) => get(token) === undefined && get(tokenFile) === undefined},
  {step: 'Agent', setting: url, when: (get, isGiven) => isGiven(url) || get(url) === undefined},
  {step: 'Purpose', setting: purpose},
  {step: 'Purpose', setting: isolation, orElse: 'No preference', orElseMeaning: 'recommended: the other answers decide'},
  {step: 'Network', setting: httpsProxy, box: 'proxy'},
  {step: 'Network', setting: noProxy, box: 'proxy', orElse: 'cluster-internal names only', isConfirmed: true},
  {step: 'Network', setting: caFile, box: 'ca'},
  {step: 'Network', setting: caPublicRoots, box: 'ca', suggested: 'true'},
  {step: 'Network', setting: metadataService, box: 'metadata', suggested: 'block'},
  {step: 'Network', setting: workloadIdentity, box: 'identity', suggested: (get) => IDENTITY_OF[get(cloud) ?? ''] ?? 'none'},
  {step: 'Network', setting: imageRegistry, box: 'mirror'},
  {step: 'Cache', setting: cache, hasChartDefault: true, hides: hidesCache},
  {step: 'Cache', setting: cacheClaim, when: cached('existing-pvc')},
  {step: 'Cache', setting: efsHandle, when: cached('efs')},
  {step: 'Cache', setting: cachePath, when: cached('hostpath'), hasChartDefault: true},
  {step: 'Cache', setting: cacheStorageClass, when: cached('pvc'), orElse: 'Default StorageClass of the cluster'},
  {step: 'Cache', setting: cacheAccessMode, when: cached('pvc'), hasChartDefault: true},
  {step: 'Cache', setting: cacheSize, when: cached('pvc'), hasChartDefault: true},
  {step: 'Size', setting: concurrency, hasChartDefault: true},
  {
    step: 'Chart',
    setting: nodeOs,
    suggested: 'other',
    when: (get) => (get(chart) === 'agent-k8s' || get(cache) === 'hostpath') && get(cloud) !== 'gke-autopilot',
  },
];
