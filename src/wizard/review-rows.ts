import {token, tokenFile, tokenSecret, url} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {allowClearText} from '../settings/chart-values.ts';
import {cloud} from '../settings/cluster.ts';
import {type Setting, settingLabel, settingName} from '../settings/define.ts';
import {missingFor} from '../settings/purpose.ts';
import {chart, chartSource, namespace, release, target} from '../settings/release.ts';
import type {AnswerSource} from '../settings/settings.ts';
import {answerText, sourceText} from '../ui/prompt-text.ts';
import {Answers} from './answers.ts';
import {requirementsOf} from './gathered-facts.ts';
import {hostOf} from './place.ts';
import {chartDefaultOf} from './possible-answers.ts';
import {exposesNodeIdentity, TOPICS, type Topic, type TopicView, valueText} from './topics.ts';

/** A line of the review. */
export interface ReviewRow {
  label: string;
  value: string;
  about?: string | undefined;
  settings: readonly Setting[];
  /** The decision deserves a look. */
  isRisky?: boolean;
}

const topic = (label: string): Topic => TOPICS.find((each) => each.label === label) as Topic;

/** Rows that are always shown, and others only if something is set. */
const ALWAYS = ['Cluster', 'Chart', 'Isolation', 'Runs', 'Cache'];
const IF_SET = ['Names', 'Identity', 'Placement'];
const OF_NETWORK = ['Proxy', 'Private CA', 'Metadata', 'Mirror'];

/** What will be installed, and why; of an installed release, today's values beside the changes. */
export function reviewRows(view: TopicView): ReviewRow[] {
  const isSet = ({settings}: Topic): boolean =>
    settings.some((setting) => {
      const answer = view.state.answers.answer(setting);
      return answer !== undefined && answer.value !== 'none';
    });
  const shown = [...ALWAYS.map(topic), ...IF_SET.map(topic).filter(isSet)].filter(
    ({isOffered}) => isOffered?.(view) ?? true,
  );
  const rows = [
    ...shown.map((each) => rowOf(each, view)),
    networkRow(view),
    secretRow(view),
    ...otherRows(view),
  ];
  return view.state.installed === undefined ? rows : rows.map((row) => compared(row, view));
}

const rowOf = ({label, settings, value, about}: Topic, view: TopicView): ReviewRow => ({
  label,
  settings,
  value: value(view),
  isRisky: settings.includes(cloud) && view.state.answers.answer(cloud) === undefined,
  about: [about?.(view), sourcesOf(settings, view)].filter(Boolean).join('; ') || undefined,
});

function networkRow(view: TopicView): ReviewRow {
  const topics = OF_NETWORK.map(topic).filter(({isOffered}) => isOffered?.(view) ?? true);
  const [proxy, ca, metadata, mirror] = OF_NETWORK.map((label) =>
    topics.find((each) => each.label === label)?.value(view),
  );
  const parts = [
    proxy === 'none' ? 'direct' : `proxy ${proxy}`,
    ca === 'none' ? undefined : `CA ${ca}`,
    mirror === 'none' ? undefined : `images from ${mirror}`,
  ];
  const about = [
    topic('Proxy').about?.(view),
    metadata && `metadata ${metadata}`,
    metadata && topic('Metadata').about?.(view),
    sourcesOf(
      topics.flatMap(({settings}) => settings),
      view,
    ),
  ];
  return {
    label: 'Network',
    settings: topics.flatMap(({settings}) => settings),
    value: parts.filter(Boolean).join(' · '),
    isRisky: exposesNodeIdentity(view),
    about: about.filter(Boolean).join('; ') || undefined,
  };
}

/** Where the token will be. */
function secretRow(view: TopicView): ReviewRow {
  const {answers, pool} = view.state;
  const isNew = pool !== undefined || answers.isGiven(token) || answers.isGiven(tokenFile);
  const name = answers.get(tokenSecret);
  const row = {label: 'Secrets', settings: [url, token, tokenSecret] as readonly Setting[]};
  if (hostOf(view.state) !== undefined)
    return {...row, value: isNew ? 'in agent.env' : 'added to agent.env later'};
  const {installed} = view.state;
  if (installed?.settings.has(token.id))
    return {...row, value: `new Secret ${name}`, about: 'the token is moved out of the values'};
  if (installed !== undefined) return {...row, value: `${name}`};
  const exists = view.known.objects?.secrets.some((each) => each === name) ?? false;
  const ofNew = exists ? `Secret ${name}` : `new Secret ${name}`;
  return {...row, value: isNew ? ofNew : `existing Secret ${name}`};
}

