/** Asks the person at the terminal. */
export interface Prompter {
  confirm(question: string): Promise<boolean>;
}
