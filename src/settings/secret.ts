import {inspect} from 'node:util';

/** Text that prints as [hidden] everywhere except where someone writes .reveal(). */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal = (): string => this.#text;
  toString = (): string => '[hidden]';
  toJSON = (): string => '[hidden]';
  [inspect.custom] = (): string => '[hidden]';
}
