import {
  type CheckFinding,
  type CheckReport,
  checksWith,
  GROUPS,
  passedChecks,
} from '../checks/preflight/checks/check.ts';
import type {ProbeObjects} from '../checks/preflight/facts/probe.ts';
import {maskSecrets} from '../ground/errors.ts';
import {findingSentence, remediesOf, remedyTexts} from '../ground/finding.ts';
import {count, groupsOf} from '../ground/text.ts';
import type {Values} from '../ground/tree.ts';
import {toYaml} from '../values/document.ts';
import {bodyText, findingText, verdictMark} from './finding-text.ts';
import {paragraph, type Screen, theme} from './theme.ts';

/** `problems` only, the passed checks `folded` into a number, or `all` of them. */
type Detail = 'problems' | 'folded' | 'all';

/** Errors first, then warnings, what was not checked, and what passed. */
export function checksText(
  checks: readonly CheckReport[],
  screen: Screen,
  detail: Detail = 'folded',
): string {
  const {bold} = theme(screen);
  const text = (some: readonly CheckFinding[]): string =>
    some.map((each) => checkText(each, screen)).join('');
  const problems = text(checksWith(checks, 'error', 'warning'));
  if (detail === 'problems') return problems;
  const notChecked = unknownText(checks, screen);
  return [
    problems === '' ? '' : `${problems}\n`,
    notChecked === '' ? '' : `${bold('Not checked')}\n${notChecked}\n`,
    detail === 'all' ? passedText(checks, screen) : '',
    `${summary(checks, detail, screen)}\n`,
  ].join('');
}

export const checkText = (check: CheckFinding, screen: Screen): string =>
  `${findingText(check, screen)}    ${theme(screen).dim(check.ref)}\n`;

function passedText(checks: readonly CheckReport[], screen: Screen): string {
  const {bold, green} = theme(screen);
  const passed = passedChecks(checks);
  return GROUPS.flatMap((name) => {
    const own = passed.filter(({group}) => group === name);
    const lines = own.map((each) => paragraph(`  ${green('✓')} `, findingSentence(each), screen));
    return own.length === 0 ? [] : [`${bold(name)}\n${lines.join('')}\n`];
  }).join('');
}

/** Checks that could not run; those with the same reason together. */
function unknownText(checks: readonly CheckReport[], screen: Screen): string {
  const told = new Set(checksWith(checks, 'error').map(({because}) => because));
  return groupsOf(checksWith(checks, 'unknown'), ({because, code}) => because ?? code)
    .map((same) => {
      const [{because}] = same;
      return because === undefined || same.length === 1
        ? same.map((each) => checkText(each, screen)).join('')
        : sameReasonText(same, because, told.has(because), screen);
    })
    .join('');
}

/** Without remedies where an error has the same reason, because it shows them. */
function sameReasonText(
  checks: readonly CheckFinding[],
  because: string,
  isTold: boolean,
  screen: Screen,
): string {
  const texts = new Set(isTold ? [] : remedyTexts(checks));
  return [
    paragraph(`  ${verdictMark('unknown', screen)} `, because, screen),
    paragraph('    ', checks.map(({code}) => code).join(', '), screen),
    bodyText({remedies: remediesOf(...texts)}, screen, '    → '),
  ].join('');
}

function summary(checks: readonly CheckReport[], detail: Detail, screen: Screen): string {
  const {green, red, yellow} = theme(screen);
  const [errors, warnings, unknown] = (['error', 'warning', 'unknown'] as const).map(
    (verdict) => checksWith(checks, verdict).length,
  ) as [number, number, number];
  const passed = passedChecks(checks).length;
  const hint = detail === 'folded' && passed > 0 ? ' (use --verbose to list them)' : '';
  const text = `${count(errors, 'error')}, ${count(warnings, 'warning')}, ${unknown} not checked, ${passed} passed${hint}`;
  if (errors > 0) return red(text);
  return warnings > 0 ? yellow(text) : green(text);
}

/** The manifests of a probe, without passwords. */
export const probeText = ({objects}: ProbeObjects): string =>
  objects
    .map((object, index) =>
      maskSecrets(toYaml(object as unknown as Values, {header: index === 0 ? HEADER : []})),
    )
    .map((text) => `---\n${text}`)
    .join('');

const HEADER = ['Objects that --probe creates and deletes'];
