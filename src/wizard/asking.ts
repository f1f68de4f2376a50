import {PromptCanceled} from '../ground/errors.ts';
import type {Files, Prompter} from '../ground/system/system.ts';
import type {Screen} from '../ui/theme.ts';
import type {Contexts} from './contexts.ts';
import type {GatheredFacts, KnownFacts} from './gathered-facts.ts';
import type {WizardState} from './wizard-state.ts';

/** How a question is shown: the lines below it, and whether Esc goes back. */
export interface QuestionFrame {
  heading: readonly string[];
  canGoBack: true | 'quit';
}

/** What questions need from the environment. */
export interface QuestionDeps {
  prompter: Prompter;
  screen: Screen;
  files: Pick<Files, 'read' | 'readStdin'>;
  now(): Date;
  env: Readonly<Record<string, string | undefined>>;
  contexts: Contexts;
  facts: GatheredFacts;
  /** A typed path, with ~ and quotes resolved. */
  typedPath(text: string): string;
  /** Name and version of a chart on this machine. @throws ExpectedError */
  readChart(path: string): Promise<{name: string; version: string}>;
}

/** One question to the user. */
export interface Asking {
  state: WizardState;
  known: KnownFacts;
  frame: QuestionFrame;
  deps: QuestionDeps;
}

/** The place, the token or pool, and the review. */
export const QUESTIONS = 3;

/** Who cannot see the screen is told how far the way is. */
export function sayNumber(
  number: number,
  {screen, say}: {screen: Screen; say(text: string): void},
): void {
  if (screen.isAccessible) say(`\nQuestion ${number} of ${QUESTIONS}.\n`);
}

/** @throws PromptCanceled if the user quits */
export async function confirmQuit(prompter: Prompter): Promise<void> {
  if (await prompter.confirm('Quit without changes?')) throw new PromptCanceled();
}
