import type {Prompter} from '../ground/system/system.ts';
import type {Screen} from '../ui/theme.ts';

/** A part of the screen above the questions, at the present width. */
export type Block = () => string;

/** Lines of the question below. */
const QUESTION = 12;

interface Shown {
  block: Block;
  text: string;
}

interface TranscriptDeps {
  prompter: Pick<Prompter, 'canRedraw' | 'erase'>;
  screen: Screen;
  say(text: string): void;
}

/** What stands above the question. What has changed is erased and printed again, while all of it is in the window. */
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
    const linesFrom = (index: number): number =>
      this.#shown
        .slice(index)
        .map(({text}) => text)
        .join('')
        .split('\n').length - 1;
    const {rows = 24} = screen;
    const first = changed < 0 ? this.#shown.length : changed;
    // What a question has pushed out of the window cannot be erased: all of it stays, and what is new follows.
    const isInside = linesFrom(0) + QUESTION < rows;
    const outdated = linesFrom(first);
    if (outdated > 0 && isInside && prompter.canRedraw) prompter.erase(outdated);
    const added = shown
      .slice(first)
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
