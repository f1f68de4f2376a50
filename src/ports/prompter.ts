interface Question {
  message: string;
  /** Lines that ? shows. */
  help: readonly string[];
}

export interface TextQuestion extends Question {
  /** Enter alone gives it. */
  default?: string;
  /** Where the default comes from, or what Enter alone means. */
  note?: string;
  /** The default stands in the line to be changed; a line that was emptied is an answer. */
  isEdited?: boolean;
  /** Nothing of it is shown. */
  isSecret?: boolean;
  /** What is wrong with the text, undefined where nothing is. Said while it is typed. */
  problem(text: string): string | undefined;
  /** What takes a look outside, once it was entered. */
  check?(text: string): Promise<string | undefined>;
}

export interface Choice {
  value: string;
  label: string;
  /** What follows from it. */
  meaning?: string;
  /** Why it cannot be taken. */
  unavailable?: string;
}

export interface ChoiceQuestion extends Question {
  choices: readonly Choice[];
  default?: string;
  /** Where the default comes from. */
  note?: string;
}

/** Asks the person at the terminal. */
export interface Prompter {
  /** Enter alone is no. */
  confirm(question: string): Promise<boolean>;
  /** What was typed, without blanks around it. */
  text(question: TextQuestion): Promise<string>;
  /** The value of the choice. */
  choose(question: ChoiceQuestion): Promise<string>;
  /** The values of the choices; Enter alone is none. */
  chooseSeveral(question: ChoiceQuestion): Promise<readonly string[]>;
}

/** A question without rules. */
export const anyText = (message: string): TextQuestion => ({message, help: [], problem: () => undefined});

/** A question for yes or no; Enter alone is no. */
export const yesOrNo = (message: string): TextQuestion => ({
  message,
  help: [],
  note: 'y/N',
  problem: (text) => (/^(y(es)?|no?)?$/i.test(text) ? undefined : 'Type y or n'),
});

export const isYes = (text: string): boolean => /^y/i.test(text);
