/**
 * Divides so many bytes among files: each begins with an equal part of what is left, so that what small ones do not use is there
 * for those that begin later. Never less than a page, or a log of many would say nothing.
 */
export class Shares {
  #left: number;
  #files: number;
  /** What is kept for each file that has not begun. */
  readonly #equal: number;

  constructor(bytes: number, files: number) {
    this.#left = bytes;
    this.#files = files;
    this.#equal = Math.floor(bytes / Math.max(files, 1));
  }

  /** For the next file. */
  take(): number {
    const share = Math.max(Math.floor(this.#left / Math.max(this.#files, 1)), LEAST);
    this.#files -= 1;
    this.#left -= share;
    return share;
  }

  /** More than its part for a file that has begun: only what others turned out not to need. */
  grant(bytes: number): boolean {
    if (this.#left - bytes < this.#files * this.#equal) return false;
    this.#left -= bytes;
    return true;
  }

  /** What a file had too much of. */
  giveBack(bytes: number): void {
    this.#left += bytes;
  }
}

const LEAST = 16 * 1024;
