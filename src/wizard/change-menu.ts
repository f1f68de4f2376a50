import {unlessBack} from '../ground/errors.ts';
import type {Choice, Prompter} from '../ground/system/system.ts';
import {token} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {type Group, type Setting, settingLabel} from '../settings/define.ts';
import {missingFor} from '../settings/purpose.ts';
import {chart, chartSource, chartVersion, namespace, release, target} from '../settings/release.ts';
import {isPossible} from './next.ts';
import {isForeign} from './possible-answers.ts';
import {TOPICS, type Topic, type TopicView, valueText} from './topics.ts';
import type {WizardState} from './wizard-state.ts';

const OTHER = 'other';
const DONE = 'done';
const LABEL_WIDTH = 12;
/** Multi-line values, which can only be set by flags. */
const NOT_HERE: readonly Group[] = ['Chart values'];
/** An installed release keeps its place. */
const OF_RELEASE: readonly Setting[] = [namespace, release];

/** A chart source has one chart in one version. It is chosen together with them, where the repository is missing. */
const isOfSource = (setting: Setting, {answers}: WizardState): boolean =>
  setting === (chartSource as Setting) ||
  (answers.get(chartSource) !== undefined && [chart.id, chartVersion.id].includes(setting.id));

/** Asks what to change, starting at the row of the question `last`. Returns the IDs of the questions to ask; undefined to return to the review. @throws GoBack */
export async function chooseTopic(
  view: TopicView,
  prompter: Prompter,
  heading: readonly string[],
  last: string | undefined,
): Promise<readonly string[] | undefined> {
  const topics = TOPICS.filter(({isOffered}) => isOffered?.(view) ?? true);
  const before = topics.find(({questions}) => questions.includes(last ?? ''))?.label;
  for (;;) {
    const picked = await prompter.select({
      message: 'Change',
      heading,
      help: ['Each entry asks one to three questions. All other answers are kept.'],
      canGoBack: true,
      choices: [
        ...topics.map((topic) => rowOf(topic, view)),
        {value: OTHER, label: 'All other settings…', description: 'resources, images, TLS, logs'},
        {value: DONE, label: 'Back to the review'},
      ],
      default: before ?? (last && OTHER),
    });
    if (picked === DONE) return undefined;
    const topic = topics.find(({label}) => label === picked);
    if (topic !== undefined) return topic.questions;
    const setting = await chooseSetting(view, prompter);
    if (setting !== undefined) return [setting.id];
  }
}

function rowOf(topic: Topic, view: TopicView): Choice {
  const {label, questions} = topic;
  const isOpen = questions.some((id) => isPossible(id, view.state, view.known));
  const disabled = topic.whyNot?.(view) ?? (isOpen ? undefined : 'not used with these answers');
  return {
    value: label,
    label: `${label.padEnd(LABEL_WIDTH)}${topic.value(view)}`,
    description: topic.about?.(view),
    disabled,
  };
}

/** One of all settings; undefined after Esc. */
async function chooseSetting(view: TopicView, prompter: Prompter): Promise<Setting | undefined> {
  const groups = [...new Set(catalog.map(({group}) => group))].filter(
    (group) => changeable(group, view).length > 0,
  );
  for (let last: string | undefined; ; ) {
    const group = await unlessBack(
      prompter.select({
        message: 'All settings',
        heading: [],
        help: ['Available as flags only: --chart-source, --values-file, --set and --extra-env.'],
        canGoBack: true,
        default: last,
        choices: groups.map((each) => ({
          value: each,
          label: each,
          description: summaryOf(each, view),
        })),
      }),
      undefined,
    );
    if (group === undefined) return undefined;
    last = group;
    const settings = changeable(group as Group, view);
    const id = await unlessBack(prompter.select(questionAbout(group, settings, view)), undefined);
    if (id !== undefined) return settings.find((each) => each.id === id);
  }
}

const questionAbout = (group: string, settings: readonly Setting[], view: TopicView) => ({
  message: group,
  heading: [],
  help: ['Settings without a value use the chart default.'],
  canGoBack: true,
  choices: settings.map((setting) => ({
    value: setting.id,
    label: settingLabel(setting),
    description: valueText(setting, view) ?? 'not set',
  })),
});

const changeable = (group: Group, {state}: TopicView): Setting[] =>
  NOT_HERE.includes(group)
    ? []
    : catalog.filter(
        (setting) =>
          setting.group === group &&
          setting.id !== target.id &&
          !(state.installed !== undefined && OF_RELEASE.includes(setting)) &&
          (setting.onlyEnv === undefined || setting.id === token.id) &&
          missingFor(setting, state.answers.get) === undefined &&
          !isOfSource(setting, state) &&
          !isForeign(setting, state),
      );

const summaryOf = (group: Group, view: TopicView): string =>
  changeable(group, view)
    .filter((setting) => view.state.answers.answer(setting) !== undefined)
    .map((setting) => `${settingLabel(setting)} ${valueText(setting, view)}`)
    .join(', ')
    .replace(/^(.{40}).+/, '$1…') || 'chart defaults';
