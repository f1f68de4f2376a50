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
  const root = join(__dirname, '../..');
  const asked = argv.indexOf('__complete');
  // Each press of Tab; the other program has put its command before it.
  if (asked === 0 || (asked === 1 && argv[0] === 'install')) {
    const {complete} = require(join(root, 'dist/cli/complete.js')) as typeof import('./complete.ts');
    void complete(argv.slice(asked + 1), argv.slice(0, asked), root);
    return;
  }
  // Progress that nobody reads, as behind `2>&1 | head`, is no reason to leave work undone.
  process.stderr.on('error', () => undefined);
  // Of both Node.js says on standard error that one is ignored, and here it is this one.
  if (process.env['NO_COLOR']) delete process.env['FORCE_COLOR'];
  const command = COMMANDS.find((name) => name === argv[0]) ?? 'other';
  const {start} = loadCompiled(join(root, 'dist/cli/start.js'), command) as typeof import('./start.ts');
  void start(argv, root);
}