/** Shown elsewhere, or not of interest. */
const HIDDEN: readonly Setting[] = [
  ...TOPICS.flatMap(({settings}) => settings),
  target,
  allowClearText,
  chartSource,
];

/** Settings without a row of their own. */
function otherRows({state, known}: TopicView): ReviewRow[] {
  const isDefault = (setting: Setting): boolean =>
    state.installed !== undefined &&
    state.answers.get(setting) === chartDefaultOf(setting, state, requirementsOf(known));
  const settings = catalog.filter(
    (setting) =>
      !isDefault(setting) &&
      state.answers.isGiven(setting) &&
      !HIDDEN.includes(setting) &&
      missingFor(setting, state.answers.get) === undefined,
  );
  const texts = settings.map((setting) => {
    const answer = state.answers.answer(setting);
    return `${settingName(setting)} ${answer && answerText(setting, answer)}`;
  });
  return settings.length === 0 ? [] : [{label: 'Other', settings, value: texts.join(' · ')}];
}

/** The view of the installed release without changes. */
function viewOfInstalled(view: TopicView): TopicView {
  const settings = view.state.installed?.settings ?? new Map<string, unknown>();
  const answers = [...settings]
    .filter(([, value]) => value !== undefined)
    .map(([id, value]) => [id, {value, source: 'prompt' as const}] as const);
  return {...view, state: {...view.state, answers: new Answers(new Map(answers))}};
}

function compared(row: ReviewRow, view: TopicView): ReviewRow {
  const before = viewOfInstalled(view);
  const changes = row.settings
    .filter((setting) => isChanged(setting, view))
    .map((setting) => {
      if (setting.kind.isSecret) return `${settingName(setting)} replaced`;
      const texts = [before, view].map((each) => valueText(setting, each) ?? 'not set');
      return `${settingName(setting)} ${texts.join(' → ')}`;
    });
  if (changes.length === 0) return row;
  const about = [`changed: ${changes.join(', ')}`, row.about].filter(Boolean).join('; ');
  return {...row, about};
}

/** Namespace and name say which release it is. */
const WHICH: readonly Setting[] = [namespace, release];

function isChanged(setting: Setting, view: TopicView): boolean {
  const {state} = view;
  const answer = state.answers.answer(setting);
  const before = state.installed?.settings.get(setting.id);
  if (WHICH.includes(setting)) return false;
  if (before === undefined && missingFor(setting, state.answers.get) !== undefined) return false;
  if (setting.kind.isSecret) return answer !== undefined && answer.value !== before;
  const text = (value: unknown): string =>
    value === undefined ? '' : answerText(setting, {value, source: 'prompt'});
  const isSameChart = state.answers.get(chart) === state.installed?.settings.get(chart.id);
  const today = valueText(setting, viewOfInstalled(view));
  const isKnown = answer?.source === 'cluster' && (isSameChart || today === undefined);
  if (isKnown || (isSameChart && text(before) === text(answer?.value))) return false;
  // A value that was the default before, or the default of another chart.
  return today !== valueText(setting, view);
}

/** Labels of the settings that differ from the installed release. */
export const changedSettings = (view: TopicView): string[] =>
  catalog.filter((setting) => isChanged(setting, view)).map(settingLabel);

/** Where answers come from that were not given here. */
function sourcesOf(settings: readonly Setting[], {state}: TopicView): string | undefined {
  const sources = settings.flatMap((setting) => {
    const answer = state.answers.answer(setting);
    return answer === undefined || HERE.includes(answer.source)
      ? []
      : [sourceText(setting, answer)];
  });
  return sources.length === 0 ? undefined : `from ${[...new Set(sources)].join(', ')}`;
}

const HERE: readonly AnswerSource[] = ['prompt', 'cluster', 'default'];
