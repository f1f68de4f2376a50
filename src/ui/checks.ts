import type {Values} from '../charts/tree.ts';
import type {ProbeObjects} from '../cluster/probe.ts';
import {maskSecrets} from '../errors.ts';
import {type Checked, GROUPS, type Status, skipReason} from '../preflight/check.ts';
import {toYaml} from '../values/yaml.ts';
import {count} from './count.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const MARKS: Readonly<Record<Status, string>> = {pass: '✓', warn: '!', fail: '×', skip: '-'};

/** Every check under its heading, with the remedy where it did not pass, and a summary line. */
export function checksText(checks: readonly Checked[], screen: Screen): string {
  const {bold} = theme(screen);
  const gaps = gapsIn(checks);
  const single = checks.filter((each) => !gaps.some(({skipped}) => skipped.includes(each)));
  const groups = GROUPS.map((group) => ({group, own: single.filter((each) => each.group === group)})).filter(({own}) => own.length > 0);
  const texts = groups.map(({group, own}) => `${bold(group)}\n${own.map((each) => checkText(each, screen)).join('')}\n`);
  const unseen = gaps.length === 0 ? '' : `${bold('Not looked at')}\n${gaps.map((gap) => gapText(gap, screen)).join('')}\n`;
  return `${texts.join('')}${unseen}${summary(checks, screen)}\n`;
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
      const isTold = checks.some(({status, message}) => status === 'fail' && message.includes(reason));
      return {reason, skipped, remedies: isTold ? [] : [...new Set(skipped.flatMap(({remedy}) => remedy ?? []))]};
    })
    .filter(({skipped}) => skipped.length > 1);
}

function gapText({reason, skipped, remedies}: Gap, screen: Screen): string {
  const head = paragraph(`${theme(screen).dim(MARKS.skip)} `, reason, screen);
  const ids = paragraph('    ', skipped.map(({id}) => id).join(', '), screen);
  return `${head}${ids}${remedies.map((each) => paragraph('    → ', each, screen)).join('')}`;
}

export function checkText({status, title, message, remedy, ref}: Checked, screen: Screen): string {
  const {dim, green, red, yellow} = theme(screen);
  const colour = {pass: green, warn: yellow, fail: red, skip: dim};
  const head = paragraph(`${colour[status](MARKS[status])} `, `${title}: ${message}`, screen);
  if (status === 'pass') return head;
  // YAML that users paste keeps its lines.
  const lines = (remedy ?? '').split('\n').filter((line) => line !== '');
  const [first, ...others] = lines;
  const rest = others.map((line) => `    ${line}\n`).join('');
  return `${head}${first === undefined ? '' : paragraph('    → ', first, screen)}${rest}    ${dim(ref)}\n`;
}

function summary(checks: readonly Checked[], screen: Screen): string {
  const {green, red, yellow} = theme(screen);
  const of = (status: Status): number => checks.filter((each) => each.status === status).length;
  const colour = of('fail') > 0 ? red : of('warn') > 0 ? yellow : green;
  return colour(`${count(of('fail'), 'error')}, ${count(of('warn'), 'warning')}, ${of('pass')} passed, ${of('skip')} skipped`);
}

/** The manifests of a probe, without passwords. */
export const probeText = ({objects}: ProbeObjects): string =>
  objects
    .map((object, index) => maskSecrets(toYaml(object as unknown as Values, {header: index === 0 ? HEADER : []})))
    .map((text) => `---\n${text}`)
    .join('');

const HEADER = ['What --probe makes and removes again'];
