/** Reports a program that cannot start, for example because a file of the package is missing. Loads nothing, because anything can be missing. */
export function reportStartFailure(error: unknown, argv: readonly string[]): void {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `Cannot start scalr-agent: ${reason.split('\n', 1)[0]}`;
  const suggestions = ['Install the package again. If the error persists, report it'];
  const document = {schemaVersion: 1, error: {code: 'BUG', message, suggestions, exit: 1}};
  if (argv.includes('--json')) process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  else process.stderr.write(`Error: ${message}\nNext steps:\n  - ${suggestions[0]}\n`);
  if (argv.includes('--verbose') && error instanceof Error)
    process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
}
