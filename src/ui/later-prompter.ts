import type {Prompter} from '../ground/system/system.ts';

/** Prompts that are loaded with the first question, because most commands ask none. */
export class LaterPrompter implements Prompter {
  readonly canRedraw: boolean;
  readonly #load: () => Promise<Prompter>;
  #loaded: Prompter | undefined;

  constructor(canRedraw: boolean, load: () => Promise<Prompter>) {
    this.canRedraw = canRedraw;
    this.#load = load;
  }

  confirm: Prompter['confirm'] = async (...asked) => (await this.#prompter()).confirm(...asked);
  input: Prompter['input'] = async (question) => (await this.#prompter()).input(question);
  password: Prompter['password'] = async (question) => (await this.#prompter()).password(question);
  select: Prompter['select'] = async (question) => (await this.#prompter()).select(question);
  search: Prompter['search'] = async (question) => (await this.#prompter()).search(question);
  wait: Prompter['wait'] = async (...work) => (await this.#prompter()).wait(...work);
  session: Prompter['session'] = async (...work) => (await this.#prompter()).session(...work);

  /** Nothing is above a question that was not asked. */
  erase(lines: number): void {
    this.#loaded?.erase(lines);
  }

  async #prompter(): Promise<Prompter> {
    this.#loaded ??= await this.#load();
    return this.#loaded;
  }
}
