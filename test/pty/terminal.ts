import {type IPty, spawn} from '@lydell/node-pty';
import {onTestFailed, onTestFinished} from 'vitest';
import {built} from '../package/built.ts';

/** Expected output and the keys to press. Only output since the previous step is matched. */
export interface Step {
  see: RegExp;
  press: string;
  /** Sent to the program instead of a key. */
  signal?: NodeJS.Signals;
  /** New columns and rows of the window, before the key. */
  resize?: readonly [number, number];
}

export interface Terminal {
  /** Overrides of the test environment; undefined removes a variable. */
  env?: Readonly<Record<string, string | undefined>>;
  cols?: number;
  rows?: number;
  program?: 'scalr-agent' | 'scalr-agent-install';
  /** Script of bash that runs the program as `"$@"`; default: no shell. */
  shell?: string;
}

interface Seen {
  screen: string;
  exit: number;
  /** Steps that were never reached. */
  left: number;
}

/** Runs the built program on a terminal (default: 80×24) and replies to its prompts; every step must be reached. */
export function onTerminal(
  args: readonly string[],
  steps: readonly Step[],
  cwd: string,
  terminal: Terminal = {},
): Promise<Seen> {
  const pty = start(args, cwd, terminal);
  const left = [...steps];
  let screen = '';
  let from = 0;
  let isOver = false;
  // Shows the screen of a program that still waits for a key.
  onTestFailed(() => {
    process.stderr.write(`With ${left.length} steps to go the terminal had:\n${screen}\n`);
  });
  onTestFinished(() => {
    if (!isOver) pty.kill();
  });
  return new Promise((resolve) => {
    pty.onData((text) => {
      screen += text;
      for (let step = left[0]; step !== undefined; step = left[0]) {
        const match = step.see.exec(screen.slice(from));
        if (match === null) return;
        left.shift();
        from += match.index + match[0].length;
        if (step.resize !== undefined) pty.resize(...step.resize);
        if (step.signal !== undefined) pty.kill(step.signal);
        else pty.write(step.press);
      }
    });
    pty.onExit(({exitCode}) => {
      isOver = true;
      resolve({screen, exit: exitCode, left: left.length});
    });
  });
}

function start(
  args: readonly string[],
  cwd: string,
  {program = 'scalr-agent', shell, ...terminal}: Terminal,
): IPty {
  const bin = built(`dist/bin/${program}.js`);
  const env = {
    ...process.env,
    CI: undefined,
    LC_ALL: undefined,
    LANG: 'C.UTF-8',
    TERM: 'xterm',
    ...terminal.env,
  };
  const known = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const window = {
    cols: terminal.cols ?? 80,
    rows: terminal.rows ?? 24,
    cwd,
    env: Object.fromEntries(known),
  };
  if (shell === undefined) return spawn(process.execPath, [bin, ...args], window);
  return spawn('/bin/bash', ['-c', shell, 'bash', process.execPath, bin, ...args], window);
}
