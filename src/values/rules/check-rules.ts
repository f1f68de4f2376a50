import {chartFor} from '../../charts/chart-version.ts';
import type {Target} from '../../charts/releases/target.ts';
import {
  type AgentOption,
  optionMeantBy,
  optionNamed,
  optionsOfKeys,
} from '../../charts/shared/agent-options.ts';
import type {ChartRule, RuleFacts, RuleViolation} from '../../charts/shared/rule.ts';
import {rowsWithKeys, scopeOf} from '../../charts/support.ts';
import {credentialsIn} from '../../ground/credentials.ts';
import {failed} from '../../ground/errors.ts';
import {
  type KeyFinding,
  type SettingFinding,
  settingProblem,
  warningOf,
} from '../../ground/finding.ts';
import {keySoundsSecret} from '../../ground/secret.ts';
import {at, getAt, isMap, type Path, sameTree, spellPath, type Tree} from '../../ground/tree.ts';
import {tokenSecret} from '../../settings/agent.ts';
import {type Get, type Setting, spell} from '../../settings/define.ts';
import {getFrom} from '../../settings/settings.ts';
import type {Spell} from '../../settings/spelling.ts';
import {findingAt, type ValidationContext, type ValuesSource} from '../reading/finding.ts';
import {type TreePath, valueAt} from '../reading/tree-path.ts';

/** A rule of the chart that the values break. */
interface Violation extends RuleViolation {
  rule: ChartRule;
}

/** What rules read: values over the defaults, effective settings, and which settings the user chose. */
interface RuleInput extends Pick<RuleFacts, 'values' | 'isExplicit' | 'kubernetes' | 'spell'> {
  get: Get;
}

function violationsIn(input: RuleInput, target: Target): Violation[] {
  const {get, isExplicit} = input;
  const facts = {...scopeOf(target, get, input.spell), ...input};
  return chartFor(target).rules.flatMap((rule) => {
    const violation = rule.test(get, facts);
    return violation === undefined || (rule.whenAsked && !isExplicit(violation.setting))
      ? []
      : [{rule, ...violation}];
  });
}

/** Checks generated values against the rules. Returns the warnings. @throws ExpectedError for errors */
export function applyRules(input: RuleInput, target: Target): SettingFinding[] {
  const violations = violationsIn(input, target);
  const errors = violations.filter(({rule}) => rule.verdict === 'error');
  if (errors.length > 0) {
    throw failed(
      'CONFLICTING_SETTINGS',
      errors.map(({message}) => `${target.chart} ${target.version}: ${message}.`).join('\n'),
      errors.flatMap(({suggestion}) => (suggestion === undefined ? [] : [suggestion])),
      {
        problems: errors.map(({rule, setting: {id}, message, suggestion}) =>
          settingProblem(rule.code, {setting: id}, {message: `${message}.`, suggestion}),
        ),
        cause: new Error(errors.map(({rule}) => rule.code).join(', ')),
      },
    );
  }
  return violations.map(({rule, setting, message}) => warningOf(rule.code, message, setting.id));
}

/** The rules of the chart, checked against the settings that the values stand for. */
export const checkRules = (context: ValidationContext, target: Target): KeyFinding[] =>
  // Warnings about keys that the file does not set are no findings.
  findingsOf(context, target, (rule, isWritten) => rule.verdict === 'error' || isWritten);

/** Bugs of this chart version, regardless of the file: rules that apply to some versions only. */
export const checkVersion = (context: ValidationContext, target: Target): KeyFinding[] =>
  findingsOf(
    context,
    target,
    (rule, isWritten) => rule.in !== undefined && rule.verdict === 'warning' && !isWritten,
  );

