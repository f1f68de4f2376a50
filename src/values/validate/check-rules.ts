import {CHARTS} from '../../charts/charts.ts';
import type {ChartRule, Target} from '../../charts/define.ts';
import {within} from '../../charts/releases.ts';
import {scopeOf} from '../../charts/support.ts';
import {at, getAt, isMap, type Path, spellPath, type Tree} from '../../charts/tree.ts';
import type {Get, Setting} from '../../settings/define.ts';
import {brokenRules} from '../apply-rules.ts';
import {dotted, type Finding, type TreePath} from './finding.ts';
import type {Held} from './held.ts';
import type {Source} from './source.ts';

/** The rules of the chart, held against the settings that the values stand for. */
export const checkRules = (held: Held, target: Target): Finding[] =>
  // What nobody wrote is the chart's own affair: a file is not wrong for what it leaves out.
  findingsOf(held, target, (rule, isWritten) => rule.severity === 'error' || isWritten);

/** What this very version gets wrong by itself, whatever the file says: rules that hold for some versions only. */
export const checkVersion = (held: Held, target: Target): Finding[] =>
  findingsOf(held, target, (rule, isWritten) => rule.in !== undefined && rule.severity === 'warning' && !isWritten);

function findingsOf(
  {values, effective, settings, locate}: Held,
  target: Target,
  isWanted: (rule: ChartRule, isWritten: boolean) => boolean,
): Finding[] {
  const get: Get = <T>(setting: Setting<T>) => settings.get(setting.id) as T | undefined;
  const pathsOf = (setting: Setting): Path[] =>
    CHARTS[target.chart].rows.filter((row) => row.setting === setting && within(target.version, row.in)).flatMap((row) => [...row.paths]);
  const written = (setting: Setting): Path | undefined => pathsOf(setting).find((path) => getAt(values, path) !== undefined);
  return brokenRules(effective, get, (setting) => written(setting) !== undefined, target)
    .map((broken) => ({...broken, at: broken.path === undefined ? written(broken.setting) : at(broken.path)}))
    .filter(({rule, at}) => !rule.isReminder && isWanted(rule, at !== undefined && getAt(values, at) !== undefined))
    .map(({rule, setting, at = pathsOf(setting)[0] ?? [], message, suggestion}): Finding => {
      return {
        severity: rule.severity,
        code: rule.code,
        path: dotted(at),
        ...locate(at),
        message: inKeys(message, target),
        ...(suggestion ? {suggestion: inKeys(suggestion, target)} : {}),
      };
    });
}

/** Rules between keys; what the file leaves to the chart is the chart's own affair. */
export function checkValuesRules({values, effective, locate}: Held, target: Target): Finding[] {
  return CHARTS[target.chart].valuesRules
    .filter((rule) => within(target.version, rule.in))
    .flatMap(({severity, code, test}) =>
      test(effective)
        .filter(({path}) => hasAt(values, path))
        .map(({path, message, suggestion}) => ({
          severity,
          code,
          path: dotted(path),
          ...locate(path),
          message,
          ...(suggestion ? {suggestion} : {}),
        })),
    );
}

/** What the chart at hand refuses by its own schema. */
export const checkRefusals = ({values, locate}: Source, {refusals}: Target): Finding[] =>
  (refusals?.(values) ?? []).map(({path, message}) => ({
    severity: 'error',
    code: 'REFUSED_BY_CHART',
    path: dotted(path),
    ...locate(path),
    message: `The schema of the chart says: ${message}.`,
  }));

const hasAt = (tree: Tree | undefined, [key, ...rest]: TreePath): boolean => {
  if (key === undefined) return tree !== undefined;
  const below = Array.isArray(tree) ? tree[Number(key)] : isMap(tree) && Object.hasOwn(tree, key) ? tree[key as string] : undefined;
  return hasAt(below, rest);
};

/** Who wrote the file by hand knows keys, not flags; a choice is named as the chart spells it. */
const inKeys = (text: string, target: Target): string =>
  text.replaceAll(/--([a-z][a-z-]+)(?: ([\w.]+))?/g, (flag, id: string, word?: string) => {
    const row = CHARTS[target.chart].rows.find(
      (each) => each.setting.id === id && within(target.version, each.in) && each.paths.length > 0,
    );
    if (!row?.paths[0]) return flag;
    const [entry] =
      word && row.setting.kind.options?.includes(word)
        ? row.write(
            word,
            scopeOf(target, () => undefined),
          )
        : [];
    if (entry) return `${spellPath(entry[0])}: ${JSON.stringify(entry[1])}`;
    return [spellPath(row.paths[0]), word].filter(Boolean).join(' ');
  });
