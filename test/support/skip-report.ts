import type {Reporter, TestCase} from 'vitest/node';

/** Tools that the machine must have, such as `zsh fish`: that tests are skipped without one of them is a failure. */
const REQUIRED = (process.env['TEST_TOOLS'] ?? '').split(' ').filter((tool) => tool !== '');

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
    for (const [reason, count] of this.#reasons) {
      const isRequired = REQUIRED.some((tool) => reason.startsWith(`${tool} is not installed`));
      const mark = isRequired ? ' - but TEST_TOOLS requires it' : '';
      process.stdout.write(
        `Skipped ${count} ${count === 1 ? 'test' : 'tests'}: ${reason}${mark}\n`,
      );
      if (isRequired) process.exitCode = 1;
    }
    this.#reasons.clear();
  }
}
