import {spawnSync} from 'node:child_process';
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {spawn} from '@lydell/node-pty';
import {built} from '../package/built.ts';
import {Emulator} from '../support/emulator.ts';

/** Completion requires bash 4 or later. */
export const hasShell = (shell: string): boolean =>
  spawnSync(shell, ['-c', shell === 'bash' ? '((BASH_VERSINFO[0] > 3))' : 'exit 0']).status === 0;

export interface Shell {
  /** Types keys on an empty line; returns the line and the screen after all keys are processed. */
  after(keys: string): Promise<{line: string; screen: string}>;
  /** Types keys on an empty line; returns the screen when this text appears. */
  screen(keys: string, desired: RegExp): Promise<string>;
  close(): void;
}

const PROMPT = '$ ';
const PATIENCE_MS = 30_000;

interface Home {
  files: Readonly<Record<string, string>>;
  /** Scripts on PATH, in addition to this program. */
  tools?: Readonly<Record<string, string>>;
}

/** Creates a home directory; returns the environment. */
export function prepareHome(home: string, {files, tools = {}}: Home): Record<string, string> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), {recursive: true});
    writeFileSync(join(home, name), text);
  }
  const bin = join(home, '.bin');
  mkdirSync(bin);
  for (const [name, script] of Object.entries({...programs(), ...tools})) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return {
    HOME: home,
    ZDOTDIR: home,
    PATH: `${bin}:${process.env['PATH']}`,
    LANG: 'C.UTF-8',
    TERM: 'xterm',
    PS1: PROMPT,
  };
}

/** Starts an interactive shell in a new home directory. */
export async function openShell(shell: string, home: string, life: Home): Promise<Shell> {
  const env = prepareHome(home, life);
  const size = {cols: 100, rows: 40};
  const emulator = new Emulator({columns: size.cols, rows: size.rows});
  const pty = spawn(shell, ['-i'], {cwd: home, env, ...size});
  pty.onData((text) => emulator.write(text));

  async function seen<T>(desired: (lines: readonly string[]) => T | undefined): Promise<T> {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const lines = await emulator.lines();
      const found = desired(lines);
      if (found !== undefined) return found;
      if (Date.now() > end) throw new Error(`This was never seen in:\n${lines.join('\n')}`);
      await sleep(20);
    }
  }
  await seen((lines) => lines.findLast((line) => line.startsWith(PROMPT.trim())));
  const onEmptyScreen = (keys: string): void => pty.write(`\u0015\u000c${keys}`);
  let asked = 0;
  return {
    async after(keys) {
      asked += 1;
      // Its output shows that the keys before it were processed.
      const mark = `@${asked}@`;
      onEmptyScreen(`${keys}${mark}`);
      return seen((lines) => {
        const line = lines.findLast((each) => each.startsWith(PROMPT) && each.endsWith(mark));
        return line === undefined
          ? undefined
          : {line: line.slice(PROMPT.length, -mark.length), screen: lines.join('\n')};
      });
    },
    async screen(keys, desired) {
      onEmptyScreen(keys);
      return seen((lines) => (desired.test(lines.join('\n')) ? lines.join('\n') : undefined));
    },
    close: () => pty.kill(),
  };
}

/** As npm installs them. */
const programs = () =>
  Object.fromEntries(
    ['scalr-agent', 'scalr-agent-install'].map((name) => [
      name,
      `exec '${process.execPath}' '${built(`dist/bin/${name}.js`)}' "$@"`,
    ]),
  );

/** Startup file of a shell: a fixed prompt, and no other customization. */
export const PLAIN = {
  bash: `PS1='${PROMPT}'\n`,
  zsh: `PS1='${PROMPT}'\nunsetopt prompt_cr prompt_sp\n`,
  fish: `function fish_prompt; echo -n '${PROMPT}'; end\nset -g fish_greeting\nset -g fish_autosuggestion_enabled 0\n`,
};
