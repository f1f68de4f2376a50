import {policyMissesRuns, type Target} from '../charts/releases/target.ts';
import {tokenClaims} from '../ground/secret.ts';
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
import {type Setting, settingName} from '../settings/define.ts';
import {serviceAccountAnnotation} from '../settings/identity.ts';
import {imageRegistry} from '../settings/images.ts';
import {
  httpProxy,
  httpsProxy,
  metadataService,
  noProxy,
  workloadIdentity,
} from '../settings/network.ts';
import {nodeSelector, toleration} from '../settings/placement.ts';
import {concurrency, isolation, missingFor, purpose} from '../settings/purpose.ts';
import {chart, chartVersion, namespace, release} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {runSize} from '../settings/size.ts';
import {caFile, caPublicRoots} from '../settings/tls.ts';
import {answerText} from '../ui/prompt-text.ts';
import {sizing} from '../values/sizing.ts';
import {CHART_MEANINGS, chartChoices} from './ask-chart.ts';
import {ROLE, workloadIdentityOf} from './ask-role.ts';
import {type KnownFacts, requirementsOf} from './gathered-facts.ts';
import {environmentVariable} from './machine-proxy.ts';
import {freeText, nodesOfRuns} from './node-room.ts';
import {hostOf, placeText} from './place.ts';
import {
  answersForChart,
  chartDefaultOf,
  hostWording,
  isForeign,
  likelyTarget,
  limitsRuns,
} from './possible-answers.ts';
import {lacksAnswer} from './setting-questions.ts';
import {sharedClassOf} from './shared-cache.ts';
import type {WizardState} from './wizard-state.ts';

/** What the rows of the review and of Change are made of. */
export interface TopicView {
  /** With what the cluster answers and the wizard decides. */
  state: WizardState;
  known: KnownFacts;
  env: Readonly<Record<string, string | undefined>>;
}

/** A row of Change. */
export interface Topic {
  label: string;
  /** IDs of the questions that it asks. */
  questions: readonly string[];
  /** Settings that its value shows. */
  settings: readonly Setting[];
  isOffered?(view: TopicView): boolean;
  /** Today's value. */
  value(view: TopicView): string;
  /** Why, what it costs, or what else the cluster offers. */
  about?(view: TopicView): string | undefined;
  /** Why it cannot be changed. */
  whyNot?(view: TopicView): string | undefined;
}

const isRunPool = ({state}: TopicView): boolean => state.answers.get(purpose) === 'runs';
const isInCluster = ({state}: TopicView): boolean => hostOf(state) === undefined;
const isForRuns = (view: TopicView): boolean => isRunPool(view) && isInCluster(view);

const targetOf = ({state, known}: TopicView): Target | undefined =>
  likelyTarget(state, requirementsOf(known));

/** The answer, or what an empty one leaves in force, as text. */
export function valueText(setting: Setting, {state, known}: TopicView): string | undefined {
  const wording = hostWording(state, setting);
  const answer = state.answers.answer(setting);
  const fallback =
    state.answers.get(setting) ??
    chartDefaultOf(setting, state, requirementsOf(known)) ??
    (setting === (workloadIdentity as Setting) ? workloadIdentityOf(state) : undefined);
  if (answer !== undefined) return answerText(wording, answer);
  return fallback === undefined
    ? undefined
    : answerText(wording, {value: fallback, source: 'chart'});
}

const because = (setting: Setting, {state}: TopicView): string | undefined =>
  state.answers.answer(setting)?.because;

const joined = (...parts: readonly (string | false | undefined)[]): string | undefined =>
  parts.filter(Boolean).join(', ') || undefined;

