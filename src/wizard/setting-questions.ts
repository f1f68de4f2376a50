import {token, tokenFile, tokenSecret, url} from '../settings/agent.ts';
import {
  cache,
  cacheAccessMode,
  cacheClaim,
  cachePath,
  cacheSize,
  cacheStorageClass,
  efsHandle,
} from '../settings/cache.ts';
import {cloud, nodeOs} from '../settings/cluster.ts';
import type {Get, Setting} from '../settings/define.ts';
import {serviceAccountName} from '../settings/identity.ts';
import {imageRegistry} from '../settings/images.ts';
import {httpsProxy, metadataService, noProxy, workloadIdentity} from '../settings/network.ts';
import {nodeSelector, toleration} from '../settings/placement.ts';
import {concurrency, isolation, missingFor, purpose} from '../settings/purpose.ts';
import {chart, namespace, release} from '../settings/release.ts';
import {runSize} from '../settings/size.ts';
import {caFile, caPublicRoots} from '../settings/tls.ts';
import {isForeign} from './possible-answers.ts';
import type {WizardState} from './wizard-state.ts';

/** How the wizard asks for a setting. */
export interface SettingQuestion {
  setting: Setting;
  /** Condition of the prompt; `get` returns answers and defaults, `isGiven` is true for answers that are not from the cluster. */
  when?(get: Get, isGiven: (setting: Setting) => boolean): boolean;
  /** Meaning of an empty answer. Without it and without a chart default, an answer is required. */
  orElse?: string;
  /** An empty answer leaves the chart default. */
  hasChartDefault?: true;
  /** What to type, where the setting has no default. */
  example?: string;
  /** What it means, where the explanation of the setting is about flags and files. */
  meaning?: string;
  /** The preselected choice if no default is known. */
  suggested?: string;
  /** Values that the platform cannot have. */
  hides?(value: unknown, get: Get): boolean;
}

const cached =
  (...kinds: string[]) =>
  (get: Get): boolean =>
    kinds.includes(get(cache) ?? '');

/** Amazon EFS exists on AWS only, and Autopilot has no access to directories of nodes. */
const hidesCache = (value: unknown, get: Get): boolean =>
  (value === 'efs' && !['eks', 'other', undefined].includes(get(cloud))) ||
  (value === 'hostpath' && get(cloud) === 'gke-autopilot');

const QUESTIONS: readonly SettingQuestion[] = [
  {
    setting: token,
    when: (_, isGiven) => !isGiven(tokenFile),
    orElse: 'Enter: use an existing Secret',
  },
  {
    setting: tokenSecret,
    meaning: 'It must be in the namespace of the release, with the token in its key "token".',
  },
  {setting: url, when: (get, isGiven) => isGiven(url) || get(url) === undefined},
  {setting: purpose},
  {
    setting: isolation,
    meaning: 'In a shared container, a run can read files and credentials left by earlier runs.',
    suggested: 'per-run',
  },
  {setting: concurrency, hasChartDefault: true},
  {
    setting: runSize.memoryLimit,
    meaning: 'A run that exceeds it is killed.',
    hasChartDefault: true,
  },
  {setting: httpsProxy, orElse: 'none', example: 'for example http://proxy.corp:3128'},
  {setting: noProxy, orElse: 'cluster-internal names only'},
  {setting: caFile, orElse: 'none', example: 'for example /etc/ssl/corp.pem'},
  {setting: caPublicRoots, suggested: 'true', when: (get) => get(caFile) !== undefined},
  {setting: metadataService, hasChartDefault: true, suggested: 'block'},
  {setting: workloadIdentity, suggested: 'none'},
  {
    setting: imageRegistry,
    meaning: 'Prepended to every image name, for nodes that cannot reach public registries.',
    orElse: 'none',
    example: 'for example registry.corp/mirror',
  },
  {setting: cache, hasChartDefault: true, hides: hidesCache},
  {setting: cacheClaim, when: cached('existing-pvc'), example: 'for example agent-cache'},
  {setting: efsHandle, when: cached('efs'), example: 'for example fs-0123456789abcdef0'},
  {setting: cachePath, when: cached('hostpath'), hasChartDefault: true},
  {
    setting: cacheStorageClass,
    meaning: 'If several pods share the cache, it must support ReadWriteMany.',
    when: cached('pvc'),
    orElse: 'Default StorageClass of the cluster',
  },
  {setting: cacheAccessMode, when: cached('pvc'), hasChartDefault: true},
  {setting: cacheSize, when: cached('pvc', 'ephemeral'), hasChartDefault: true},
  {
    setting: nodeSelector,
    meaning: 'Runs use only nodes that have these labels.',
    orElse: 'any node',
    example: 'for example pool=agents',
  },
  {
    setting: toleration,
    meaning: 'Runs may use nodes that have these taints.',
    orElse: 'none',
    example: 'for example dedicated=agents:NoSchedule',
  },
  {
    setting: serviceAccountName,
    meaning: 'It must exist in the namespace of the release.',
    orElse: 'Not set',
    hasChartDefault: true,
  },
  {setting: namespace, meaning: 'The agent and its objects are created in it.'},
  {
    setting: release,
    meaning: 'Helm lists the agent under this name, and its objects begin with it.',
  },
  {setting: cloud, suggested: 'other'},
  {
    setting: nodeOs,
    suggested: 'other',
    when: (get) =>
      (get(chart) === 'agent-k8s' || get(cache) === 'hostpath') && get(cloud) !== 'gke-autopilot',
  },
];

const BY_ID: ReadonlyMap<string, SettingQuestion> = new Map(
  QUESTIONS.map((question) => [question.setting.id, question]),
);

/** Settings without a question of their own can be left unset. */
export const questionFor = (setting: Setting): SettingQuestion =>
  BY_ID.get(setting.id) ?? {
    setting,
    ...(setting.required ? {} : {orElse: 'Not set', hasChartDefault: true as const}),
  };

/** True if there is no answer, and an empty one is not possible. */
export function lacksAnswer(id: string, {answers}: WizardState): boolean {
  const question = BY_ID.get(id);
  if (question === undefined || question.hasChartDefault) return false;
  const {setting, orElse, suggested} = question;
  return orElse === undefined && suggested === undefined && answers.answer(setting) === undefined;
}

/** True if an answer would have an effect, and the chart or machine supports one. */
export function applies(setting: Setting, state: WizardState): boolean {
  const {get, isGiven} = state.answers;
  return (
    missingFor(setting, get) === undefined &&
    (questionFor(setting).when?.(get, isGiven) ?? true) &&
    !isForeign(setting, state)
  );
}
