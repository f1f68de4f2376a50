import {expect} from 'vitest';
import {GoBack} from '../../src/ground/errors.ts';
import type {InputQuestion, ListQuestion, Prompter} from '../../src/ground/system/system.ts';

/** Part of a question, and the reply: typed text, a value to select, or only Enter or Esc. */
export type Line = readonly [
  question: string,
  answer: string | readonly string[] | typeof ENTER | typeof ESC,
];

export const ENTER = Symbol('Enter alone');
export const ESC = Symbol('Esc');

/** A strict scripted prompter: unexpected questions, rejected answers and unused replies fail the test. */
export function scriptedPrompter(lines: readonly Line[]) {
  const left = [...lines];
  const asked: (InputQuestion | ListQuestion)[] = [];
  const next = (question: InputQuestion | ListQuestion): Exclude<Line[1], typeof ESC> => {
    asked.push(question);
    const line = left.shift();
    if (line === undefined || !question.message.includes(line[0]))
      throw new Error(
        `asked "${question.message}", expected ${line === undefined ? 'nothing more' : `"${line[0]}"`}`,
      );
    if (line[1] !== ESC) return line[1];
    if (!question.canGoBack) throw new Error(`"${question.message}" has no way back`);
    throw new GoBack();
  };
  const taken = (question: ListQuestion, value: string): string => {
    const choice = question.choices.find((each) => each.value === value || each.label === value);
    if (choice === undefined || choice.disabled !== undefined)
      throw new Error(
        `"${question.message}" does not offer ${value}: ${choice?.disabled ?? question.choices.map((each) => each.value)}`,
      );
    return choice.value;
  };
  const firstOf = ({choices, default: preferred}: ListQuestion): string => {
    const available = choices.filter(({disabled}) => disabled === undefined);
    return (available.find(({value}) => value === preferred) ?? available[0])?.value as string;
  };
  const text = async (question: InputQuestion): Promise<string> => {
    const answer = next(question);
    const given = answer === ENTER ? (question.default ?? '') : (answer as string);
    const problem = await question.validate?.(given);
    if (problem !== undefined)
      throw new Error(`"${question.message}" refuses the answer: ${problem}`);
    return given;
  };
  const choose = async (question: ListQuestion): Promise<string> => {
    const answer = next(question);
    return answer === ENTER ? firstOf(question) : taken(question, answer as string);
  };
  const prompter: Prompter = {
    canRedraw: true,
    confirm: async (message) => next({message, help: []}) === 'y',
    input: text,
    password: text,
    select: choose,
    search: choose,
    wait: async (_, promise) => promise,
    session: (work) => work(),
    erase: () => undefined,
  };
  return {prompter, asked, done: () => expect(left.map(([question]) => question)).toEqual([])};
}
