import type {ChartRequirements} from '../charts/recommend.ts';
import {newestOf} from '../charts/releases/target.ts';
import {type Secret, tokenClaims} from '../ground/secret.ts';
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
import {catalog} from '../settings/catalog.ts';
import {cloud, nodeOs} from '../settings/cluster.ts';
import {type Get, type Setting, settingName} from '../settings/define.ts';
import {serviceAccountAnnotation} from '../settings/identity.ts';
import {imageRegistry} from '../settings/images.ts';
import {
  httpProxy,
  httpsProxy,
  metadataService,
  noProxy,
  workloadIdentity,
} from '../settings/network.ts';
import {concurrency, isolation, load, missingFor, purpose} from '../settings/purpose.ts';
import {chart, chartVersion, namespace, release} from '../settings/release.ts';
import type {Answer} from '../settings/settings.ts';
import {caFile, caPublicRoots} from '../settings/tls.ts';
import {answerText, sourceText} from '../ui/prompt-text.ts';
import {type Screen, theme} from '../ui/theme.ts';
import {type AnswerStore, type ChosenPool, placeText} from './answer-store.ts';
import {chartDefaultOf, defaultWord, hostOf, hostWording, isForeign} from './possible-answers.ts';

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
  {
    id: 'proxy',
    label: 'HTTP(S) proxy',
    description: 'the internet is reached through a proxy',
    settings: [httpsProxy, noProxy],
  },
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
  {
    id: 'mirror',
    label: 'Registry mirror',
    description: 'images are pulled from your own registry',
    settings: [imageRegistry],
  },
];

const cached =
  (...kinds: string[]) =>
  (get: Get): boolean =>
    kinds.includes(get(cache) ?? '');

const NO_EFS: readonly (string | undefined)[] = ['gke', 'gke-autopilot', 'aks'];

/** Amazon EFS exists on AWS only, and Autopilot has no access to directories of nodes. */
const hidesCache = (value: unknown, get: Get): boolean =>
  (value === 'efs' && NO_EFS.includes(get(cloud))) ||
  (value === 'hostpath' && get(cloud) === 'gke-autopilot');

const IDENTITY_OF: Readonly<Record<string, string>> = {
  gke: 'gke',
  'gke-autopilot': 'gke',
  eks: 'irsa',
  aks: 'azure',
  openshift: 'irsa',
};

/** Questions about settings, in order. The target, the network boxes, the role and the chart are questions of their own. */
export const QUESTIONS: readonly SettingQuestion[] = [
  {step: 'Target', setting: cloud, suggested: 'other'},
  {
    step: 'Agent',
    setting: token,
    when: (_, isGiven) => !isGiven(tokenFile) && !isGiven(tokenSecret),
    orElse: 'Enter: use an existing Secret',
  },
  {
    step: 'Agent',
    setting: tokenSecret,
    when: (get) => get(token) === undefined && get(tokenFile) === undefined,
  },
  {step: 'Agent', setting: url, when: (get, isGiven) => isGiven(url) || get(url) === undefined},
  {step: 'Purpose', setting: purpose},
  {
    step: 'Purpose',
    setting: isolation,
    orElse: 'No preference',
    orElseMeaning: 'recommended: the other answers decide',
  },
  {
    step: 'Purpose',
    setting: load,
    suggested: 'steady',
    when: (get) => get(isolation) === undefined && get(chart) === undefined,
  },
  {step: 'Network', setting: httpsProxy, box: 'proxy'},
  {
    step: 'Network',
    setting: noProxy,
    box: 'proxy',
    orElse: 'cluster-internal names only',
    isConfirmed: true,
  },
  {step: 'Network', setting: caFile, box: 'ca'},
  {step: 'Network', setting: caPublicRoots, box: 'ca', suggested: 'true'},
  {step: 'Network', setting: metadataService, box: 'metadata', suggested: 'block'},
  {
    step: 'Network',
    setting: workloadIdentity,
    box: 'identity',
    suggested: (get) => IDENTITY_OF[get(cloud) ?? ''] ?? 'none',
  },
  {step: 'Network', setting: imageRegistry, box: 'mirror'},
  {step: 'Cache', setting: cache, hasChartDefault: true, hides: hidesCache},
  {step: 'Cache', setting: cacheClaim, when: cached('existing-pvc')},
  {step: 'Cache', setting: efsHandle, when: cached('efs')},
  {step: 'Cache', setting: cachePath, when: cached('hostpath'), hasChartDefault: true},
  {
    step: 'Cache',
    setting: cacheStorageClass,
    when: cached('pvc'),
    orElse: 'Default StorageClass of the cluster',
  },
  {step: 'Cache', setting: cacheAccessMode, when: cached('pvc'), hasChartDefault: true},
  {step: 'Cache', setting: cacheSize, when: cached('pvc'), hasChartDefault: true},
  {step: 'Size', setting: concurrency, hasChartDefault: true},
  {
    step: 'Chart',
    setting: nodeOs,
    suggested: 'other',
    when: (get) =>
      (get(chart) === 'agent-k8s' || get(cache) === 'hostpath') && get(cloud) !== 'gke-autopilot',
  },
];