function chartAbout(view: TopicView): string | undefined {
  const name = targetOf(view)?.chart;
  if (name === undefined) return undefined;
  if (!isRunPool(view)) return 'the only chart for VCS agent pools';
  const others = chartChoices(view.state, view.known)
    .filter(({value, disabled}) => value !== name && disabled === undefined)
    .map(({value}) => value);
  const decisive = answersForChart(view.state, requirementsOf(view.known)).map(settingName);
  return [
    CHART_MEANINGS[name],
    decisive.length === 0 ? '' : `because of ${decisive.join(', ')}`,
    others.length === 0 ? '' : `${others.join(' and ')} possible`,
  ]
    .filter(Boolean)
    .join('; ');
}

const isLimited = ({state, known}: TopicView): boolean => limitsRuns(state, requirementsOf(known));

function runsAbout(view: TopicView): string | undefined {
  const target = targetOf(view);
  if (target === undefined) return undefined;
  const settings: Settings = view.state.answers.unchecked();
  const runs = isLimited(view) ? (view.state.answers.get(concurrency) ?? 1) : 1;
  const sum = sizing(settings.with(concurrency, {value: runs, source: 'prompt'}), target.chart);
  const nodes = nodesOfRuns(view.state, view.known) ?? [];
  const free = nodes.length > 0 ? freeText(nodes, view.known.requested) : undefined;
  const word = free?.isFree ? ' free' : '';
  const cpu = free ? ` of ${free.cpu}${word}` : '';
  const memory = free ? ` of ${free.memory}` : '';
  return joined(
    because(concurrency, view),
    `reserves ${sum.cpuRequested}${cpu} CPU`,
    `${sum.memoryRequested}${memory}`,
    `limit ${sum.memoryLimit}`,
    view.known.cluster?.addsNodes,
    !isLimited(view) && 'with one run',
  );
}

const CACHES: Readonly<Record<string, string>> = {
  ephemeral: 'per pod',
  pvc: 'new PVC',
  hostpath: 'node directory',
  efs: 'Amazon EFS',
};

function cacheValue(view: TopicView): string {
  const {get} = view.state.answers;
  const kind = valueText(cache, view) ?? 'chart default';
  if (get(cacheClaim) !== undefined) return `PVC ${get(cacheClaim)}`;
  if (hostOf(view.state) !== undefined) return kind;
  const value = get(cache) ?? chartDefaultOf(cache, view.state, requirementsOf(view.known));
  return CACHES[String(value)] ?? kind;
}

function cacheAbout(view: TopicView): string | undefined {
  const {get} = view.state.answers;
  const value = get(cache) ?? chartDefaultOf(cache, view.state, requirementsOf(view.known));
  const shown = [cacheSize, cacheAccessMode, cacheStorageClass, cachePath, efsHandle]
    .filter((setting) => missingFor(setting, (each) => effective(each, view)) === undefined)
    .map((setting) => valueText(setting, view));
  const shared = value === 'ephemeral' ? sharedClassOf(view.known)?.name : undefined;
  return joined(
    ...shown,
    value === 'ephemeral' && 'deleted with the pod',
    shared && `${shared} could share it`,
  );
}

const effective = <T>(setting: Setting<T>, {state, known}: TopicView): T | undefined =>
  state.answers.get(setting) ??
  (chartDefaultOf(setting as Setting, state, requirementsOf(known)) as T | undefined);

const proxyValue = ({state}: TopicView): string => {
  const {get} = state.answers;
  const proxy = get(httpsProxy) ?? get(httpProxy);
  return proxy === undefined
    ? 'none'
    : answerText(httpsProxy as Setting, {value: proxy, source: 'prompt'});
};

function proxyAbout(view: TopicView): string | undefined {
  if (proxyValue(view) !== 'none')
    return because(httpsProxy, view) ?? joined(`bypassed by ${valueText(noProxy, view)}`);
  return environmentVariable(view.env, 'HTTPS_PROXY') && 'HTTPS_PROXY of this machine is not used';
}

const METADATA: Readonly<Record<string, string>> = {
  block: 'blocked',
  allow: 'allowed',
};

