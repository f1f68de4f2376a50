import {type AgentOption, type OptionProblem, optionMeantBy, optionNamed, optionsOfKeys} from '../../charts/agent-options.ts';
import {CHARTS} from '../../charts/charts.ts';
import type {Target} from '../../charts/define.ts';
import {within} from '../../charts/releases.ts';
import {scopeOf} from '../../charts/support.ts';
import {at, getAt, isMap, sameTree, type Tree} from '../../ground/tree.ts';
import {findingAt, type TreePath, type ValuesFinding, type ValuesSource} from './finding.ts';

/** A variable of a container: the path of its name, of its value, and the value. */
interface Variable {
  name: string;
  named: TreePath;
  path: TreePath;
  value: Tree;
  /** True in the containers that the agent itself runs in. */
  isAgent: boolean;
  isInMap: boolean;
}

/** Options of the agent in keys of the chart and in extra variables: their names, types, allowed values and units. */
export const checkVariables = (source: ValuesSource, target: Target): ValuesFinding[] => [
  ...checkKeysOfOptions(source, target),
  ...variablesOf(source, target).flatMap((each) => [...checkName(each, source), ...checkValue(each, source)]),
];

function checkKeysOfOptions(source: ValuesSource, target: Target): ValuesFinding[] {
  const {defaults} = scopeOf(target, () => undefined);
  return optionsOfKeys(target.chart).flatMap(({key, option}) => {
    const path = at(key);
    const value = getAt(source.values, path);
    const isDefault = value === undefined || sameTree(value, getAt(defaults, path));
    return isDefault ? [] : checkOption(option, value, path, source);
  });
}

function checkName({name, named, isAgent, isInMap}: Variable, source: ValuesSource): ValuesFinding[] {
  const meant = isAgent && optionNamed(name, isAgent) === undefined ? optionMeantBy(name) : undefined;
  if (meant === undefined) return [];
  const {option, isOld, isClear} = meant;
  const message = isOld ? `${name} is the old name of this variable.` : `Unknown agent option ${name}.`;
  const fix = isInMap ? {path: named, name: option.name} : {path: named, value: option.name};
  const details = {severity: 'warning', suggestion: option.name, ...(isClear ? {fix} : {})} as const;
  return [findingAt(source, named, 'UNKNOWN_VARIABLE', message, details)];
}

function checkValue({name, path, value, isAgent}: Variable, source: ValuesSource): ValuesFinding[] {
  if (value === null) {
    if (source.isOverride?.(path)) return [];
    const message = 'null sets the variable to an empty string.';
    return [findingAt(source, path, 'NULL_VALUE', message, {severity: 'warning', suggestion: 'Remove it, or set a value'})];
  }
  const option = optionNamed(name, isAgent);
  return option === undefined ? [] : checkOption(option, value, path, source);
}

function checkOption({name, form}: AgentOption, value: Tree, path: TreePath, source: ValuesSource): ValuesFinding[] {
  const text = typeof value === 'object' ? '' : (source.written(path) ?? String(value));
  // The kubelet fills in $(NAME).
  const problem = text === '' || /\$\([\w.-]+\)/.test(text) ? undefined : form?.(text);
  return problem === undefined ? [] : [findingOf(name, problem, path, source)];
}

const findingOf = (name: string, {message, suggestion, isUnlikely}: OptionProblem, path: TreePath, source: ValuesSource): ValuesFinding =>
  findingAt(source, path, isUnlikely ? 'UNLIKELY_AMOUNT' : 'WRONG_OPTION', `${name}: ${message}`, {
    severity: isUnlikely ? 'warning' : 'error',
    suggestion,
  });

/** The variables below every chart key for variables; a key for several containers gets one finding. */
function variablesOf({values}: ValuesSource, {chart, version}: Target): Variable[] {
  const containers = CHARTS[chart].containers.filter((each) => within(version, each.in));
  const paths = new Map(containers.flatMap(({name, extraEnv}) => extraEnv.map((path) => [path, name !== 'runner'] as const)));
  return [...paths].flatMap(([dottedPath, isAgent]): Variable[] => {
    const path = at(dottedPath);
    const found = getAt(values, path);
    if (isMap(found)) {
      return Object.entries(found).map(([name, value]) => {
        const here = [...path, name];
        return {name, named: here, path: here, value, isAgent, isInMap: true};
      });
    }
    return (Array.isArray(found) ? found : []).flatMap((item, index) => {
      const name = isMap(item) ? item['name'] : undefined;
      if (!isMap(item) || typeof name !== 'string') return [];
      // An item without a value is empty on purpose, or has a source.
      const value = Object.hasOwn(item, 'value') ? (item['value'] as Tree) : '';
      return [{name, named: [...path, index, 'name'], path: [...path, index, 'value'], value, isAgent, isInMap: false}];
    });
  });
}