/** The settings of each step, as its line shows them. */
const SETTINGS: Readonly<Record<WizardStep, readonly Setting[]>> = {
  Target: [namespace, release, cloud],
  Agent: [url, token, tokenFile, tokenSecret],
  Purpose: [purpose, isolation, load],
  Network: [
    httpsProxy,
    httpProxy,
    noProxy,
    caFile,
    caPublicRoots,
    metadataService,
    workloadIdentity,
    serviceAccountAnnotation,
    imageRegistry,
  ],
  Cache: [cache, cacheClaim, efsHandle, cachePath, cacheSize, cacheStorageClass, cacheAccessMode],
  Size: [concurrency],
  Chart: [chart, chartVersion, nodeOs],
};

/** A step without an answer. */
const NOTHING: Readonly<Record<WizardStep, string>> = {
  Target: '',
  Agent: '',
  Purpose: '',
  Network: 'direct connection',
  Cache: '',
  Size: 'a pod for every run',
  Chart: '',
};

/** Answers that read better with a word of context; undefined leaves them out. */
const PHRASES = new Map<Setting, (text: string, store: AnswerStore) => string | undefined>([
  [namespace, (text) => `namespace ${text}`],
  [
    release,
    (text) => (text === release.fallback?.(() => undefined) ? undefined : `release ${text}`),
  ],
  [cloud, (text) => (text === 'Other' ? undefined : text)],
  [url, (text) => text.replace('https://', '')],
  [token, (_, {get}) => `token${expiryOf(get(token))}`],
  [tokenFile, (text) => `token file ${text}`],
  [
    tokenSecret,
    (text, {isGiven}) => (isGiven(token) || isGiven(tokenFile) ? undefined : `Secret ${text}`),
  ],
  [purpose, (_, {get}) => (get(purpose) === 'vcs' ? 'VCS access' : 'Terraform/OpenTofu runs')],
  [
    isolation,
    (_, store) => {
      const isHost = hostOf(store) !== undefined;
      // The charts that start a pod for every run support both answers.
      return store.get(isolation) === 'shared'
        ? `runs ${isHost ? '' : 'may '}share a container`
        : `one ${isHost ? 'container' : 'pod'} per run`;
    },
  ],
  [load, (text) => (text === 'Bursty' ? 'bursty load' : undefined)],
  [httpsProxy, (text) => `proxy ${text}`],
  [
    httpProxy,
    (text, {get}) => (get(httpProxy) === get(httpsProxy) ? undefined : `HTTP proxy ${text}`),
  ],
  [noProxy, (text) => (text === 'none' ? undefined : `NO_PROXY ${text}`)],
  [caFile, (text) => `CA ${text}`],
  [caPublicRoots, (text) => (text === 'yes' ? 'with public roots' : undefined)],
  [
    metadataService,
    (text) => (text === 'Block' ? 'instance metadata blocked' : 'instance metadata allowed'),
  ],
  [workloadIdentity, (text) => (text === 'none' ? undefined : `identity ${text}`)],
  [imageRegistry, (text) => `images from ${text}`],
  [cacheStorageClass, (text) => `StorageClass ${text}`],
  [concurrency, (text) => `${text} concurrent ${text === '1' ? 'run' : 'runs'}`],
  [chart, (text, {get}) => `${text} ${get(chartVersion) ?? newestOf(text as never)}`],
  [chartVersion, () => undefined],
  [nodeOs, (text) => (text === 'other' ? undefined : `nodes with ${text}`)],
]);