function findingsOf(
  context: ValidationContext,
  target: Target,
  isDesired: (rule: ChartRule, isWritten: boolean) => boolean,
): KeyFinding[] {
  const {values, effective, settings} = context;
  const pathsOf = (setting: Setting): Path[] =>
    rowsWithKeys(target, setting).flatMap(({paths}) => [...paths]);
  const written = (setting: Setting): Path | undefined =>
    pathsOf(setting).find((path) => getAt(values, path) !== undefined);
  const input = {
    values: effective,
    get: getFrom(settings),
    isExplicit: (setting: Setting) => written(setting) !== undefined,
    spell: spellAsKey(target, getFrom(settings)),
  };
  return violationsIn(input, target).flatMap((violation) => {
    const {rule, setting, message, suggestion} = violation;
    const first = (violation.paths ?? []).map(at).find((each) => getAt(values, each) !== undefined);
    const path = violation.path === undefined ? (first ?? written(setting)) : at(violation.path);
    if (
      rule.isReminder ||
      !isDesired(rule, path !== undefined && getAt(values, path) !== undefined)
    )
      return [];
    return [
      findingAt(context, path ?? pathsOf(setting)[0] ?? [], {
        code: rule.code,
        message,
        verdict: rule.verdict,
        suggestion,
      }),
    ];
  });
}

/** The rules between keys; keys that the file does not set are no findings. */
export const checkValuesRules = (context: ValidationContext, target: Target): KeyFinding[] =>
  chartFor(target).valuesRules.flatMap(({verdict, code, test}) =>
    test(context.effective)
      .filter(({path}) => valueAt(context.values, path) !== undefined)
      .map(({path, message, suggestion}) =>
        findingAt(context, path, {code, message, verdict, suggestion}),
      ),
  );

/** What the values.schema.json of a given chart rejects. */
export const checkRefusals = (source: ValuesSource, {refusals}: Target): KeyFinding[] =>
  (refusals?.(source.values) ?? []).map(({path, message}) =>
    findingAt(source, path, {
      code: 'REFUSED_BY_CHART',
      message: `Rejected by the chart schema: ${message}.`,
    }),
  );

/** Settings as keys, and choices as the chart spells them: authors of a file know keys, not flags. */
const spellAsKey =
  (target: Target, get: Get): Spell =>
  (setting, value) => {
    const scope = scopeOf(target);
    const rows = rowsWithKeys(target, setting);
    const accepting = rows.filter((each) => each.accepts?.(value, scope) ?? true);
    // An emptyDir and a PVC have keys of their own for one setting.
    const row = accepting.find((each) => each.when?.(get) ?? true) ?? accepting[0] ?? rows[0];
    const [key] = row?.paths ?? [];
    if (row === undefined || key === undefined) return spell(setting, value);
    const isChoice = setting.kind.options?.includes(String(value));
    const [entry] = isChoice ? row.write(value, scope) : [];
    if (entry) return `${spellPath(entry[0])}: ${JSON.stringify(entry[1])}`;
    return value === undefined ? spellPath(key) : `${spellPath(key)} ${value}`;
  };

const TOKEN = at('agent.token');

/** The templates of every version need a token, inline or in a Secret: docs/charts/README.md, "Agent pool token". */
export function checkToken(context: ValidationContext, target: Target): KeyFinding[] {
  const inline = getAt(context.values, TOKEN);
  const hasSecret = context.settings.get(tokenSecret.id) !== undefined;
  if (inline === undefined || inline === '') {
    if (hasSecret) return [];
    const message = 'An agent pool token is required.';
    const suggestion = `${rowsWithKeys(target, tokenSecret)[0]?.paths[0]?.join('.')}: "scalr-agent-token"`;
    return [findingAt(context, TOKEN, {code: 'NO_TOKEN', message, suggestion})];
  }
  // A token alone is the operator's choice; with both, the templates drop one.
  const message = 'This token is ignored, because an existing Secret is set.';
  return hasSecret
    ? [findingAt(context, TOKEN, {code: 'KEY_OVERRIDDEN', message, verdict: 'warning'})]
    : [];
}

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
export const checkVariables = (source: ValuesSource, target: Target): KeyFinding[] => [
  ...checkKeysOfOptions(source, target),
  ...variablesOf(source, target).flatMap((each) => [
    ...checkName(each, source),
    ...checkValue(each, source),
    ...checkSecret(each, source),
  ]),
];

