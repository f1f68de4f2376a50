import {CHARTS} from '../charts/charts.ts';
import type {ChartRequirements, Reason} from '../charts/recommend.ts';
import type {ChartName} from '../charts/releases/chart-name.ts';
import {newestOf} from '../charts/releases/target.ts';
import {IDENTITIES} from '../charts/shared/clouds.ts';
import {IDENTITY_ANNOTATIONS} from '../charts/shared/setting-rules.ts';
import {hasKey, unsupported} from '../charts/support.ts';
import {GoBack} from '../ground/errors.ts';
import type {Choice, Prompter} from '../ground/system/system.ts';
import {lowerFirst} from '../ground/text.ts';
import {cloud} from '../settings/cluster.ts';
import {type Setting, settingName} from '../settings/define.ts';
import {serviceAccountAnnotation} from '../settings/identity.ts';
import {withoutCredentials} from '../settings/kinds/urls.ts';
import {metadataService, workloadIdentity} from '../settings/network.ts';
import {concurrency, isolation, purpose} from '../settings/purpose.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Answer, Settings} from '../settings/settings.ts';
import type {AnswerStore} from './answer-store.ts';
import type {InterviewDeps, Question} from './interview.ts';
import {
  chartDefaultOf,
  hostOf,
  incompleteSettings,
  isForeign,
  recommendSoFar,
  refusalInWords,
} from './possible-answers.ts';
import {BOXES, type Box} from './steps.ts';

/** Which further questions about the network apply. */
export function boxesQuestion(
  store: AnswerStore,
  {
    prompter,
    env,
    facts,
  }: {
    prompter: Prompter;
    env: Readonly<Record<string, string | undefined>>;
    facts(): ChartRequirements;
  },
): Question {
  const withDefault = (id: string, description: string): string => {
    const unset = id === 'metadata' ? chartDefaultOf(metadataService, store, facts()) : undefined;
    return unset === undefined
      ? description
      : `${description} (chart default: ${unset === 'block' ? 'blocked' : 'allowed'})`;
  };
  const available = () =>
    BOXES.filter(
      ({settings, forRuns, forPods}) =>
        !settings.some(store.isFixed) &&
        !(forPods && hostOf(store)) &&
        (!forRuns || store.get(purpose) === 'runs') &&
        !settings.every((each) => isForeign(each, store)),
    );
  return {
    id: 'network',
    step: 'Network',
    message: 'Which of these apply to your network?',
    isOpen: () => !store.asked.has('network') && available().length > 0,
    answer: () => selectedText(available(), store.boxes),
    async ask(shown) {
      const boxes = available();
      const proxy = env['HTTPS_PROXY'] || env['https_proxy'];
      const selected = await prompter.checkbox({
        ...shown,
        message: this.message,
        help: [
          'Select all that apply. Each selection adds one or two questions.',
          'With direct internet access, usually none of these apply.',
          'https://docs.scalr.io/docs/agent-pools',
        ],
        choices: boxes.map(({id, label, description}) => ({
          value: id,
          label,
          description:
            id === 'proxy' && proxy
              ? `HTTPS_PROXY is ${withoutCredentials(proxy)} on this machine`
              : withDefault(id, description),
        })),
        selected: [...store.boxes],
      });
      for (const {id, settings} of boxes)
        if (!selected.includes(id)) for (const setting of settings) store.delete(setting);
      store.boxes = new Set(selected);
      if (!selected.includes('identity')) dropRole(store);
      return selectedText(boxes, store.boxes);
    },
  };
}

const selectedText = (boxes: readonly Box[], selected: ReadonlySet<string>): string =>
  boxes.flatMap(({id, label}) => (selected.has(id) ? [label] : [])).join(', ') || 'none';

/** What the role of a workload identity is called. */
const ROLES: Readonly<Record<string, {message: string; help: string}>> = {
  irsa: {
    message: 'ARN of the IAM role for runs',
    help: 'The role trusts the OIDC provider of the cluster.',
  },
  azure: {
    message: 'Client ID of the managed identity for runs',
    help: 'The identity has a federated credential for the service account.',
  },
};

/** The role that runs act as, where the workload identity needs one. */
export function roleQuestion(
  store: AnswerStore,
  put: (setting: Setting, answer: Answer | undefined) => void,
  {prompter}: {prompter: Prompter},
): Question {
  const role = () => ROLES[store.get(workloadIdentity) ?? ''];
  const keyOf = () => IDENTITY_ANNOTATIONS[store.get(workloadIdentity) ?? ''] as string;
  const roleOf = (): string | undefined => store.get(serviceAccountAnnotation)?.[keyOf()];
  return {
    id: 'identity-role',
    step: 'Network',
    get message() {
      return role()?.message ?? '';
    },
    isOpen: () =>
      !store.asked.has('identity-role') &&
      role() !== undefined &&
      !store.isFixed(serviceAccountAnnotation),
    answer: () => role() && (roleOf() ?? 'not set'),
    async ask(shown) {
      const key = keyOf();
      const {form, example} = IDENTITIES[key] as (typeof IDENTITIES)[string];
      const {[key]: before, ...others} = store.get(serviceAccountAnnotation) ?? {};
      const text = await prompter.input({
        ...shown,
        message: this.message,
        help: [
          role()?.help ?? '',
          `Written as annotation ${key} of the service account.`,
          'Flag --service-account-annotation. https://kubernetes.io/docs/concepts/security/service-accounts/',
        ],
        note: 'Enter: set it later',
        default: before,
        isPrefilled: true,
        validate: (typed) =>
          typed === '' || form.test(typed) ? undefined : `Use a form such as ${example}.`,
      });
      const value = text === '' ? others : {...others, [key]: text};
      put(
        serviceAccountAnnotation,
        Object.keys(value).length === 0 ? undefined : {value, source: 'prompt'},
      );
      return text || 'not set';
    },
  };
}

