/** Minimum useful size of a log. */
export const MIN_SHARE_BYTES = 16 * 1024;

/**
 * Divides the total size among logs. Each log starts with an equal share of the rest, so that the unused share of small logs is available
 * to later ones.
 */
export class Shares {
  #left: number;
  #logs: number;
  /** Reserved for each log that has not started. */
  readonly #equal: number;

  constructor(bytes: number, logs: number) {
    this.#left = bytes;
    this.#logs = logs;
    this.#equal = Math.floor(bytes / Math.max(logs, 1));
  }

  /** Share of the next log. */
  take(): number {
    const share = Math.max(Math.floor(this.#left / Math.max(this.#logs, 1)), MIN_SHARE_BYTES);
    this.#logs -= 1;
    this.#left -= share;
    return share;
  }

  /** Additional bytes for a started log: only what others did not use. */
  grant(bytes: number): boolean {
    if (this.#left - bytes < this.#logs * this.#equal) return false;
    this.#left -= bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#left += bytes;
  }
}
