import {eraseLines} from '@inquirer/ansi';

/** The last lines of a terminal, which are replaced in place. Everything else is printed above them. */
export interface LiveLines {
  print(text: string): void;
  /** Complete lines that fit the width, or an empty text. */
  draw(text: string): void;
}

export function liveLines(output: {write(text: string): unknown}): LiveLines {
  let shown = '';
  const erased = (): string => (shown === '' ? '' : eraseLines(shown.split('\n').length));
  // After Ctrl-Z and fg, the lines of the shell are on the screen, and they must not be erased.
  const forget = (): void => {
    shown = '';
  };
  return {
    print: (text) => void output.write(`${erased()}${text}${shown}`),
    draw(text) {
      if (text === shown) return;
      const erasing = erased();
      if (shown === '') process.once('SIGCONT', forget);
      if (text === '') process.off('SIGCONT', forget);
      shown = text;
      output.write(`${erasing}${text}`);
    },
  };
}