/** Removes a role that belongs to another identity, so that it is asked for again. */
export function dropRole(store: AnswerStore): void {
  if (store.isFixed(serviceAccountAnnotation)) return;
  const keys = Object.values(IDENTITY_ANNOTATIONS);
  const others = Object.entries(store.get(serviceAccountAnnotation) ?? {}).filter(
    ([key]) => !keys.includes(key),
  );
  store.delete(serviceAccountAnnotation);
  if (others.length > 0)
    store.set(serviceAccountAnnotation, {value: Object.fromEntries(others), source: 'prompt'});
  store.asked.delete('identity-role');
}

/** The three charts with reasons. Opens again when another chart is recommended after a change, or the chart does not support an answer. */
export function chartQuestion(
  store: AnswerStore,
  facts: () => ChartRequirements,
  {prompter}: Pick<InterviewDeps, 'prompter'>,
  onRemoved: (setting: Setting, reason: string) => void,
): Question {
  /** Why the selected chart is asked for again. */
  const news = (): string | undefined => {
    const chosen = store.get(chart);
    if (chosen === undefined || store.isFixed(chart)) return undefined;
    const [refused] = unsupported(targetOf(chosen, store), incompleteSettings(store));
    if (refused !== undefined)
      return `${chosen} does not support an answer: ${refusalInWords(refused.message)}.`;
    // An installed chart stays until the user selects another one.
    if (store.installed?.get(chart.id) === chosen) return undefined;
    const now = recommendSoFar(store, facts())?.chart;
    return now === undefined || now === store.recommended || now === chosen
      ? undefined
      : `With these answers, ${now} is recommended instead of ${chosen}.`;
  };
  return {
    id: chart.id,
    step: 'Chart',
    message: chart.question,
    isOpen: () =>
      hostOf(store) === undefined &&
      !store.isFixed(chart) &&
      store.answer(chartSource) === undefined &&
      recommendSoFar(store, facts()) !== undefined &&
      (!store.asked.has(chart.id) || news() !== undefined),
    answer: () =>
      store.isFixed(chart) || store.answer(chartSource) !== undefined
        ? undefined
        : store.get(chart),
    async ask(shown) {
      const found = recommendSoFar(store, facts());
      if (found === undefined) throw new GoBack();
      const change = news();
      const settings = incompleteSettings(store);
      const reasons = new Map([found, ...found.rejected].map((each) => [each.chart, each.reasons]));
      const picked = (await prompter.select({
        ...shown,
        heading: change === undefined ? shown.heading : [...shown.heading, change],
        message: chart.question,
        help: [
          'All three charts run the same agent. They differ in where runs execute and in their cluster requirements.',
          'Answers that the selected chart does not support are removed and listed.',
          'Compare the charts with scalr-agent recommend. https://github.com/Scalr/agent-helm',
        ],
        choices: [...reasons].map(([name, each]) =>
          choiceOf(name, each, settings, name === found.chart),
        ),
        default: change === undefined ? (store.get(chart) ?? found.chart) : found.chart,
      })) as ChartName;
      store.set(chart, {value: picked, source: 'prompt'});
      store.recommended = found.chart;
      for (const {setting, message} of unsupported(targetOf(picked, store), settings)) {
        store.delete(setting);
        store.asked.add(setting.id);
        onRemoved(setting, refusalInWords(message));
      }
      if (
        store.answer(concurrency)?.source === 'prompt' &&
        !hasKey(targetOf(picked, store), concurrency)
      ) {
        store.delete(concurrency);
        onRemoved(concurrency, 'the chart starts a pod for every run');
      }
      return picked;
    },
  };
}

const targetOf = (name: ChartName, {get}: Pick<Settings, 'get'>) => ({
  chart: name,
  version: get(chartVersion) ?? newestOf(name),
});

/** Facts about the cluster and the pool; no chart choice may drop them. */
const FACTS: readonly Setting[] = [cloud, purpose, isolation];

/** Facts, and settings from flags, variables and files are kept; a chart that does not support them is disabled. */
function choiceOf(
  name: ChartName,
  reasons: readonly Reason[],
  settings: Settings,
  isRecommended: boolean,
): Choice {
  const target = targetOf(name, settings);
  const refused = unsupported(target, settings);
  const given = refused.find(
    ({setting}) => FACTS.includes(setting) || settings.answer(setting)?.source !== 'prompt',
  );
  const excluded = reasons.find(
    ({verdict, message}) =>
      verdict === 'excluded' && !refused.some((each) => message === `${each.message}.`),
  );
  const reason =
    given === undefined
      ? excluded && lowerFirst(excluded.message.replace(/\.$/, ''))
      : refusalInWords(given.message);
  const lost = refused.map(({setting}) => settingName(setting)).join(', ');
  const character =
    settings.get(purpose) === 'vcs' ? 'connects Scalr with a private VCS' : CHARTS[name].character;
  return {
    value: name,
    label: `${name} ${target.version}`,
    description: `${isRecommended ? 'recommended: ' : ''}${character}${lost === '' ? '' : `; removes your answer for ${lost}`}`,
    disabled: reason && `not possible here: ${reason}`,
  };
}
