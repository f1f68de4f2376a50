import {isYes, type Prompter, yesOrNo} from '../ports/prompter.ts';
import type {Screen} from './theme.ts';

interface Streams {
  input: NodeJS.ReadableStream;
  /** Standard error, so that standard output stays the result. */
  output: NodeJS.WritableStream;
  /** Takes the question away. */
  signal?: AbortSignal;
}

/** Prompts on a terminal that can move its cursor. */
export const inquirerPrompter = (screen: Screen, streams: Streams): Prompter => ({
  async confirm(question) {
    const {textPrompt} = await import('./prompts/text.ts');
    return isYes(await textPrompt({question: yesOrNo(question), screen}, streams));
  },
  async text(question) {
    const {textPrompt} = await import('./prompts/text.ts');
    return textPrompt({question, screen}, streams);
  },
  async choose(question) {
    const {choicePrompt} = await import('./prompts/choice.ts');
    const [chosen] = await choicePrompt({question, screen, isSeveral: false}, streams);
    return chosen as string;
  },
  async chooseSeveral(question) {
    const {choicePrompt} = await import('./prompts/choice.ts');
    return choicePrompt({question, screen, isSeveral: true}, streams);
  },
});
