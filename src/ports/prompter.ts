interface Question {
  message: string;
  /** Lines that ? shows. */
  help: readonly string[];
  /** Where the default comes from, or what an empty answer means. */
  note?: string | undefined;
  /** Esc rejects the question with GoBack. Otherwise Esc does nothing. */
  canGoBack?: boolean | undefined;
}

export interface TextQuestion extends Question {
  /** Returns what is wrong with the trimmed text, undefined if it is valid. Called after Enter. */
  validate?(text: string): string | undefined | Promise<string | undefined>;
}

export interface InputQuestion extends TextQuestion {
  /** The answer to an empty line. */
  default?: string;
  /** The default is in the line to be edited, and can be removed. */
  isPrefilled?: boolean;
}

export interface Choice {
  value: string;
  label: string;
  description?: string;
  /** Why it cannot be chosen. */
  disabled?: string;
}

export interface ListQuestion extends Question {
  choices: readonly Choice[];
  default?: string;
}

/** Asks the person at the terminal. @throws PromptCancelled, GoBack */
export interface Prompter {
  /** The default is no. */
  confirm(message: string): Promise<boolean>;
  /** Returns the trimmed text. */
  input(question: InputQuestion): Promise<string>;
  /** An input that shows nothing of the text but its length. */
  password(question: TextQuestion): Promise<string>;
  /** Returns the value of one choice. */
  select(question: ListQuestion): Promise<string>;
  /** A select for long lists: typing filters the choices. */
  search(question: ListQuestion): Promise<string>;
  /** Returns the values of any number of choices, in the order of the list. */
  checkbox(question: ListQuestion): Promise<readonly string[]>;
}
