import {
  type Checked,
  type CheckStatus,
  GROUPS,
  skipReason,
} from '../checks/preflight/preflight-context.ts';
import type {ProbeObjects} from '../checks/preflight/probe/script.ts';
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
  checks: readonly Checked[],
  screen: Screen,
  detail: Detail = 'folded',
): string {
  const {bold} = theme(screen);
  const of = (...statuses: CheckStatus[]): Checked[] =>
    statuses.flatMap((status) => checks.filter((each) => each.status === status));
  const text = (some: readonly Checked[]): string =>
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
  skipped: readonly Checked[];
  /** None where a failed check has the same reason, as that one shows the remedy. */
  remedies: readonly string[];
}

function gapsIn(checks: readonly Checked[]): Gap[] {
  const all = checks.filter(({status}) => status === 'skip');
  return [...new Set(all.map(skipReason))]
    .map((reason): Gap => {
      const skipped = all.filter((each) => skipReason(each) === reason);
      const isTold = checks.some(
        ({status, message}) => status === 'fail' && message.includes(reason),
      );
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

export function checkText({status, title, message, remedy, ref}: Checked, screen: Screen): string {
  const {dim, green, red, yellow} = theme(screen);
  const color = {pass: green, warn: yellow, fail: red, skip: dim};
  const head = paragraph(`${color[status](MARKS[status])} `, `${title}: ${message}`, screen);
  if (status === 'pass') return head;
  return `${head}${remedy === undefined || remedy === '' ? '' : nextStep('    → ', remedy, screen)}    ${dim(ref)}\n`;
}

function summary(checks: readonly Checked[], detail: Detail, screen: Screen): string {
  const {green, red, yellow} = theme(screen);
  const of = (status: CheckStatus): number =>
    checks.filter((each) => each.status === status).length;
  const color = of('fail') > 0 ? red : of('warn') > 0 ? yellow : green;
  const hint = detail === 'folded' && of('pass') > 0 ? ' (use --verbose to list them)' : '';
  return color(
    `${count(of('fail'), 'error')}, ${count(of('warn'), 'warning')}, ${of('skip')} skipped, ${of('pass')} passed${hint}`,
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
