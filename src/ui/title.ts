import type {Screen} from './theme.ts';

/** The first line of the wizard. Without a library, because it is shown before any is loaded. */
export function titleText(
  version: string,
  {columns = 80, hasColor, isLive}: Pick<Screen, 'columns' | 'hasColor' | 'isLive'>,
): string {
  const styled = (code: number, text: string): string =>
    hasColor ? `\u001B[${code}m${text}\u001B[22m` : text;
  const keys = isLive ? 'Ctrl-C to quit' : 'At each question: back, help or quit.';
  const name = `scalr-agent-install ${version}`;
  const room = columns - name.length - keys.length - 1;
  const between = room < 2 ? '\n' : ' '.repeat(room);
  return `\n${styled(1, name)}${between}${styled(2, keys)}\n\n`;
}
