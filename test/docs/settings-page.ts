import type {Setting} from '../../src/settings/define.ts';
import {words} from './commands.ts';
import {safe, table} from './markdown.ts';
import {
  chartDefaultsOf,
  defaultOf,
  partlyTaken,
  settings,
  spelled,
  takenBy,
  withoutKey,
} from './settings.ts';

const groups = [...new Set(settings.map(({group}) => group))];

/** docs/settings.md: all that is declared of every setting, in the order in which an operator is asked. */
export const settingsPage = (): string =>
  [words('settings.md'), '', overview(), '', ...groups.map(groupText)].join('\n');

const overview = (): string =>
  table(
    ['Group', 'Setting', 'Description', 'Charts'],
    settings.map((each) => [
      each.group,
      `[${spelled(each)}](#${each.id})`,
      each.summary,
      [
        takenBy(each),
        ...partlyTaken(each),
        ...(withoutKey(each) === '' ? [] : [`no key in ${withoutKey(each)}`]),
      ].join('; '),
    ]),
  );

const groupText = (group: Setting['group']): string =>
  [`## ${group}`, '', ...settings.filter((each) => each.group === group).map(settingText)].join(
    '\n',
  );

export function settingText(setting: Setting): string {
  const {id, env, reference, meanings, appliesWhen, isForRuns, kind} = setting;
  const charts = takenBy(setting);
  const fallback = defaultOf(setting);
  const chartDefaults = chartDefaultsOf(setting);
  const facts = [
    spelled(setting),
    `\`${env}\``,
    `answers key \`${id}\``,
    ...(fallback === '' ? [] : [`default ${fallback}`]),
    ...(fallback !== '' || chartDefaults === '' ? [] : [`chart default ${chartDefaults}`]),
    ...(kind.list ? ['may be repeated'] : []),
    ...(charts === 'all' ? [] : [`only in ${fullNames(charts)}`]),
    ...partlyTaken(setting).map((text) => fullNames(text.replace(': ', ' only in '))),
    ...(withoutKey(setting) === '' ? [] : [`no key in ${fullNames(withoutKey(setting))}`]),
    ...(isForRuns ? ['not with `--purpose vcs`'] : []),
    ...(appliesWhen === undefined || appliesWhen.test(() => undefined)
      ? []
      : [`only with ${appliesWhen.needs}`]),
  ];
  const choices = Object.entries(meanings ?? {}).map(
    ([option, meaning]) => `- \`${option}\`: ${meaning}`,
  );
  return [
    `### ${id}`,
    '',
    safe(textOf(setting)),
    '',
    ...(choices.length === 0 ? [] : [...choices, '']),
    facts.join(' · '),
    '',
    ...(reference ? [`Source: ${reference}`, ''] : []),
  ].join('\n');
}

const fullNames = (charts: string): string =>
  charts.replaceAll(/\b(?:k8s|local|job)\b/g, 'agent-$&');

/** The summary and the explanation, each sentence once. */
function textOf({summary, explained, kind}: Setting): string {
  const isRepeated = kind.list ? 'Can be repeated.' : '';
  const sentences = [summary, isRepeated, explained ?? ''].flatMap((text) =>
    text.split(/(?<=\.) (?=[A-Z])/),
  );
  return sentences
    .filter(
      (sentence, index) =>
        sentence !== '' && !sentences.slice(0, index).some((each) => isSame(each, sentence)),
    )
    .join(' ');
}

const isSame = (one: string, other: string): boolean => wordsOf(one) === wordsOf(other);

const wordsOf = (sentence: string): string =>
  sentence
    .toLowerCase()
    .replace(/^it |[^a-z0-9 ]/g, '')
    .trim();
