import {nodeFiles} from '../adapters/node-files.ts';
import type {Environment} from '../answers/sources.ts';
import type {Files} from '../ports/files.ts';
import type {Prompter} from '../ports/prompter.ts';
import {inquirerPrompter} from '../ui/inquirer-prompter.ts';

/** The outside world of a command; tests put another in its place. */
export interface App {
  env: Environment;
  files: Files;
  prompter: Prompter;
  now: () => Date;
  /** Somebody can answer: a terminal on both ends of the conversation and no CI. */
  hasTerminal: boolean;
  /** Colours are welcome on standard error. */
  hasColor: boolean;
  stdout: (text: string) => void;
  stderr: (text: string) => void;
}

export const nodeApp = (): App => ({
  env: process.env,
  files: nodeFiles,
  prompter: inquirerPrompter,
  now: () => new Date(),
  hasTerminal: process.stdin.isTTY === true && process.stderr.isTTY === true && !process.env['CI'],
  hasColor: process.stderr.isTTY === true && !process.env['NO_COLOR'],
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
});
