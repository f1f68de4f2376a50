interface Question {
  message: string;
  /** Lines that ? displays. */
  help: readonly string[];
  /** Lines above the question that are part of it, such as the step of the wizard. */
  heading?: readonly string[] | undefined;
  /** Source of the default, or the meaning of an empty answer. */
  note?: string | undefined;
  /** Esc rejects the question with GoBack. Otherwise Esc does nothing. */
  canGoBack?: boolean | 'quit' | undefined;
}

export interface TextQuestion extends Question {
  /** What the text is recognized as, shown while it is typed; undefined for an incomplete text. */
  confirms?(text: string): string | undefined;
  /** Error message for the trimmed text; undefined if it is valid. Called after Enter. */
  validate?(text: string): string | undefined | Promise<string | undefined>;
}

export interface InputQuestion extends TextQuestion {
  /** The answer to an empty line. */
  default?: string;
  /** The default is inserted into the line and can be edited or removed. */
  isPrefilled?: boolean;
  /** Continuations of the text for Tab. */
  complete?(text: string): Promise<readonly string[]>;
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
  /** Replace the choices when they are known. Labels and number must not change. */
  laterChoices?: Promise<readonly Choice[]>;
  default?: string | undefined;
}

export interface CheckboxQuestion extends Omit<ListQuestion, 'default'> {
  /** Values that are selected at first. */
  selected?: readonly string[];
}

/** Prompts on the terminal. @throws PromptCancelled, GoBack */
export interface Prompter {
  /** False if lines cannot be erased: then the caller prints what `heading` would show. */
  canRedraw: boolean;
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
  checkbox(question: CheckboxQuestion): Promise<readonly string[]>;
  /** Shows a spinner until the promise settles; keys are ignored. */
  wait<T>(message: string, promise: Promise<T>, heading?: readonly string[]): Promise<T>;
  /** Keeps the terminal from echoing until the work is done. `above` is what must be printed again above a question after a resize. */
  session<T>(work: () => Promise<T>, above: () => string): Promise<T>;
  /** Erases the last lines that were printed above the question. Does nothing without `canRedraw`. */
  erase(lines: number): void;
}
