import {chartFor} from '../../charts/chart-version.ts';
import {CHART_NAMES, type ChartName} from '../../charts/releases/chart-name.ts';
import {leavesOf, schemaOf} from '../../charts/releases/schema.ts';
import type {Target} from '../../charts/releases/target.ts';
import type {ChartContainer, IgnoredKey} from '../../charts/shared/chart.ts';
import {VARIABLES_OF_SETTINGS} from '../../charts/shared/extra-variables.ts';
import {scopeOf} from '../../charts/support.ts';
import {type ExpectedError, failed} from '../../ground/errors.ts';
import type {KeyFinding} from '../../ground/finding.ts';
import {
  at,
  getAt,
  isMap,
  type Path,
  sameTree,
  startsWith,
  type Tree,
  type Values,
} from '../../ground/tree.ts';
import {set} from '../../settings/chart-values.ts';
import {type Setting, spell} from '../../settings/define.ts';
import {findingAt, type ValidationContext, type ValuesSource} from '../reading/finding.ts';
import {dotted, type TreePath} from '../reading/tree-path.ts';

/** A placeholder: `<token>` alone or inside a string, unless the string is markup. */
const BRACKETS = /^<[^<>]+>$|<[A-Za-z][\w-]*(?: [\w-]+)*>(?!.*<\/)/s;
/** A shell variable that was not expanded: `${NAME}`, with or without a default. */
const SHELL = /\$\{[A-Za-z_]\w*(?::?[-=?+][^}]*)?\}/;
/** The same, as the whole string. */
const WHOLE = /^(\$[A-Z_][A-Z0-9_]*|\$\([A-Z_][A-Z0-9_]*\)|%[A-Z_][A-Z0-9_]*%)$/;
const TEMPLATE = /\{\{.*\}\}/;
/** Words that documentation uses instead of a value. */
const WORDS =
  /^(change[-_ ]?me|replace[-_ ]?me|to[-_ ]?do|fixme|tbd|placeholder|\.{3,}|…|x{3,}|[-\w]*-here)$/i;
const YOURS = /\byour[-_ ]\w|^your_/i;
/** As a token; a Secret may have this name. */
const MY_TOKEN = /^my[-_]token$/i;
const FILL_IN = 'Replace it with the real value';

export const checkPlaceholders = (source: ValuesSource): KeyFinding[] =>
  findPlaceholders(source.values).map(({path, text}) =>
    findingAt(source, path, {
      code: 'PLACEHOLDER',
      message: `"${text}" is a placeholder.`,
      suggestion: FILL_IN,
    }),
  );

const QUOTED = /^[\u2018-\u201f\u00ab\u00bb](.*)[\u2018-\u201f\u00ab\u00bb]$/s;

/** Quotes of word processors are part of the text. */
export const checkQuotes = (source: ValuesSource): KeyFinding[] =>
  textsIn(source.values).flatMap(({path, text}) => {
    const [, inner] = QUOTED.exec(text) ?? [];
    if (inner === undefined) return [];
    return [
      findingAt(source, path, {
        code: 'TYPOGRAPHIC_QUOTES',
        message: 'The value is in typographic quotes, which YAML reads as part of the text.',
        suggestion: `"${inner}"`,
        fix: {path, value: inner},
      }),
    ];
  });

/** Values, and the settings that wrote them. */
interface WrittenValues {
  values: Values;
  origins: readonly {path: Path; setting: Setting}[];
}

/** Rejects generated values that `validate` would report as placeholders. @throws ExpectedError */
export function refusePlaceholders({values, origins}: WrittenValues): void {
  const [found] = findPlaceholders(values);
  if (found === undefined) return;
  const writer = origins.findLast(({path}) => startsWith(found.path.map(String), path));
  throw failed(
    'INVALID_SETTING',
    `${writer ? `${spell(writer.setting)}: ` : ''}${dotted(found.path)} still contains a placeholder.`,
    [FILL_IN],
  );
}

const findPlaceholders = (values: Values): {path: TreePath; text: string}[] =>
  textsIn(values).filter(
    ({path, text}) =>
      !isCommand(path) &&
      (isPlaceholder(text, isForOtherPrograms(path)) || (MY_TOKEN.test(text) && !isName(path))),
  );

function isPlaceholder(text: string, isForOthers: boolean): boolean {
  if (text.includes('-----BEGIN ')) return false;
  if (BRACKETS.test(text) || /^(changeme|your[-_ ].*)$/i.test(text)) return true;
  // The agent and its tools may evaluate their own variables and templates.
  if (isForOthers) return SHELL.exec(text)?.[0] === text;
  return [SHELL, WHOLE, TEMPLATE, WORDS, YOURS].some((each) => each.test(text));
}

const isName = (path: TreePath): boolean => /name|secret/i.test(String(path.at(-1)));

/** A shell in the container expands variables in commands. */
const isCommand = (path: TreePath): boolean =>
  path.some((key) => /^(command|args|exec)$/.test(String(key)));

/** Annotations and variables carry templates for other programs, such as the Vault injector. */
const isForOtherPrograms = (path: TreePath): boolean =>
  path.slice(0, -1).some((key) => /(?:annotations|env)$/i.test(String(key)));

function textsIn(tree: Tree, path: TreePath = []): {path: TreePath; text: string}[] {
  if (typeof tree === 'string') return [{path, text: tree}];
  if (Array.isArray(tree)) return tree.flatMap((below, index) => textsIn(below, [...path, index]));
  return isMap(tree)
    ? Object.entries(tree).flatMap(([key, below]) => textsIn(below, [...path, key]))
    : [];
}