function metadataValue(view: TopicView): string {
  const value = METADATA[String(effective(metadataService, view))];
  const target = targetOf(view);
  const missesRuns = value === METADATA['block'] && target && policyMissesRuns(target);
  return missesRuns ? 'blocked for the agent, not for runs' : (value ?? 'chart default');
}

/** Nodes of a cloud have an identity, which runs can take when nothing blocks it. With that of GKE, runs get their own. */
export function exposesNodeIdentity(view: TopicView): boolean {
  const {get} = view.state.answers;
  const target = targetOf(view);
  const isBlocked = effective(metadataService, view) === 'block' && target !== undefined;
  return (
    isForRuns(view) &&
    (get(cloud) ?? 'other') !== 'other' &&
    get(workloadIdentity) !== 'gke' &&
    !(isBlocked && !policyMissesRuns(target))
  );
}

const metadataAbout = (view: TopicView): string | undefined =>
  because(metadataService, view) ??
  (exposesNodeIdentity(view) ? 'runs can take the node identity' : undefined);

function identityAbout({state, known}: TopicView): string | undefined {
  const annotations = Object.values(state.answers.get(serviceAccountAnnotation) ?? {});
  if (annotations.length > 0) return annotations.join(', ');
  const [found] = known.objects?.identities ?? [];
  return found && `service account ${found.account} has ${found.value}`;
}

const placementValue = (view: TopicView): string =>
  [nodeSelector, toleration]
    .map((setting) => valueText(setting, view))
    .filter(Boolean)
    .join(' · ') || 'any node';

function placementAbout(view: TopicView): string | undefined {
  const {known} = view;
  const isAnyNode = view.state.answers.get(nodeSelector) === undefined;
  const pools = isAnyNode ? (known.cluster?.nodePools ?? []) : [];
  const tainted = pools.filter(({taints}) => taints.length > 0);
  const names = tainted.map(({name}) => name).join(', ');
  return joined(because(nodeSelector, view), names !== '' && `tainted pools: ${names}`);
}

/** The account, and what gives the agent its token. */
export const agentValue = ({state}: TopicView): string =>
  [state.answers.get(url)?.replace('https://', ''), tokenValue(state)].filter(Boolean).join(' · ');

function tokenValue({answers: {answer, get, isGiven}, pool}: WizardState): string {
  if (pool !== undefined) {
    const isNew = pool.id === undefined && pool.mustExist !== true;
    return `agent pool ${pool.name}${isNew ? ' (new)' : ''}`;
  }
  if (isGiven(tokenFile)) return 'token file';
  if (!isGiven(token)) return `Secret ${get(tokenSecret)}`;
  const expires = tokenClaims(get(token)?.reveal() ?? '')
    ?.expires?.toISOString()
    .slice(0, 10);
  const from = answer(token)?.source === 'environment' ? ` from ${token.onlyEnv}` : '';
  return expires === undefined ? `token${from}` : `token${from}, expires on ${expires}`;
}

const ids = (...settings: readonly Setting[]): string[] => settings.map(({id}) => id);

