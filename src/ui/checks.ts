import type {Checked, Status} from '../preflight/check.ts';
import {count} from './findings.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const MARKS: Readonly<Record<Status, string>> = {pass: '✓', warn: '!', fail: '×', skip: '-'};
const GROUPS: readonly Checked['group'][] = [
  ...(['Tools', 'Cluster', 'Permissions', 'Namespace', 'Release'] as const),
  ...(['Secrets', 'Storage', 'Network', 'Nodes', 'Probe'] as const),
];

/** Every check under its heading; what is not passed with what to do. The last line counts. */
export function checksText(checks: readonly Checked[], screen: Screen): string {
  const {bold} = theme(screen);
  const groups = GROUPS.map((group) => ({group, own: checks.filter((each) => each.group === group)})).filter(({own}) => own.length > 0);
  const texts = groups.map(({group, own}) => `${bold(group)}\n${own.map((each) => checkText(each, screen)).join('')}\n`);
  return `${texts.join('')}${summary(checks, screen)}\n`;
}

export function checkText({status, title, message, remedy, ref}: Checked, screen: Screen): string {
  const {dim, green, red, yellow} = theme(screen);
  const colour = {pass: green, warn: yellow, fail: red, skip: dim};
  const head = paragraph(`${colour[status](MARKS[status])} `, `${title}: ${message}`, screen);
  if (status === 'pass') return head;
  // What is to be pasted has to keep its lines.
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
