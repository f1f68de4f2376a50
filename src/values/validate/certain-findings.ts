import {type KeyFinding, remediesOf} from '../../ground/finding.ts';
import {few} from '../../ground/text.ts';
import {isMap, type Tree} from '../../ground/tree.ts';
import type {ValuesSource} from '../reading/finding.ts';
import {hasTemplate, UNKNOWN_TEXT} from '../reading/templates.ts';
import {dotted, type TreePath} from '../reading/tree-path.ts';
import {isTypeError} from '../rules/check-keys.ts';

/** Findings about a key, whatever its value. */
const ABOUT_KEYS =
  /^(UNKNOWN_KEY|IGNORED_KEY|REPEATED_VARIABLE|UNKNOWN_VARIABLE|DUPLICATE_KEY|MERGE_OVERWRITES|RENAMED_KEY|NESTED_VALUES)$/;
/** Findings about a value alone. */
const ABOUT_ONE_VALUE =
  /^(WRONG_|UNQUOTED_TEXT|STRING_NOT_BOOLEAN|NULL_|UNLIKELY_AMOUNT|LARGE_NUMBER|OCTAL_NUMBER|PLACEHOLDER|UNKNOWN_FIELD|CLEAR_TEXT_)/;

/** Without what other values, or what the engine puts in place of templates, can decide. */
export function certainFindings(
  findings: readonly KeyFinding[],
  values: Tree,
  isPartial: boolean,
): KeyFinding[] {
  const trees = new Map(entriesIn(values, []).map(([path, tree]) => [dotted(path), tree]));
  const isUnknown = ({subject}: KeyFinding): boolean => hasTemplate(trees.get(subject.path));
  // A switch of unknown state: what depends on it is unknown too.
  const hasUnknownSwitch = findings.some((each) => isTypeError(each) && isUnknown(each));
  return findings.filter((each) => {
    if (ABOUT_KEYS.test(each.code) || each.subject.path === '') return true;
    if (!trees.has(each.subject.path)) return !isPartial && !hasUnknownSwitch;
    if (isUnknown(each)) return false;
    return !hasUnknownSwitch || ABOUT_ONE_VALUE.test(each.code);
  });
}

/** With variables of ConfigMaps and Secrets, which a dry run leaves out, Flux fails here instead of replacing them by nothing. */
const FLUX_BUILD =
  'flux build kustomization NAME --path DIRECTORY --kustomization-file FILE --dry-run --strict-substitute | scalr-agent validate -';

/** The values that the engine of the file still replaces, as one finding: their keys are checked, and nothing else of them. */
export function uncheckedValues(source: ValuesSource, kind: string): KeyFinding[] {
  const paths = entriesIn(source.values, [])
    .filter(([, tree]) => typeof tree === 'string' && tree !== UNKNOWN_TEXT && hasTemplate(tree))
    .map(([path]) => path);
  const [first] = paths;
  if (first === undefined) return [];
  return [
    {
      code: 'UNCHECKED_VALUE',
      verdict: 'unknown',
      subject: {path: dotted(first), ...source.locate(first)},
      message: `${paths.length === 1 ? 'This value is' : `${paths.length} values are`} known only to the engine of the file, so only the ${paths.length === 1 ? 'key was' : 'keys were'} checked: ${few(paths.map(dotted))}.`,
      remedies: remediesOf(
        kind === 'HelmRelease'
          ? FLUX_BUILD
          : 'Render the file with its variables, and validate the result',
      ),
    },
  ];
}

function entriesIn(tree: Tree, path: TreePath): [TreePath, Tree][] {
  const own: [TreePath, Tree][] = [[path, tree]];
  if (Array.isArray(tree))
    return [...own, ...tree.flatMap((each, index) => entriesIn(each, [...path, index]))];
  if (!isMap(tree)) return own;
  return [
    ...own,
    ...Object.entries(tree).flatMap(([key, each]) => entriesIn(each, [...path, key])),
  ];
}
