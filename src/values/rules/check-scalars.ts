import type {SchemaNode} from '../../charts/releases/schema.ts';
import type {KeyFinding} from '../../ground/finding.ts';
import {closest} from '../../ground/similar-text.ts';
import {getAt, isMap, type Path, type Tree, type Values} from '../../ground/tree.ts';
import {MEBIBYTE, milliOf} from '../../settings/kinds/quantities.ts';
import {findingAt, type Mistake, type ValuesSource} from '../reading/finding.ts';
import {FIRST_EXPONENT, isMisleadingOctal, printedNumber} from '../reading/go-numbers.ts';
import type {TreePath} from '../reading/tree-path.ts';
import {FORMATS, type Misspelling} from './formats.ts';
import type {KeyContext, KnownKey} from './key-facts.ts';
import {isNumberAsText, matchesType} from './types.ts';

/** A text, number or boolean that differs from the chart default. */
export function checkScalar(key: KnownKey, {source, defaults}: KeyContext): KeyFinding[] {
  const {path, value, node} = key;
  if (value === getAt(defaults, path)) return [];
  const mistake =
    typeof value === 'number' ? numberMistake(value, node, path) : textMistake(value, node, path);
  return mistake === undefined ? [] : [findingAt(source, path, mistake)];
}

const wrongValue = (message: string): Mistake => ({code: 'WRONG_VALUE', message});

function choiceMistake(value: Tree, {enum: choices}: SchemaNode): Mistake | undefined {
  if (choices === undefined || choices.includes(value as string)) return undefined;
  const message = `Unsupported value ${JSON.stringify(value)}: must be one of ${choices.join(', ')}.`;
  const meant = ACCESS_MODES[String(value)] ?? closest(String(value), choices);
  return {
    ...wrongValue(message),
    suggestion: choices.includes(meant as string) ? meant : undefined,
  };
}

/** As kubectl abbreviates them. */
const ACCESS_MODES: Readonly<Record<string, string>> = {
  RWO: 'ReadWriteOnce',
  ROX: 'ReadOnlyMany',
  RWX: 'ReadWriteMany',
  RWOP: 'ReadWriteOncePod',
};

/** A template prints a large number with an exponent: docs/charts/README.md, "Values that YAML and Helm change". */
function numberMistake(value: number, node: SchemaNode, path: Path): Mistake | undefined {
  const wrong = choiceMistake(value, node) ?? outOfRange(value, node);
  if (wrong !== undefined || Math.abs(value) < FIRST_EXPONENT) return wrong;
  return reprinted(path, 'LARGE_NUMBER', String(value), printedNumber(value));
}

function outOfRange(value: number, node: SchemaNode): Mistake | undefined {
  const {minimum = -Infinity, maximum = Infinity} = node;
  if (value < minimum)
    return wrongValue(`Invalid value ${value}: must be greater than or equal to ${minimum}.`);
  if (value > maximum)
    return wrongValue(`Invalid value ${value}: must be less than or equal to ${maximum}.`);
  return undefined;
}

function textMistake(value: Tree, node: SchemaNode, path: Path): Mistake | undefined {
  const choice = choiceMistake(value, node);
  if (choice !== undefined || typeof value !== 'string' || value === '') return choice;
  if (isNumberAsText(value, node) && !matchesType(value, node))
    return outOfRange(Number(value), node);
  if (node.pattern && !new RegExp(node.pattern).test(value))
    return wrongValue(`Invalid value "${value}": must match ${node.pattern}.`);
  const small = node.format === 'quantity' ? smallVolume(value, path) : undefined;
  if (small) return {code: 'UNLIKELY_AMOUNT', verdict: 'warning', ...small};
  const misspelling = node.format === undefined ? undefined : FORMATS[node.format]?.(value);
  return misspelling && {code: 'WRONG_VALUE', ...misspelling};
}

/** A volume size that is probably a mistake; a PVC without a size has its own finding. */
export function smallVolume(amount: string, path: TreePath): Misspelling | undefined {
  const milli = milliOf(amount);
  if (milli === undefined || milli >= MEBIBYTE) return undefined;
  if (milli > 0n) return {message: `${amount} is less than 1Mi.`, suggestion: 'Mi or Gi'};
  return path.at(-1) === 'sizeLimit' ? {message: 'A limit of zero means no limit.'} : undefined;
}

/** A map of variables, whose values the templates quote. */
export const checkVariableMap = (
  variables: Values,
  path: Path,
  source: ValuesSource,
): KeyFinding[] =>
  Object.entries(variables).flatMap(([name, value]) => {
    const here = [...path, name];
    const mistake =
      nameMistake(name) ?? variableMistake(value, here) ?? printedMistake(value, here, source);
    return mistake === undefined ? [] : [findingAt(source, here, mistake)];
  });

function nameMistake(name: string): Mistake | undefined {
  const misspelling = FORMATS['variable-name']?.(name);
  return misspelling && {code: 'WRONG_VALUE', ...misspelling};
}

function variableMistake(value: Tree, path: Path): Mistake | undefined {
  const code = 'WRONG_TYPE';
  if (isMap(value) || Array.isArray(value))
    return {code, message: 'An environment variable must be a string, not a list or map.'};
  // Only agent-job, whose variables are below another key, has a schema for them.
  return value === null && path.length > 2
    ? {code, message: 'The chart schema requires a string, number or boolean.'}
    : undefined;
}

/** A variable is a text: a number or boolean that Helm prints differently than it was written changes its value. */
function printedMistake(value: Tree, path: Path, source: ValuesSource): Mistake | undefined {
  const written = source.written(path) ?? String(value);
  if (typeof value === 'boolean' && written !== String(value))
    return {...reprinted(path, 'UNQUOTED_TEXT', written, String(value)), verdict: 'warning'};
  if (typeof value !== 'number' || isMisleadingOctal(written)) return undefined;
  const printed = printedNumber(value);
  if (written === printed) return undefined;
  const code = Math.abs(value) < FIRST_EXPONENT ? 'UNQUOTED_TEXT' : 'LARGE_NUMBER';
  return reprinted(path, code, written, printed);
}

/** A number in digits means these digits. Any other notation, such as yes or 1_000, can mean itself or what Helm renders. */
function reprinted(path: TreePath, code: string, written: string, printed: string): Mistake {
  const isClear = /^-?(0|[1-9]\d*)(\.\d+)?$/.test(written);
  return {
    code,
    message: `Helm renders ${written} as ${printed}.`,
    suggestion: isClear ? `"${written}"` : `"${written}" or "${printed}"`,
    fix: isClear ? {path, value: written} : undefined,
  };
}
