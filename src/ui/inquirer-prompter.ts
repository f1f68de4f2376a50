import {type ChoiceQuestion, isYes, type Prompter, type TextQuestion, yesOrNo} from '../ports/prompter.ts';
import {Cancelled} from './prompts/cancelled.ts';
import type {Output} from './prompts/window.ts';
import type {Screen} from './theme.ts';

interface Streams {
  input: NodeJS.ReadableStream;
  /** Standard error, so that standard output stays the result. */
  output: Output;
  /** Takes the question away. */
  signal?: AbortSignal;
}

/** Prompts on a terminal that can move its cursor. */
export const inquirerPrompter = (screen: Screen, streams: Streams): Prompter => {
  const {output, signal} = streams;
  // A question that is taken away before it comes would leave the terminal in raw mode.
  const stillAsked = (): void => {
    if (signal?.aborted) throw new Cancelled();
  };
  const text = async (question: TextQuestion, shown?: (answer: string) => string): Promise<string> => {
    const {textPrompt} = await import('./prompts/text.ts');
    stillAsked();
    return textPrompt({question, screen, output, ...(shown ? {shown} : {})}, streams);
  };
  const choose = async (question: ChoiceQuestion, isSeveral: boolean): Promise<readonly string[]> => {
    const {choicePrompt} = await import('./prompts/choice.ts');
    stillAsked();
    return choicePrompt({question, isSeveral, screen, output}, streams);
  };
  return {
    confirm: async (question) => isYes(await text(yesOrNo(question), (answer) => (isYes(answer) ? 'yes' : 'no'))),
    text: (question) => text(question),
    choose: async (question) => (await choose(question, false))[0] as string,
    chooseSeveral: (question) => choose(question, true),
  };
};
