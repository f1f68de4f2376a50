import type {Prompter} from '../ground/system/system.ts';
import type {Screen} from '../ui/theme.ts';

/** A part of the screen above the questions, at the present width. */
export type Block = () => string;

interface Shown {
  block: Block;
  text: string;
}

interface TranscriptDeps {
  prompter: Pick<Prompter, 'canRedraw' | 'erase'>;
  screen: Screen;
  say(text: string): void;
}

/** What stands above the question. What has changed is erased and printed again. */
export class Transcript {
  readonly #deps: TranscriptDeps;
  #shown: Shown[] = [];

  constructor(deps: TranscriptDeps) {
    this.#deps = deps;
  }

  /** Shows these parts and no others. */
  show(blocks: readonly Block[]): void {
    const {prompter, screen, say} = this.#deps;
    const shown = blocks.map((block) => ({block, text: block()}));
    const changed = this.#shown.findIndex(({text}, index) => text !== shown[index]?.text);
    const kept = changed < 0 ? this.#shown.length : changed;
    const erased = this.#shown
      .slice(kept)
      .map(({text}) => text)
      .join('');
    if (erased !== '' && prompter.canRedraw)
      // What has left the window cannot be erased.
      prompter.erase(Math.min(erased.split('\n').length, screen.rows ?? 24) - 1);
    const added = shown
      .slice(kept)
      .map(({text}) => text)
      .join('');
    if (added !== '') say(added);
    this.#shown = shown;
  }

  add(block: Block): void {
    this.show([...this.#shown.map((each) => each.block), block]);
  }

  /** Everything again, at the present width. */
  text(): string {
    this.#shown = this.#shown.map(({block}) => ({block, text: block()}));
    return this.#shown.map(({text}) => text).join('');
  }
}
