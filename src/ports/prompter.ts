/** Asks the person at the terminal. */
export interface Prompter {
  confirm(question: string): Promise<boolean>;
  /** What was typed. */
  input(question: string): Promise<string>;
}
