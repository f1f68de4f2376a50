import {CHARTS} from '../charts/charts.ts';
import {scopeOf, takes} from '../charts/support.ts';
import {newestOf} from '../charts/target.ts';
import type {Setting} from '../settings/define.ts';
import {catalogue, type Settings} from '../settings/settings.ts';

const SPELLED: Readonly<Record<string, string>> = {
  ...{ca: 'CA', cpu: 'CPU', efs: 'EFS', http: 'HTTP', https: 'HTTPS', os: 'OS', otel: 'OpenTelemetry', ttl: 'TTL', url: 'URL'},
};

/** The name of a setting inside a sentence: "cache size", "CA file". */
export const settingName = ({id}: Setting): string =>
  id
    .split('-')
    .map((word) => SPELLED[word] ?? word)
    .join(' ');

/** The name of a setting as a label: "Cache size". */
export const settingLabel = (setting: Setting): string => settingName(setting).replace(/^./, (first) => first.toUpperCase());

/** A message about flags, in the words of the questions: `--cache hostpath` becomes `cache "Node directory"`. */
export const withoutFlags = (text: string): string =>
  text.replace(/--(?:no-)?([a-z][a-z-]*)((?: |=)[\w-]+)?/g, (flag, id: string, rest = '') => {
    const setting = catalogue.find((each) => each.id === id);
    if (setting === undefined) return flag;
    const label = setting.labels?.[rest.slice(1)];
    return `${settingName(setting)}${label === undefined || /^(Yes|No)$/.test(label) ? rest : ` "${label}"`}`;
  });

/** Why a chart does not support an answer, without its name, its flags and the remedies that are flags. */
export const refusalInWords = (message: string): string => {
  const [sentence = ''] = message.split(/\.?\n/);
  const reason = sentence
    .replace(/^.* does not support --[^:]*: /, '')
    .replace(/(?:; (?:for EFS, create a PVC and )?use| unless) --.*$/, '');
  return withoutFlags(reason)
    .replace(/^agent-\w+ [\d.]+ (?=does not)/, '')
    .replace(/\.$/, '');
};

/** The charts whose newest version supports the setting. */
export const chartsWith = (setting: Setting, settings: Settings): string[] =>
  Object.values(CHARTS)
    .filter((chart) => takes(chart, setting, settings, scopeOf({chart: chart.name, version: newestOf(chart.name)}, settings.get)))
    .map(({name}) => name);