/** Settings whose default is shown, because it decides what the agent does. */
const SHOWN_DEFAULTS: readonly Setting[] = [metadataService, cache, cacheSize, concurrency];

const isNew = ({id, mustExist = false}: ChosenPool): boolean => id === undefined && !mustExist;

function expiryOf(value: Secret | undefined): string {
  const expires = value && tokenClaims(value.reveal())?.expires;
  return expires === undefined ? '' : `, expires on ${expires.toISOString().slice(0, 10)}`;
}

/** The answers of a step, each with its source unless the user gave it here. */
export function summaryOf(
  step: WizardStep,
  store: AnswerStore,
  screen: Screen,
  facts: ChartRequirements,
): string[] {
  const where = step === 'Target' ? [placeText(store.place)] : [];
  const parts = SETTINGS[step].flatMap((setting) => {
    const value =
      setting === namespace || setting === url || setting === purpose
        ? store.get(setting)
        : undefined;
    if (
      missingFor(setting, store.get) !== undefined ||
      (hostOf(store) !== undefined && isForeign(setting, store))
    )
      return [];
    const isShown =
      SHOWN_DEFAULTS.includes(setting) &&
      (setting !== (metadataService as Setting) || store.get(purpose) === 'runs');
    const unset = isShown ? chartDefaultOf(setting, store, facts) : undefined;
    const known = value === undefined ? undefined : {value, source: 'prompt' as const};
    const answer =
      store.answer(setting) ??
      known ??
      (unset === undefined ? undefined : {value: unset, source: 'chart' as const});
    const text = answer && phraseOf(setting, answer, store);
    if (answer === undefined || text === undefined) return [];
    return [
      {text: `${text}${sourceOf(answer, setting, screen)}`, isDefault: answer.source === 'chart'},
    ];
  });
  const defaults = parts.flatMap(({text, isDefault}) => (isDefault ? [text] : []));
  const pool =
    step === 'Agent' && store.pool !== undefined && store.place?.kind === 'kubernetes'
      ? [`agent pool ${store.pool.name}${isNew(store.pool) ? ' (new)' : ''}`]
      : [];
  const all = [
    ...where,
    ...parts.flatMap(({text, isDefault}) => (isDefault ? [] : [text])),
    ...pool,
    ...(defaults.length === 0
      ? []
      : [`${defaults.join(', ')}${theme(screen).dim(` (${defaultWord(store)})`)}`]),
  ];
  if (SETTINGS[step].every(({isForRuns}) => isForRuns) && store.get(purpose) === 'vcs')
    return ['not used for VCS access'];
  const isTaken = (setting: Setting): boolean =>
    store.answer(setting) !== undefined && missingFor(setting, store.get) === undefined;
  const isDirect = step === 'Network' && !SETTINGS.Network.some(isTaken);
  return (all.length === 0 || isDirect) && NOTHING[step] !== '' ? [NOTHING[step], ...all] : all;
}

/** Settings that belong to no step, as flag and value. */
export const otherAnswers = (store: AnswerStore, screen: Screen): string[] =>
  catalog.flatMap((setting) => {
    const answer = store.answer(setting);
    if (
      answer === undefined ||
      answer.source === 'cluster' ||
      Object.values(SETTINGS).some((settings) => settings.includes(setting))
    )
      return [];
    return [
      `${settingName(setting)} ${answerText(setting, answer)}${sourceOf(answer, setting, screen)}`,
    ];
  });

const phraseOf = (setting: Setting, answer: Answer, store: AnswerStore): string | undefined => {
  const text = answerText(hostWording(store, setting), answer);
  const phrase = PHRASES.get(setting);
  return phrase === undefined ? text : phrase(text, store);
};

const sourceOf = (answer: Answer, setting: Setting, screen: Screen): string =>
  ['prompt', 'default', 'chart'].includes(answer.source)
    ? ''
    : theme(screen).dim(` (${sourceText(setting, answer)})`);