/** In the order of Change. */
export const TOPICS: readonly Topic[] = [
  {
    label: 'Where',
    questions: ['target'],
    settings: [],
    isOffered: ({state}) => state.installed === undefined,
    value: ({state}) => placeText(state.place),
  },
  {
    label: 'Chart',
    questions: ids(chart, nodeOs),
    settings: [chart, chartVersion, nodeOs],
    isOffered: isInCluster,
    value: (view) => {
      const target = targetOf(view);
      return target === undefined ? 'none fits' : `${target.chart} ${target.version}`;
    },
    about: chartAbout,
    whyNot: ({state, known}) =>
      chartChoices(state, known).filter(({disabled}) => disabled === undefined).length > 1
        ? undefined
        : 'no other chart is possible',
  },
  {
    label: 'Purpose',
    questions: ids(purpose),
    settings: [purpose],
    value: (view) => (isRunPool(view) ? 'Terraform and OpenTofu runs' : 'VCS access'),
    whyNot: ({state}) => (state.pool?.id === undefined ? undefined : 'the agent pool decides it'),
  },
  {
    label: 'Isolation',
    questions: ids(isolation),
    settings: [isolation],
    isOffered: (view) => isRunPool(view) && !isInCluster(view) && !isForeign(isolation, view.state),
    value: ({state}) =>
      state.answers.get(isolation) === 'shared' ? 'runs share a container' : 'a container per run',
  },
  {
    label: 'Runs',
    questions: ids(concurrency, runSize.memoryLimit),
    settings: [concurrency, runSize.memoryLimit],
    isOffered: isRunPool,
    value: (view) =>
      isLimited(view) ? `${valueText(concurrency, view) ?? 1} at a time` : 'a pod for each',
    about: runsAbout,
  },
  {
    label: 'Cache',
    questions: ids(
      cache,
      cacheClaim,
      efsHandle,
      cachePath,
      cacheStorageClass,
      cacheAccessMode,
      cacheSize,
    ),
    settings: [
      cache,
      cacheClaim,
      efsHandle,
      cachePath,
      cacheStorageClass,
      cacheAccessMode,
      cacheSize,
    ],
    isOffered: isRunPool,
    value: cacheValue,
    about: cacheAbout,
  },
  {
    label: 'Proxy',
    questions: ids(httpsProxy, noProxy),
    settings: [httpsProxy, httpProxy, noProxy],
    value: proxyValue,
    about: proxyAbout,
  },
  {
    label: 'Private CA',
    questions: ids(caFile, caPublicRoots),
    settings: [caFile, caPublicRoots],
    value: (view) => valueText(caFile, view) ?? 'none',
    about: ({state}) => (state.answers.get(caPublicRoots) ? 'with public roots' : undefined),
  },
  {
    label: 'Metadata',
    questions: ids(metadataService),
    settings: [metadataService],
    isOffered: isForRuns,
    value: metadataValue,
    about: metadataAbout,
  },
  {
    label: 'Identity',
    questions: [workloadIdentity.id, ROLE],
    settings: [workloadIdentity, serviceAccountAnnotation],
    isOffered: isForRuns,
    value: (view) => valueText(workloadIdentity, view) ?? 'None',
    about: identityAbout,
  },
  {
    label: 'Mirror',
    questions: ids(imageRegistry),
    settings: [imageRegistry],
    value: (view) => valueText(imageRegistry, view) ?? 'none',
    about: (view) => (valueText(imageRegistry, view) ? undefined : 'images from public registries'),
  },
  {
    label: 'Placement',
    questions: ids(nodeSelector, toleration),
    settings: [nodeSelector, toleration],
    isOffered: isInCluster,
    value: placementValue,
    about: placementAbout,
  },
  {
    label: 'Names',
    questions: ids(namespace, release),
    settings: [namespace, release],
    isOffered: (view) => isInCluster(view) && view.state.installed === undefined,
    value: ({state}) =>
      `${state.answers.get(release)} in namespace ${state.answers.get(namespace)}`,
  },
  {
    label: 'Cluster',
    questions: ids(cloud, nodeOs),
    settings: [cloud],
    isOffered: (view) => isInCluster(view) && view.known.cluster?.isRead !== true,
    value: (view) => valueText(cloud, view) ?? 'Other',
    about: ({state}) =>
      state.answers.answer(cloud) === undefined
        ? 'unknown; determines the metadata default'
        : undefined,
  },
  {
    label: 'Agent',
    questions: ids(token, tokenSecret, url),
    settings: [token, tokenFile, tokenSecret, url],
    value: agentValue,
  },
];

/** The question, and those of its topic that its answer can make necessary. */
export function withNecessary(question: string, state: WizardState): string[] {
  const {questions = []} = TOPICS.find((topic) => topic.questions.includes(question)) ?? {};
  const later = questions.slice(questions.indexOf(question) + 1);
  return [question, ...later.filter((id) => lacksAnswer(id, state))];
}
