import type {DiscoveredCluster} from '../answers/cluster-answers.ts';
import type {ChartRequirements} from '../charts/recommend.ts';
import {token, tokenSecret} from '../settings/agent.ts';
import {cacheStorageClass} from '../settings/cache.ts';
import {cloud} from '../settings/cluster.ts';
import type {Setting} from '../settings/define.ts';
import {concurrency, missingFor} from '../settings/purpose.ts';
import {chart} from '../settings/release.ts';
import {type Answer, Settings} from '../settings/settings.ts';
import {answerText} from '../ui/prompt-text.ts';
import {sizing} from '../values/sizing.ts';
import {type AnswerStore, hasCluster} from './answer-store.ts';
import {type AskDeps, ask} from './ask.ts';
import {mayStore} from './clear-text.ts';
import type {Question, QuestionFrame} from './interview.ts';
import {ofMachine} from './machine-proxy.ts';
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
} from './possible-answers.ts';
import {cacheConflict, defaultClassRow} from './shared-cache.ts';
import {BOXES, type SettingQuestion} from './steps.ts';

/** What the questions about settings need. */
export interface SettingQuestionDeps extends AskDeps {
  env: Readonly<Record<string, string | undefined>>;
  cluster(): DiscoveredCluster | undefined;
  facts(): ChartRequirements;
  /** The cluster of the target has answered, or there is none. */
  isClusterRead(): boolean;
  /** Stores the answer, and drops others that it leaves without effect. */
  put(setting: Setting, answer: Answer | undefined): void;
  /** Shows a text above the next question. */
  note(text: string): void;
}

/** The question for one setting, as `asked` describes it. */
export const settingQuestion = (
  asked: SettingQuestion,
  store: AnswerStore,
  deps: SettingQuestionDeps,
): Question => ({
  id: asked.setting.id,
  step: asked.step,
  message: asked.setting.question,
  isOpen: () =>
    conflictOf(asked.setting, store, deps) !== undefined || isUnanswered(asked, store, deps),
  answer: () => storedText(asked, store, deps),
  ask: (shown) => askSetting(asked, shown, store, deps),
});

const conflictOf = (
  setting: Setting,
  store: AnswerStore,
  {cluster, facts}: SettingQuestionDeps,
): string | undefined => cacheConflict(setting, store, cluster()?.storageClasses ?? [], facts());

/** True if the question applies, and nothing has answered it. */
function isUnanswered(
  {setting, isConfirmed, when, box}: SettingQuestion,
  store: AnswerStore,
  {facts, isClusterRead}: SettingQuestionDeps,
): boolean {
  const answer = store.answer(setting);
  const isTaken =
    answer !== undefined &&
    answer.source !== 'prompt' &&
    !(isConfirmed && answer.source === 'cluster');
  if (store.asked.has(setting.id) || isTaken) return false;
  // Whether the cluster answers it is not known yet.
  if (setting === (cloud as Setting) && hasCluster(store.place) && !isClusterRead()) return false;
  if (setting === (concurrency as Setting) && !limitsRuns(store, facts())) return false;
  if (store.pool !== undefined && OF_POOL.includes(setting)) return false;
  if (hostOf(store) !== undefined && hasOneChoice(setting, store)) return false;
  const applies =
    missingFor(setting, store.get) === undefined && (when?.(store.get, store.isGiven) ?? true);
  return (
    applies &&
    (box === undefined || BOXES.some((each) => each.id === box && store.isOpen(each))) &&
    !isForeign(setting, store)
  );
}

/** What an agent pool of the account answers. */
const OF_POOL: readonly Setting[] = [token, tokenSecret];

/** The stored answer in one line; undefined if the question does not apply. */
function storedText(
  {setting, orElse}: SettingQuestion,
  store: AnswerStore,
  {facts}: SettingQuestionDeps,
): string | undefined {
  if (
    setting === (token as Setting) ||
    missingFor(setting, store.get) !== undefined ||
    isForeign(setting, store)
  )
    return undefined;
  const answer = store.answer(setting);
  return answer === undefined
    ? (orElse ?? defaultText(setting, store, facts()) ?? 'not set')
    : answerText(setting, answer);
}

async function askSetting(
  asked: SettingQuestion,
  shown: QuestionFrame,
  store: AnswerStore,
  deps: SettingQuestionDeps,
): Promise<string> {
  const {setting, hides} = asked;
  const {facts} = deps;
  const options = optionsOf(asked, store, deps);
  const empty =
    options.byDefault === undefined ? options.orElse : defaultText(setting, store, facts());
  const heading = [...shown.heading, ...headingOf(setting, options.draft, store, deps)];
  const askOnce = (): Promise<Answer | undefined> =>
    ask(hostWording(store, setting), {...options, ...shown, heading}, store, {
      ...deps,
      hidesExcluded: hostOf(store) !== undefined,
      isHidden: (value) => hides?.(value, store.get) ?? false,
    });
  let answer = await askOnce();
  while (answer !== undefined && !(await mayStore(answer, store, deps.prompter)))
    answer = await askOnce();
  // A secret is not shown, so an empty answer keeps it.
  if (answer === undefined && setting === (token as Setting) && store.answer(setting) !== undefined)
    return 'unchanged';
  deps.put(setting, answer);
  const caution = answer && setting.caution?.(answer.value, store.get);
  if (caution !== undefined) deps.note(`! ${caution}`);
  return answer === undefined
    ? (empty?.replace(/^Enter: /, '') ?? 'none')
    : answerText(setting, answer);
}

/** How to ask: the default, the preselected row and the answer to edit. */
function optionsOf(
  {setting, orElse, orElseMeaning, hasChartDefault, suggested}: SettingQuestion,
  store: AnswerStore,
  {env, cluster, facts}: SettingQuestionDeps,
) {
  const isClass = setting === (cacheStorageClass as Setting);
  const machine = ofMachine(setting, store, env);
  const kept = store.missingSecrets().find((each) => each.setting === setting)?.kept;
  const isSame = machine !== undefined && setting.kind.format(machine.value)[0] === kept;
  const draft = isSame ? undefined : kept;
  return {
    orElse: orElse ?? (hasChartDefault ? 'Chart default' : undefined),
    orElseMeaning,
    suggested: typeof suggested === 'function' ? suggested(store.get) : suggested,
    ...(hostOf(store) === undefined ? {} : emptyOnHost(setting)),
    ...(isClass ? defaultClassRow(store, cluster()?.storageClasses ?? [], facts()) : {}),
    byDefault: hasChartDefault ? chartDefaultOf(setting, store, facts()) : undefined,
    defaultOf: defaultWord(store),
    current: draft ? store.answer(setting) : (machine ?? store.answer(setting)),
    draft,
  };
}

const COMPLETE = 'The user name and password were not saved: replace the placeholders.';

/** What to know before the answer. */
function headingOf(
  setting: Setting,
  draft: string | undefined,
  store: AnswerStore,
  deps: SettingQuestionDeps,
): string[] {
  const conflict = conflictOf(setting, store, deps);
  const sizes = setting === (concurrency as Setting) ? sizeNote(store, deps.cluster()) : undefined;
  return [
    ...(conflict === undefined ? [] : [`Your answer no longer fits: ${conflict}.`]),
    ...(sizes === undefined ? [] : [sizes]),
    ...(draft ? [COMPLETE] : []),
  ];
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
