import {CHECKS} from '../../src/checks/preflight/run-preflight.ts';
import {MACHINE_CHECKS} from '../../src/extensions/machine/preflight/machine-checks.ts';
import {words} from './commands.ts';
import {table} from './markdown.ts';

const ALL = [...CHECKS, ...MACHINE_CHECKS];
const groups = [...new Set(ALL.map(({group}) => group))];

/** docs/preflight.md: every check, with its requirement and its reference. */
export const preflightPage = (): string =>
  [words('preflight.md'), '', ...groups.map(groupText)].join('\n');

const groupText = (group: string): string => {
  const rows = ALL.filter((each) => each.group === group).map(({id, title, ref}) => [
    `\`${id}\``,
    title,
    ref.replaceAll(/https:[^\s,;]+/g, '<$&>'),
  ]);
  return [`## ${group}`, '', table(['Check', 'Subject', 'Reference'], rows), ''].join('\n');
};
