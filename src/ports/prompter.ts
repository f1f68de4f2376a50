interface Question {
  message: string;
  /** Lines that ? displays. */
  help: readonly string[];
  /** Source of the default, or the meaning of an empty answer. */
  note?: string | undefined;
  /** Esc rejects the question with GoBack. Otherwise Esc does nothing. */
  canGoBack?: boolean | undefined;
}

export interface TextQuestion extends Question {
  /** Error message for the trimmed text; undefined if it is valid. Called after Enter. */
  validate?(text: string): string | undefined | Promise<string | undefined>;
}

export interface InputQuestion extends TextQuestion {
  /** The answer to an empty line. */
  default?: string;
  /** The default is inserted into the line and can be edited or removed. */
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

/** Prompts on the terminal. @throws PromptCancelled, GoBack */
export interface Prompter {
  /** The default is no. */
  confirm(message: string): Promise<boolean>;
  /** Returns the trimmed text. */
  input(question: InputQuestion): Promise<string>;
  /** An input that hides the text and shows its length. */
  password(question: TextQuestion): Promise<string>;
  /** Returns the value of one choice. */
  select(question: ListQuestion): Promise<string>;
  /** A select for long lists: typing filters the choices. */
  search(question: ListQuestion): Promise<string>;
  /** Returns the values of any number of choices, in the order of the list. */
  checkbox(question: ListQuestion): Promise<readonly string[]>;
}
