interface Question {
  message: string;
  /** Lines that ? shows. */
  help: readonly string[];
  /** Where the default comes from, or what Enter alone means. */
  note?: string | undefined;
  /** Esc rejects it with GoBack; otherwise Esc does nothing. */
  canGoBack?: boolean | undefined;
}

export interface TextQuestion extends Question {
  /** What is wrong with the text, undefined where nothing is. Called after Enter, without blanks around the text. */
  validate?(text: string): string | undefined | Promise<string | undefined>;
}

export interface InputQuestion extends TextQuestion {
  /** Enter alone gives it. */
  default?: string;
  /** The default stands in the line to be changed, and can be taken back. */
  isPrefilled?: boolean;
}

export interface Choice {
  value: string;
  label: string;
  /** What follows from it. */
  description?: string;
  /** Why it cannot be taken. */
  disabled?: string;
}

export interface ListQuestion extends Question {
  /** At least one of them can be taken, except for a checkbox. */
  choices: readonly Choice[];
  default?: string;
}

/** Asks the person at the terminal. Every question may be rejected with PromptCancelled. */
export interface Prompter {
  /** Enter alone is no. */
  confirm(message: string): Promise<boolean>;
  /** What was typed, without blanks around it. */
  input(question: InputQuestion): Promise<string>;
  /** The same, with nothing of the text shown. */
  password(question: TextQuestion): Promise<string>;
  /** The value of one choice. */
  select(question: ListQuestion): Promise<string>;
  /** The same, for long lists: what is typed leaves only the choices that have it. */
  search(question: ListQuestion): Promise<string>;
  /** The values of any number of choices, in their order; Enter alone is none. */
  checkbox(question: ListQuestion): Promise<readonly string[]>;
}

/** Ctrl-C, Ctrl-D, or the question was taken away. */
export class PromptCancelled extends Error {
  override readonly name = 'PromptCancelled';
}

/** Esc at a question that allows it. */
export class GoBack extends Error {
  override readonly name = 'GoBack';
}
