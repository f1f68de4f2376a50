import {expect} from 'vitest';
import type {ChoiceQuestion, Prompter, TextQuestion} from '../../src/ports/prompter.ts';

/** The question, as a part of its text, and what the operator does: types, chooses by value, or presses Enter alone. */
export type Line = readonly [question: string, answer: string | readonly string[] | typeof ENTER];

export const ENTER = Symbol('Enter alone');

/** An operator who knows the lines: an unexpected question, an answer that is refused and a line left over all fail. */
export function scriptedPrompter(lines: readonly Line[]) {
  const left = [...lines];
  const asked: (TextQuestion | ChoiceQuestion)[] = [];
  const next = (question: TextQuestion | ChoiceQuestion): Line[1] => {
    asked.push(question);
    const line = left.shift();
    if (line === undefined || !question.message.includes(line[0]))
      throw new Error(`asked "${question.message}", expected ${line === undefined ? 'nothing more' : `"${line[0]}"`}`);
    return line[1];
  };
  const taken = (question: ChoiceQuestion, value: string): string => {
    const choice = question.choices.find((each) => each.value === value || each.label === value);
    if (choice === undefined || choice.unavailable !== undefined)
      throw new Error(
        `"${question.message}" does not offer ${value}: ${choice?.unavailable ?? question.choices.map((each) => each.value)}`,
      );
    return choice.value;
  };
  const firstOf = ({choices, default: preferred}: ChoiceQuestion): string => {
    const available = choices.filter(({unavailable}) => unavailable === undefined);
    return (available.find(({value}) => value === preferred) ?? available[0])?.value as string;
  };
  const prompter: Prompter = {
    async confirm(question) {
      return next({message: question, help: [], problem: () => undefined}) === 'y';
    },
    async text(question) {
      const answer = next(question);
      const text = answer === ENTER ? (question.default ?? '') : (answer as string);
      const problem = question.problem(text) ?? (await question.check?.(text));
      if (problem !== undefined) throw new Error(`"${question.message}" refuses the answer: ${problem}`);
      return text;
    },
    async choose(question) {
      const answer = next(question);
      return answer === ENTER ? firstOf(question) : taken(question, answer as string);
    },
    async chooseSeveral(question) {
      const answer = next(question);
      return answer === ENTER ? [] : (answer as readonly string[]).map((each) => taken(question, each));
    },
  };
  return {prompter, asked, done: () => expect(left.map(([question]) => question)).toEqual([])};
}
