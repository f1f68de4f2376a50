import {setTimeout} from 'node:timers/promises';
import type {DiscoveredCluster} from '../answers/cluster-answers.ts';
import {isKnown} from '../ground/fact.ts';
import {sentences} from '../ground/text.ts';
import type {StorageClass} from '../platform/cluster-facts.ts';
import type {Choice} from '../ports/system.ts';
import {concurrency, missingFor, token, tokenSecret} from '../settings/agent.ts';
import {type Setting, settingName} from '../settings/define.ts';
import {httpsProxy, noProxy, workloadIdentity} from '../settings/network.ts';
import {chart, cloud, namespace} from '../settings/release.ts';
import {type Answer, Settings} from '../settings/settings.ts';
import {cacheStorageClass} from '../settings/storage.ts';
import {answerText} from '../ui/prompt-text.ts';
import {sizing} from '../values/sizing.ts';
import {type AnswerStore, hasCluster} from './answer-store.ts';
import {ask} from './ask.ts';
import {boxesQuestion, chartQuestion, dropRole, roleQuestion} from './choose-network-and-chart.ts';
import {type Contexts, type OfferedPools, poolQuestion, targetQuestion} from './choose-target.ts';
import {dropConsent, mayStore} from './clear-text.ts';
import {Interview, type Question} from './interview.ts';
import {
  chartDefaultOf,
  defaultText,
  defaultWord,
  emptyOnHost,
  hasOneChoice,
  hostOf,
  hostWording,
  isForeign,
  likelyTarget,
  limitsRuns,
  whyExcluded,
} from './possible-answers.ts';
import {
  type InstalledAgent,
  installedQuestion,
  type Missing,
  requirementsQuestion,
} from './requirements.ts';
import {type Decision, type ReviewDeps, review} from './review.ts';
import {BOXES, QUESTIONS, type SettingQuestion, STEPS} from './steps.ts';

/** What the wizard needs from the environment. */
export interface WizardDeps
  extends Omit<ReviewDeps, 'before' | 'offers' | 'whyExcluded' | 'facts' | 'tryRequirements'> {
  contexts: Contexts;
  /** The release of the chosen name in the cluster of a context; read once. */
  installed(context: string | undefined): Promise<InstalledAgent | undefined>;
  /** The pools of the account, if there is a token of a user for it; read once. */
  pools(): Promise<OfferedPools | undefined>;
  /** The first lines of the screen. */
  title(): string;
  env: Readonly<Record<string, string | undefined>>;
  /** What an install lacks in the cluster of a context; tried once per context unless `again`. */
  lacking(context: string | undefined, again?: boolean): Promise<readonly Missing[]>;
  /** Facts of the cluster of a context; read once per context. */
  read(context: string | undefined): Promise<DiscoveredCluster>;
}

const PATIENCE_MS = 1000;

/** What an install lacks was tried from the first question on, so that it is known at the second one. */
const GRACE_MS = 300;

const NO_CLUSTER: DiscoveredCluster = {facts: {}, storageClasses: [], summary: '', isRead: false};

