import type {Target} from '../charts/define.ts';
import {chartSchema, leavesOf} from '../charts/schema.ts';
import {isMap, setAt, startsWith, type Values} from '../charts/tree.ts';
import {withoutCredentials} from '../settings/addresses.ts';
import {type Setting, spell} from '../settings/define.ts';
import {extraEnv, set} from '../settings/escape-hatch.ts';
import {httpProxy, httpsProxy} from '../settings/network.ts';
import {chart, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import type {Generated} from './generate.ts';
import type {Origin} from './render.ts';
import {toYaml} from './yaml.ts';

/** The values.yaml as a file: where it comes from, why it says what it says, and the values in the chart's own order. */
export function valuesDocument(generated: Generated): string {
  const {target, settings, values, origins} = generated;
  const release = chartSchema(target.chart)['x-releases'].find(({version}) => version === target.version);
  const comments = new Map(
    Object.keys(values).map((key) => {
      const lines = origins.filter(({path}) => path[0] === key).map((origin) => reasonFor(origin, settings));
      return [key, [...new Set(lines)]];
    }),
  );
  const header = [
    `Values of ${target.chart} ${target.version}${release ? ` (agent ${release.appVersion})` : ''}, only what differs from its defaults.`,
    'Written by scalr-agent. To write them again:',
    ...commandLines(generated).map((line) => `  ${line}`),
  ];
  return toYaml(inChartOrder(values, target), {header, comments});
}

/** True when the file may hold what is nobody else's business: free text, or a proxy with a password. */
export function isPrivate({settings}: Generated): boolean {
  const proxies = [settings.get(httpProxy), settings.get(httpsProxy)].filter((url) => url !== undefined);
  return settings.get(set) !== undefined || settings.get(extraEnv) !== undefined || proxies.some((url) => withoutCredentials(url) !== url);
}

function reasonFor({setting, why}: Origin, settings: Settings): string {
  const answer = settings.answer(setting);
  const from = answer?.because ?? (settings.isExplicit(setting) ? spell(setting) : 'default');
  return `${why ?? setting.summary.split(/[;:.](?: |$)/)[0]} (${from})`;
}

function inChartOrder(values: Values, {chart: name, version}: Target): Values {
  const ordered: Values = {};
  for (const {path} of leavesOf(chartSchema(name), version)) {
    for (const [at, value] of leafEntries(values)) if (startsWith(at, path)) setAt(ordered, at, value);
  }
  for (const [at, value] of leafEntries(values)) setAt(ordered, at, value);
  return ordered;
}

function leafEntries(tree: Values, path: readonly string[] = []): [readonly string[], Values[string]][] {
  return Object.entries(tree).flatMap(([key, below]) =>
    isMap(below) && Object.keys(below).length > 0
      ? leafEntries(below, [...path, key])
      : [[[...path, key], below] as [string[], Values[string]]],
  );
}

/** The command that writes the same file, one flag a line; secrets are replaced by the Secret that carries them. */
function commandLines({target, settings}: Generated): string[] {
  const flags = new Map<string, string[]>();
  for (const {setting, answer} of settings.entries()) {
    if (setting === chart || setting === chartVersion || !(settings.isExplicit(setting) || setting.required)) continue;
    const shown = setting.carriedBy?.() ?? setting;
    if (shown !== setting && !settings.isExplicit(setting)) continue;
    const value = shown === setting ? answer : settings.answer(shown);
    if (value !== undefined) flags.set(shown.id, spellFlags(shown, value.value, value.given));
  }
  const first = `scalr-agent values --chart ${target.chart} --chart-version ${target.version}`;
  const lines = [first, ...[...flags.values()].flat().map((flag) => `  ${flag}`)];
  return lines.map((line, index) => (index < lines.length - 1 ? `${line} \\` : line));
}

function spellFlags(setting: Setting, value: unknown, given: string | undefined): string[] {
  if (setting.kind.isSwitch) return [value ? `--${setting.id}` : `--no-${setting.id}`];
  const texts = given === undefined ? setting.kind.format(value) : [given];
  return texts.map((text) => `--${setting.id} ${quote(text)}`);
}

const quote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
