import type {Reporter, TestCase} from 'vitest/node';

/** Prints why tests were skipped: one line per reason, with the number of tests. */
export class SkipReport implements Reporter {
  readonly #reasons = new Map<string, number>();

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    if (result.state !== 'skipped') return;
    const reason = result.note ?? `of ${test.module.relativeModuleId}, by their condition`;
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
  }

  onTestRunEnd(): void {
    for (const [reason, count] of this.#reasons)
      process.stdout.write(`Skipped ${count} ${count === 1 ? 'test' : 'tests'}: ${reason}\n`);
    this.#reasons.clear();
  }
}
