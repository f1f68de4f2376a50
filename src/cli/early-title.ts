import {isCi} from '../ground/ci.ts';
import {USUAL_COLUMNS} from '../ui/theme.ts';
import {titleText} from '../ui/title.ts';

/** Without arguments on a terminal, the wizard begins: its title is shown before anything is loaded. */
export const hasEarlyTitle = ({argv, env, stdin, stderr}: NodeJS.Process): boolean =>
  argv.slice(2).every((word) => word === 'install') &&
  stdin.isTTY === true &&
  stderr.isTTY === true &&
  env['TERM'] !== 'dumb' &&
  !isCi(env) &&
  !env['ACCESSIBLE'];

export function showEarlyTitle(version: string, {env, stderr}: NodeJS.Process): void {
  const hasColor = !env['NO_COLOR'];
  stderr.write(
    titleText(version, {columns: stderr.columns || USUAL_COLUMNS, hasColor, isLive: true}),
  );
}