/** Prompts for settings, recommends a chart and shows the review. Changes nothing. */
export async function runWizard(store: AnswerStore, deps: WizardDeps): Promise<Decision> {
  let cluster: DiscoveredCluster | undefined;
  let readFor: string | undefined;
  /** What the facts depend on: policies can differ between namespaces. */
  const whereKey = (): string => JSON.stringify([store.place, store.get(namespace)]);
  const facts = () => cluster?.facts ?? {};

  let installed: InstalledAgent | undefined;
  const isOpenRelease = (): boolean => installed !== undefined;
  let installedFor: string | undefined;
  let offered: OfferedPools | undefined;
  let hasAskedAccount = store.pool !== undefined;
  let missing: readonly Missing[] = [];
  let lackingFor: string | undefined;
  const tryRequirements = async (again = false): Promise<readonly Missing[]> => {
    const {place} = store;
    if (place?.kind !== 'kubernetes') return [];
    const key = whereKey();
    lackingFor = key;
    const found = await deps.lacking(place.context, again);
    if (lackingFor === key) missing = found;
    return found;
  };

  /** Waits for the facts of the selected cluster after the step Agent. */
  const before: ReviewDeps['before'] = async (step, heading) => {
    const {place} = store;
    if (place?.kind === 'kubernetes' && lackingFor !== whereKey()) {
      const found = await Promise.race([tryRequirements(), setTimeout(GRACE_MS, [] as const)]);
      if (found.length > 0) return true;
    }
    if (place?.kind === 'kubernetes' && installedFor !== whereKey()) {
      installedFor = whereKey();
      const key = installedFor;
      installed = undefined;
      const reading = deps.installed(place.context).then((found) => {
        if (installedFor === key) installed = found;
      });
      // A slow cluster does not keep the user waiting: the release is opened when it is known.
      await deps.prompter.wait(
        'Reading the installed release',
        Promise.race([reading, setTimeout(PATIENCE_MS)]),
        [...heading],
      );
      if (isOpenRelease()) return true;
    }
    if (step === 'Agent' && place?.kind === 'kubernetes' && !hasAskedAccount) {
      offered = await deps.prompter.wait('Reading the Scalr account', deps.pools(), [...heading]);
      hasAskedAccount = true;
      return true;
    }
    const isEarly = hasCluster(place) && STEPS.indexOf(step) < STEPS.indexOf('Purpose');
    if (place === undefined || readFor === whereKey() || isEarly) return false;
    cluster = hasCluster(place)
      ? await deps.prompter.wait('Reading the cluster', deps.read(place.context), [...heading])
      : NO_CLUSTER;
    await deps.prompter.wait('Checking helm and the chart repository', tryRequirements(), [
      ...heading,
    ]);
    readFor = whereKey();
    store.merge(cluster.answers, {now: deps.now()});
    if (place.kind === 'kubernetes' && !cluster.isRead)
      interview.note(`${sentences(cluster.summary)} You can still write values.yaml.`);
    return true;
  };

  const asking = {
    ...deps,
    facts,
    before,
    tryRequirements,
    offers: (setting: Setting) =>
      setting === cacheStorageClass ? (cluster?.storageClasses.map(choiceOf) ?? []) : [],
    whyExcluded: (setting: Setting, value: unknown) => whyExcluded(setting, value, store, facts()),
  };

  const settingQuestion = ({
    setting,
    step,
    when,
    box,
    isConfirmed,
    hasChartDefault,
    hides,
    suggested,
    ...options
  }: SettingQuestion): Question => ({
    id: setting.id,
    step,
    message: setting.question,
    isOpen() {
      const answer = store.answer(setting);
      const isTaken =
        answer !== undefined &&
        answer.source !== 'prompt' &&
        !(isConfirmed && answer.source === 'cluster');
      if (store.asked.has(setting.id) || isTaken) return false;
      // Whether the cluster answers it is not known yet.
      if (setting === (cloud as Setting) && hasCluster(store.place) && readFor !== whereKey())
        return false;
      if (setting === (concurrency as Setting) && !limitsRuns(store, facts())) return false;
      if (
        store.pool !== undefined &&
        (setting === (token as Setting) || setting === (tokenSecret as Setting))
      )
        return false;
      if (hostOf(store) !== undefined && hasOneChoice(setting, store)) return false;
      const applies =
        missingFor(setting, store.get) === undefined && (when?.(store.get, store.isGiven) ?? true);
      return (
        applies &&
        (box === undefined || BOXES.some((each) => each.id === box && store.isOpen(each))) &&
        !isForeign(setting, store)
      );
    },
    answer() {
      if (
        setting === (token as Setting) ||
        missingFor(setting, store.get) !== undefined ||
        isForeign(setting, store)
      )
        return undefined;
      const answer = store.answer(setting);
      return answer === undefined
        ? (options.orElse ?? defaultText(setting, store, facts()) ?? 'not set')
        : answerText(setting, answer);
    },
    async ask(shown) {
      const isOnHost = hostOf(store) !== undefined;
      const preselected = typeof suggested === 'function' ? suggested(store.get) : suggested;
      const how = {
        orElse: hasChartDefault ? 'Chart default' : undefined,
        suggested: preselected,
        ...options,
        ...(isOnHost ? emptyOnHost(setting) : {}),
      };
      const byDefault = hasChartDefault ? chartDefaultOf(setting, store, facts()) : undefined;
      const machine = prefilled(setting, store, deps.env);
      const kept = store.missingSecrets().find((each) => each.setting === setting)?.kept;
      const draft =
        machine !== undefined && setting.kind.format(machine.value)[0] === kept ? undefined : kept;
      const current = store.answer(setting) ?? (draft ? undefined : machine);
      const empty = byDefault === undefined ? how.orElse : defaultText(setting, store, facts());
      const sizes = setting === concurrency ? sizeNote(store, cluster) : undefined;
      const heading = [
        ...shown.heading,
        ...(sizes === undefined ? [] : [sizes]),
        ...(draft ? [COMPLETE] : []),
      ];
      const asked = hostWording(store, setting);
      const askOnce = () =>
        ask(
          asked,
          {...how, byDefault, defaultOf: defaultWord(store), current, draft, ...shown, heading},
          store,
          {
            ...asking,
            hidesExcluded: isOnHost,
            isHidden: (value) => hides?.(value, store.get) ?? false,
          },
        );
      let answer = await askOnce();
      while (answer !== undefined && !(await mayStore(answer, store, deps.prompter)))
        answer = await askOnce();
      // A secret is not shown, so an empty answer keeps it.
      const isKept =
        answer === undefined && setting === token && store.answer(setting) !== undefined;
      if (!isKept) put(setting, answer);
      const caution = answer && setting.caution?.(answer.value, store.get);
      if (caution !== undefined) interview.note(`! ${caution}`);
      if (isKept) return 'unchanged';
      return answer === undefined
        ? (empty?.replace(/^Enter: /, '') ?? 'none')
        : answerText(setting, answer);
    },
  });

  const put = (setting: Setting, answer: Answer | undefined): void => {
    if (answer === undefined) store.delete(setting);
    else store.set(setting, answer);
    dropConsent(store);
    if (setting === workloadIdentity) dropRole(store);
    for (const dropped of store.dropUseless(setting))
      interview.note(`Removed the answer for ${settingName(dropped)}: it no longer applies.`);
  };

  const of = (...settings: readonly Setting[]) =>
    QUESTIONS.filter(({setting}) => settings.includes(setting)).map(settingQuestion);
  const inStep = (step: string) =>
    QUESTIONS.filter((each) => each.step === step).map(settingQuestion);
  const network = inStep('Network');
  const afterIdentity = network.findIndex(({id}) => id === workloadIdentity.id) + 1;
  const questions: Question[] = [
    targetQuestion(store, deps.contexts, deps),
    requirementsQuestion(store, () => missing, asking),
    installedQuestion(store, () => installed, asking),
    ...of(cloud),
    poolQuestion(store, () => offered, {
      prompter: deps.prompter,
      newName: () => contextName(store),
    }),
    ...inStep('Agent'),
    ...inStep('Purpose'),
    boxesQuestion(store, asking),
    ...secretsAgain(store).map((setting) =>
      settingQuestion({step: 'Network', setting, orElse: 'Not set'}),
    ),
    ...network.slice(0, afterIdentity),
    roleQuestion(store, put, deps),
    ...network.slice(afterIdentity),
    ...inStep('Cache'),
    ...inStep('Size'),
    chartQuestion(store, facts, deps, (setting, reason) => {
      interview.note(`Removed the answer for ${settingName(setting)}: ${reason}.`);
      interview.update(setting.id, 'removed');
    }),
    ...inStep('Chart'),
  ];
  const interview: Interview = new Interview(store, questions, asking);
  return deps.prompter.session(
    () => review(store, interview, questions, asking),
    () => `${deps.title()}${interview.above()}`,
  );
}

