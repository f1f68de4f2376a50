import {CHECKS} from '../../src/preflight/checks/index.ts';
import {words} from './commands.ts';
import {table} from './markdown.ts';

const groups = [...new Set(CHECKS.map(({group}) => group))];

/** docs/preflight.md: every check, with what is true when it passes and where that is known from. */
export const preflightPage = (): string => [words('preflight.md'), '', ...groups.map(groupText)].join('\n');

const groupText = (group: string): string => {
  const rows = CHECKS.filter((each) => each.group === group).map(({id, title, ref}) => [
    `\`${id}\``,
    title,
    ref.replaceAll(/https:[^\s,;]+/g, '<$&>'),
  ]);
  return [`## ${group}`, '', table(['Check', 'What is true when it passes', 'Where to read more'], rows), ''].join('\n');
};
