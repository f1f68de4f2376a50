import {type CheckReport, GROUPS} from '../checks/preflight/checks/check.ts';
import type {CheckStatus} from '../checks/preflight/checks/check-result.ts';
import type {ProbeObjects} from '../checks/preflight/facts/probe.ts';
import {maskSecrets} from '../ground/errors.ts';
import {count} from '../ground/text.ts';
import type {Values} from '../ground/tree.ts';
import {toYaml} from '../values/document.ts';
import {nextStep, paragraph, type Screen, theme} from './theme.ts';

const MARKS: Readonly<Record<CheckStatus, string>> = {pass: '✓', warn: '!', fail: '×', skip: '-'};

/** `problems` only, the passed checks `folded` into a number, or `all` of them. */
type Detail = 'problems' | 'folded' | 'all';

/** Failures first, then warnings, what was not looked at, and what passed, with the remedy where there is one. */
export function checksText(
  checks: readonly CheckReport[],
  screen: Screen,
  detail: Detail = 'folded',
): string {
  const {bold} = theme(screen);
  const of = (...statuses: CheckStatus[]): CheckReport[] =>
    statuses.flatMap((status) => checks.filter((each) => each.status === status));
  const text = (some: readonly CheckReport[]): string =>
    some.map((each) => checkText(each, screen)).join('');
  const problems = text(of('fail', 'warn'));
  if (detail === 'problems') return problems;
  const gaps = gapsIn(checks);
  const single = of('skip').filter((each) => !gaps.some(({skipped}) => skipped.includes(each)));
  const unseen = `${text(single)}${gaps.map((gap) => gapText(gap, screen)).join('')}`;
  const passed = GROUPS.flatMap((group) => {
    const own = of('pass').filter((each) => each.group === group);
    return detail === 'all' && own.length > 0 ? [`${bold(group)}\n${text(own)}\n`] : [];
  });
  return [
    problems === '' ? '' : `${problems}\n`,
    unseen === '' ? '' : `${bold('Not checked')}\n${unseen}\n`,
    ...passed,
    `${summary(checks, detail, screen)}\n`,
  ].join('');
}

/** Checks that were skipped for the same reason. */
interface Gap {
  reason: string;
  skipped: readonly CheckReport[];
  /** None where a failed check has the same reason, as that one shows the remedy. */
  remedies: readonly string[];
}

const reasonOf = ({because, message}: CheckReport): string => because ?? message;

function gapsIn(checks: readonly CheckReport[]): Gap[] {
  const all = checks.filter(({status}) => status === 'skip');
  return [...new Set(all.map(reasonOf))]
    .map((reason): Gap => {
      const skipped = all.filter((each) => reasonOf(each) === reason);
      const isTold = checks.some((each) => each.status === 'fail' && reasonOf(each) === reason);
      return {
        reason,
        skipped,
        remedies: isTold ? [] : [...new Set(skipped.flatMap(({remedy}) => remedy ?? []))],
      };
    })
    .filter(({skipped}) => skipped.length > 1);
}

function gapText({reason, skipped, remedies}: Gap, screen: Screen): string {
  const head = paragraph(`${theme(screen).dim(MARKS.skip)} `, reason, screen);
  const ids = paragraph('    ', skipped.map(({id}) => id).join(', '), screen);
  return `${head}${ids}${remedies.map((each) => nextStep('    → ', each, screen)).join('')}`;
}

const colorOf = (status: CheckStatus, screen: Screen): ((text: string) => string) => {
  const {dim, green, red, yellow} = theme(screen);
  return {pass: green, warn: yellow, fail: red, skip: dim}[status];
};

export function checkText(
  {id, status, title, message, remedy, ref}: CheckReport,
  screen: Screen,
): string {
  const mark = colorOf(status, screen)(MARKS[status]);
  const head = paragraph(`${mark} `, `${title}: ${message}`, screen);
  if (status === 'pass') return head;
  const step = remedy ? nextStep('    → ', remedy, screen) : '';
  return `${head}${step}    ${theme(screen).dim(`${id}: ${ref}`)}\n`;
}

function summary(checks: readonly CheckReport[], detail: Detail, screen: Screen): string {
  const numberOf = (status: CheckStatus): number =>
    checks.filter((each) => each.status === status).length;
  const hint = detail === 'folded' && numberOf('pass') > 0 ? ' (use --verbose to list them)' : '';
  const worst = (['fail', 'warn'] as const).find((status) => numberOf(status) > 0) ?? 'pass';
  return colorOf(
    worst,
    screen,
  )(
    `${count(numberOf('fail'), 'error')}, ${count(numberOf('warn'), 'warning')}, ${numberOf('skip')} skipped, ${numberOf('pass')} passed${hint}`,
  );
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
