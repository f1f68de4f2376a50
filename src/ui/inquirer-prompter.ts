import type {Prompter} from '../ports/prompter.ts';

/** Prompts on standard error, so that standard output stays the result. */
export const inquirerPrompter: Prompter = {
  async confirm(question) {
    const {default: confirm} = await import('@inquirer/confirm');
    return confirm({message: question, default: false}, {output: process.stderr});
  },
  async input(question) {
    const {default: input} = await import('@inquirer/input');
    return input({message: question}, {output: process.stderr});
  },
};
