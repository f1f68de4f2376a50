import type {ChartRequirements} from '../charts/recommend.ts';
import {newestOf} from '../charts/target.ts';
import {type Secret, tokenClaims} from '../ground/secret.ts';
import {token, tokenFile, tokenSecret, url} from '../settings/agent.ts';
import type {Setting} from '../settings/define.ts';
import {httpProxy, httpsProxy, metadataService, noProxy, workloadIdentity} from '../settings/network.ts';
import {imageRegistry, serviceAccountAnnotation} from '../settings/pods.ts';
import {concurrency, isolation, missingFor, purpose} from '../settings/purpose.ts';
import {chart, chartVersion, cloud, namespace, nodeOs, release} from '../settings/release.ts';
import {type Answer, catalogue} from '../settings/settings.ts';
import {cache, cacheAccessMode, cacheClaim, cachePath, cacheSize, cacheStorageClass, efsHandle} from '../settings/storage.ts';
import {caFile, caPublicRoots} from '../settings/tls.ts';
import {answerText, sourceText} from '../ui/prompt-text.ts';
import {type Screen, theme} from '../ui/theme.ts';
import {type AnswerStore, type ChosenPool, placeText} from './answer-store.ts';
import {chartDefaultOf, defaultWord, isForeign} from './eligible-charts.ts';
import {hostOf, inWordsOf} from './host-steps.ts';
import {settingName} from './in-words.ts';
import type {WizardStep} from './steps.ts';

/** The settings of each step, as its line shows them. */
const SETTINGS: Readonly<Record<WizardStep, readonly Setting[]>> = {
  Target: [namespace, release, cloud],
  Agent: [url, token, tokenFile, tokenSecret],
  Purpose: [purpose, isolation],
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
  [release, (text) => (text === release.fallback?.(() => undefined) ? undefined : `release ${text}`)],
  [cloud, (text) => (text === 'Other' ? undefined : text)],
  [url, (text) => text.replace('https://', '')],
  [token, (_, {get}) => `token${expiryOf(get(token))}`],
  [tokenFile, (text) => `token file ${text}`],
  [tokenSecret, (text, {isGiven}) => (isGiven(token) || isGiven(tokenFile) ? undefined : `Secret ${text}`)],
  [purpose, (_, {get}) => (get(purpose) === 'vcs' ? 'VCS access' : 'Terraform/OpenTofu runs')],
  [
    isolation,
    (_, store) => (store.get(isolation) === 'shared' ? 'runs share a container' : `one ${hostOf(store) ? 'container' : 'pod'} per run`),
  ],
  [httpsProxy, (text) => `proxy ${text}`],
  [httpProxy, (text, {get}) => (get(httpProxy) === get(httpsProxy) ? undefined : `HTTP proxy ${text}`)],
  [noProxy, (text) => (text === 'none' ? undefined : `NO_PROXY ${text}`)],
  [caFile, (text) => `CA ${text}`],
  [caPublicRoots, (text) => (text === 'yes' ? 'with public roots' : undefined)],
  [metadataService, (text) => (text === 'block' ? 'instance metadata blocked' : 'instance metadata allowed')],
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
export function summaryOf(step: WizardStep, store: AnswerStore, screen: Screen, facts: ChartRequirements): string[] {
  const where = step === 'Target' ? [placeText(store.place)] : [];
  const parts = SETTINGS[step].flatMap((setting) => {
    const value = setting === namespace || setting === url || setting === purpose ? store.get(setting) : undefined;
    if (missingFor(setting, store.get) !== undefined || (hostOf(store) !== undefined && isForeign(setting, store))) return [];
    const isShown = SHOWN_DEFAULTS.includes(setting) && (setting !== (metadataService as Setting) || store.get(purpose) === 'runs');
    const unset = isShown ? chartDefaultOf(setting, store, facts) : undefined;
    const known = value === undefined ? undefined : {value, source: 'prompt' as const};
    const answer = store.answer(setting) ?? known ?? (unset === undefined ? undefined : {value: unset, source: 'chart' as const});
    const text = answer && phraseOf(setting, answer, store);
    if (answer === undefined || text === undefined) return [];
    return [{text: `${text}${sourceOf(answer, setting, screen)}`, isDefault: answer.source === 'chart'}];
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
    ...(defaults.length === 0 ? [] : [`${defaults.join(', ')}${theme(screen).dim(` (${defaultWord(store)})`)}`]),
  ];
  if (SETTINGS[step].every(({isForRuns}) => isForRuns) && store.get(purpose) === 'vcs') return ['not used for VCS access'];
  const isDirect = step === 'Network' && !SETTINGS.Network.some((setting) => store.answer(setting) !== undefined);
  return (all.length === 0 || isDirect) && NOTHING[step] !== '' ? [NOTHING[step], ...all] : all;
}

/** Settings that belong to no step, as flag and value. */
export const otherAnswers = (store: AnswerStore, screen: Screen): string[] =>
  catalogue.flatMap((setting) => {
    const answer = store.answer(setting);
    if (answer === undefined || answer.source === 'cluster' || Object.values(SETTINGS).some((settings) => settings.includes(setting)))
      return [];
    return [`${settingName(setting)} ${answerText(setting, answer)}${sourceOf(answer, setting, screen)}`];
  });

const phraseOf = (setting: Setting, answer: Answer, store: AnswerStore): string | undefined => {
  const text = answerText(inWordsOf(store, setting), answer);
  const phrase = PHRASES.get(setting);
  return phrase === undefined ? text : phrase(text, store);
};

const sourceOf = (answer: Answer, setting: Setting, screen: Screen): string =>
  ['prompt', 'default', 'chart'].includes(answer.source) ? '' : theme(screen).dim(` (${sourceText(setting, answer)})`);
