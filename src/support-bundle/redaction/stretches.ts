import {LIMITS} from './limits.ts';

/** What goes out of a file: from `start` to `end`, counted from the beginning of the file, with what stands there instead. */
export interface Stretch {
  start: number;
  end: number;
  rule: string;
  instead: string;
  /** Whether the value was known beforehand, which says more of it than any rule. */
  known: boolean;
}

const longer = (one: Stretch, other: Stretch): Stretch => (other.end - other.start > one.end - one.start ? other : one);

/** Stretches in order; those that overlap become one, which is named after the value that was known. */
export class Stretches {
  readonly #all: Stretch[] = [];

  add(added: Stretch): void {
    let stretch = added;
    for (let last = this.#all.at(-1); last !== undefined && last.end > stretch.start; last = this.#all.at(-1)) {
      this.#all.pop();
      // What is before the other one is not touched by it.
      if (last.start >= stretch.end) {
        this.add(stretch);
        this.#all.push(last);
        return;
      }
      const better = last.known === stretch.known ? longer(last, stretch) : last.known ? last : stretch;
      stretch = {...better, start: Math.min(last.start, stretch.start), end: Math.max(last.end, stretch.end)};
    }
    this.#all.push(stretch);
  }

  covers(place: number): boolean {
    const last = this.#all.at(-1);
    return last !== undefined && last.start <= place && place < last.end;
  }

  /** Where a file may be written up to: not into a stretch that could still grow, unless it is longer than any value. */
  safe(end: number): number {
    const open = this.#all.find((each) => each.start < end && each.end > end);
    return open === undefined || end - open.start > 2 * LIMITS.ahead ? end : open.start;
  }

  /** Those that begin before `end`, taken out; the remainder of one that goes on stays and is not said again. */
  take(end: number): Stretch[] {
    const taken: Stretch[] = [];
    while (this.#all[0] !== undefined && this.#all[0].start < end) {
      const first = this.#all.shift() as Stretch;
      taken.push({...first, end: Math.min(first.end, end)});
      if (first.end > end) this.#all.unshift({...first, start: end, instead: '', rule: ''});
      if (first.end > end) break;
    }
    return taken;
  }
}