function checkKeysOfOptions(source: ValuesSource, target: Target): KeyFinding[] {
  const {defaults} = scopeOf(target);
  return optionsOfKeys(target.chart).flatMap(({key, option}) => {
    const path = at(key);
    const value = getAt(source.values, path);
    const isDefault = value === undefined || sameTree(value, getAt(defaults, path));
    return isDefault ? [] : checkOption(option, value, path, source);
  });
}

function checkName({name, named, isAgent, isInMap}: Variable, source: ValuesSource): KeyFinding[] {
  const meant =
    isAgent && optionNamed(name, isAgent) === undefined ? optionMeantBy(name) : undefined;
  if (meant === undefined) return [];
  const {option, isOld, isClear} = meant;
  const message = isOld
    ? `${name} is the old name of this variable.`
    : `Unknown agent option ${name}.`;
  const fix = isInMap ? {path: named, name: option.name} : {path: named, value: option.name};
  return [
    findingAt(source, named, {
      code: 'UNKNOWN_VARIABLE',
      message,
      verdict: 'warning',
      suggestion: option.name,
      fix: isClear ? fix : undefined,
    }),
  ];
}

function checkValue({name, path, value, isAgent}: Variable, source: ValuesSource): KeyFinding[] {
  if (value === null) {
    if (source.isOverride?.(path)) return [];
    return [
      findingAt(source, path, {
        code: 'NULL_VALUE',
        message: 'null sets the variable to an empty string.',
        verdict: 'warning',
        suggestion: 'Remove it, or set a value',
      }),
    ];
  }
  const option = optionNamed(name, isAgent);
  return option === undefined ? [] : checkOption(option, value, path, source);
}

/** Empty, a number with a unit, a switch, a path, an address, or a reference to the secret. */
const NO_SECRET = /^(?:true|false|\d+[a-z]{0,2}|[/$<].*|\{\{.*|[\w+.-]+:.*)?$/i;

/** A value that its name, not its form, tells to be a secret. */
function checkSecret({name, path, value}: Variable, source: ValuesSource): KeyFinding[] {
  const text = typeof value === 'string' ? value : '';
  const isRecognized = credentialsIn(text).length > 0;
  if (!keySoundsSecret(name) || NO_SECRET.test(text) || isRecognized) return [];
  return [
    findingAt(source, path, {
      code: 'SECRET_IN_VALUES',
      message: `${name} looks like a secret, but is stored in clear text in values.yaml, the Helm release and every pod.`,
      verdict: 'warning',
      suggestion: 'Store it in a Kubernetes Secret or in Scalr',
    }),
  ];
}

function checkOption(
  {name, form}: AgentOption,
  value: Tree,
  path: TreePath,
  source: ValuesSource,
): KeyFinding[] {
  const text = typeof value === 'object' ? '' : (source.written(path) ?? String(value));
  // The kubelet fills in $(NAME).
  const problem = text === '' || /\$\([\w.-]+\)/.test(text) ? undefined : form?.(text);
  if (problem === undefined) return [];
  const {suggestion, isUnlikely} = problem;
  const message = `${name}: ${problem.message}`;
  return [
    isUnlikely
      ? findingAt(source, path, {code: 'UNLIKELY_AMOUNT', verdict: 'warning', message, suggestion})
      : findingAt(source, path, {code: 'WRONG_OPTION', message, suggestion}),
  ];
}

/** The variables below every chart key for variables; a key for several containers gets one finding. */
function variablesOf({values}: ValuesSource, target: Target): Variable[] {
  const {containers} = chartFor(target);
  const paths = new Map(
    containers.flatMap(({name, extraEnv}) =>
      extraEnv.map((path) => [path, name !== 'runner'] as const),
    ),
  );
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
      return [
        {
          name,
          named: [...path, index, 'name'],
          path: [...path, index, 'value'],
          value,
          isAgent,
          isInMap: false,
        },
      ];
    });
  });
}
