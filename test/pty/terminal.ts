import {fileURLToPath} from 'node:url';
import {spawn} from '@lydell/node-pty';

const program = fileURLToPath(new URL('../../dist/bin/scalr-agent.js', import.meta.url));

interface Step {
  see: RegExp;
  press: string;
}

/** Runs the built program on a terminal of 80×24 and answers what it asks; every step has to be reached. */
export function onTerminal(
  args: readonly string[],
  steps: readonly Step[],
  cwd: string,
): Promise<{screen: string; exit: number; left: number}> {
  const {CI: _, ...env} = process.env;
  const terminal = spawn(process.execPath, [program, ...args], {cols: 80, rows: 24, cwd, env: {...env, TERM: 'xterm'}});
  const left = [...steps];
  let screen = '';
  return new Promise((resolve) => {
    terminal.onData((text) => {
      screen += text;
      const next = left[0];
      if (!next?.see.test(screen)) return;
      left.shift();
      terminal.write(next.press);
    });
    terminal.onExit(({exitCode}) => resolve({screen, exit: exitCode, left: left.length}));
  });
}