/** The keys of these values that the version accepts and no template reads; `effective` are the values over its defaults. */
export function ignoredIn(values: Values, effective: Values, target: Target): IgnoredKey[] {
  const {defaults} = scopeOf(target);
  return chartFor(target).ignoredKeys.filter(
    ({path, unless}) =>
      getAt(values, at(path)) !== undefined &&
      !sameTree(getAt(effective, at(path)), getAt(defaults, at(path))) &&
      !unless?.(effective),
  );
}

export const checkIgnored = (context: ValidationContext, target: Target): KeyFinding[] =>
  ignoredIn(context.values, context.effective, target).map(({path, because, instead}) =>
    findingAt(context, at(path), {
      code: 'IGNORED_KEY',
      message: `This key has no effect in ${target.chart} ${target.version}: ${because}.`,
      suggestion: instead,
    }),
  );

/** A variable that a container would get twice. */
interface RepeatedVariable {
  name: string;
  container: string;
  /** The map or list of extra variables that holds the name. */
  path: Path;
}

/**
 * Variables that a container would get more than once: Helm 4 rejects the second, Helm 3 may lose both later
 * (helm/helm#31529; docs/charts/README.md, "Environment variables").
 */
export const repeatedVariables = (values: Values, target: Target): RepeatedVariable[] =>
  containersOf(target).flatMap(({name: container, extraEnv, own}) => {
    const given = extraEnv
      .map(at)
      .flatMap((path) => namesAt(values, path).map((name) => ({name, container, path})));
    return given.filter(
      ({name}, index) => own.has(name) || given.findIndex((each) => each.name === name) !== index,
    );
  });

function containersOf(target: Target): (ChartContainer & {own: ReadonlySet<string>})[] {
  const {containers, ownVariables} = chartFor(target);
  const own = new Set(ownVariables.map(({name}) => name));
  return containers.map((each) => ({own, ...each}));
}

/** Variable names in a map, or in a Kubernetes list of variables. */
function namesAt(values: Values, path: Path): string[] {
  const found = getAt(values, path);
  if (Array.isArray(found))
    return found.flatMap((each) =>
      isMap(each) && typeof each['name'] !== 'object' ? [String(each['name'])] : [],
    );
  return isMap(found) ? Object.keys(found) : [];
}

export function checkRepeatedVariables(source: ValuesSource, target: Target): KeyFinding[] {
  const found = repeatedVariables(source.values, target).map(({name, container, path}) => {
    const variables = getAt(source.values, path);
    const isNamed = (each: Tree): boolean => isMap(each) && each['name'] === name;
    return {
      key: [...path, Array.isArray(variables) ? variables.findLastIndex(isNamed) : name],
      name,
      container,
    };
  });
  // A map may end up in several containers; one finding is enough.
  const first = found.filter(
    ({key}, index) => found.findIndex((each) => dotted(each.key) === dotted(key)) === index,
  );
  return first.map(({key, name, container}) =>
    findingAt(source, key, {
      code: 'REPEATED_VARIABLE',
      message: `${target.chart} ${target.version} would set ${name} twice in the ${container} container.`,
      suggestion: 'Remove it, or use the key of the chart',
    }),
  );
}

/** @throws ExpectedError for a repeated variable, and for one that --set writes although it has a setting */
export function refuseRepeatedVariables({values, origins}: WrittenValues, target: Target): void {
  const [twice] = repeatedVariables(values, target);
  if (twice !== undefined) {
    const own = VARIABLES_OF_SETTINGS.get(twice.name);
    throw reserved(
      `${target.chart} ${target.version} would set ${twice.name} twice in the ${twice.container} container`,
      own === undefined
        ? 'Remove it, or set the key of the chart with --set'
        : `Use ${spell(own)} instead`,
    );
  }
  const assigned = origins.filter(({setting}) => setting === set).map(({path}) => path);
  const isAssigned = (map: Path, name: string): boolean =>
    assigned.some(
      (each) =>
        sameTree(each, [...map, name]) || (each.length <= map.length && startsWith(map, each)),
    );
  const names = containersOf(target).flatMap(({extraEnv}) =>
    extraEnv
      .map(at)
      .flatMap((path) => namesAt(values, path).filter((name) => isAssigned(path, name))),
  );
  for (const name of names) {
    const own = VARIABLES_OF_SETTINGS.get(name);
    if (own !== undefined)
      throw reserved(`${name} cannot be set with --set`, `Use ${spell(own)} instead of --set`);
  }
}

const reserved = (message: string, suggestion: string): ExpectedError =>
  failed('RESERVED_VARIABLE', `${message}.`, [suggestion]);

/** The chart below whose name all values stand, as a parent chart passes them on. */
export const nestedChart = (values: Values): ChartName | undefined => {
  const found = CHART_NAMES.filter((name) => isMap(values[name]));
  return found.length === 1 ? found[0] : undefined;
};

/** The finding that explains all others: the file does not contain values of this chart. */
export function checkShape(source: ValuesSource, target: Target): KeyFinding[] {
  const name = [...CHART_NAMES, 'scalr-agent'].find((each) =>
    isSubchart(source.values, each, target),
  );
  if (name === undefined) return [];
  const message = `The values are nested under ${name}, as for a parent chart, so ${target.chart} ignores them.`;
  const suggestion = `Move them to the top level; for a parent chart, check only the values under ${name}`;
  return [findingAt(source, [name], {code: 'NESTED_VALUES', message, suggestion})];
}

/** True if the key holds a map with keys of the chart, and the chart has none of that name. */
function isSubchart(values: Values, name: string, target: Target): boolean {
  const below = Object.hasOwn(values, name) ? values[name] : undefined;
  if (!isMap(below)) return false;
  const known = new Set(leavesOf(schemaOf(target), target.version).map(({path}) => path[0]));
  return !known.has(name) && Object.keys(below).some((key) => known.has(key));
}
