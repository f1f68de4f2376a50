import {join} from 'node:path';
import {loadCompiled} from '../adapters/compiled-code.ts';
import {knownAnswer} from './known-answers.ts';
import {outputFailed} from './output-failed.ts';

declare const COMMANDS: readonly string[];

/** What is known since the build is said at once; for the rest the program is loaded. */
export function launch(argv: string[]): void {
  // Before oclif's own, which throws.
  process.stdout.prependListener('error', outputFailed);
  const answer = knownAnswer(argv);
  if (answer !== undefined) {
    process.stdout.write(answer);
    return;
  }
  const command = COMMANDS.find((name) => name === argv[0]) ?? 'other';
  const root = join(__dirname, '../..');
  const {start} = loadCompiled(join(root, 'dist/cli/start.js'), command) as typeof import('./start.ts');
  void start(argv, root);
}