/** A name for a pool of this cluster: the last part of an ARN or path. */
const contextName = ({place}: AnswerStore): string =>
  (place?.kind === 'kubernetes' && place.context?.split(/[/:]/).at(-1)) || 'kubernetes';

function choiceOf({name, provisioner, isDefault, accessModes}: StorageClass): Choice {
  const modes = isKnown(accessModes) ? accessModes.value.join(', ') : 'access modes unknown';
  return {
    value: name,
    label: isDefault ? `${name} (default)` : name,
    description: `${provisioner}: ${modes}`,
  };
}

const COMPLETE = 'The user name and password were not saved: replace the placeholders.';

/** Secrets of the resumed session that no other question asks for. */
const secretsAgain = (store: AnswerStore): Setting[] =>
  store
    .missingSecrets()
    .flatMap(({setting}) => (QUESTIONS.some((each) => each.setting === setting) ? [] : [setting]));

/** The proxy of this machine, as an answer to edit. */
function prefilled(
  setting: Setting,
  store: AnswerStore,
  env: WizardDeps['env'],
): Answer | undefined {
  const name =
    setting === httpsProxy ? 'HTTPS_PROXY' : setting === noProxy ? 'NO_PROXY' : undefined;
  const text =
    name === undefined || store.asked.has(setting.id)
      ? undefined
      : env[name] || env[name.toLowerCase()] || undefined;
  try {
    return text === undefined
      ? undefined
      : {value: setting.kind.parse(text, {now: new Date(0)}), source: 'prompt'};
  } catch {
    // What this machine uses may not be valid for the agent.
    return undefined;
  }
}

/** What one run requests, and what the nodes offer. */
function sizeNote(store: AnswerStore, cluster: DiscoveredCluster | undefined): string | undefined {
  const target = likelyTarget(store, cluster?.facts ?? {});
  if (target === undefined) return undefined;
  const {cpuRequested, memoryRequested} = sizing(
    new Settings(new Map([[concurrency.id, {value: 1, source: 'default'}]])),
    target.chart,
  );
  const likely =
    store.get(chart) === undefined ? `${target.chart}, the chart recommended so far` : target.chart;
  const run = `One run requests ${cpuRequested} CPU and ${memoryRequested} memory with ${likely}.`;
  const {nodes} = cluster ?? {};
  if (nodes?.count === 0) return `${run} No node is ready now.`;
  return nodes === undefined
    ? run
    : `${run} ${nodes.count === 1 ? 'The node has' : `The ${nodes.count} nodes have`} ${nodes.cpuMilli / 1000n} CPU and ${nodes.memoryMilli / 1000n / 1024n ** 3n}Gi in total.`;
}
