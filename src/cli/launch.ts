import {join} from 'node:path';
import {ExitCode, interrupted} from '../ground/errors.ts';
import {
  cacheCompiledCode,
  mayBeWsl,
  onUnhandledInterrupt,
  readPackageJson,
  readPackageText,
} from '../ground/system/this-process.ts';
import {completeEnvironment} from '../ground/system/user-environment.ts';

/** Handles `--version`, `--help` and completion itself, and loads oclif for everything else. */
export async function launch(args: string[]): Promise<void> {
  const argv = inFlags(args);
  // Runs before the handler of oclif, which throws.
  process.stdout.prependListener('error', outputFailed);
  const root = join(import.meta.dirname, '../..');
  const answer = staticOutput(argv, root);
  if (answer !== undefined) {
    process.stdout.write(answer);
    return;
  }
  // Before other modules are loaded, because some of them need it.
  completeEnvironment(process.env);
  cacheCompiledCode();
  if (argv[0] === 'install') {
    const {hasEarlyTitle, showEarlyTitle} = await import('./early-title.ts');
    if (hasEarlyTitle(process)) showEarlyTitle(packageIn(root).version, process);
  }
  const index = argv.indexOf('__complete');
  // Shell completion; the other program adds its command in front.
  if (index === 0 || (index === 1 && argv[0] === 'install')) {
    const {complete} = await import('./complete.ts');
    return complete(argv.slice(index + 1), argv.slice(0, index), root);
  }
  onUnhandledInterrupt((signal) => endBy(signal, argv));
  // Unread progress, for example with `2>&1 | head`, must not stop the work.
  process.stderr.on('error', () => undefined);
  // If both are set, Node.js prints a warning that one is ignored.
  if (process.env['NO_COLOR']) delete process.env['FORCE_COLOR'];
  const {start} = await import('./start.ts');
  return start(argv, root);
}

/** `help COMMAND` and `version` are flags; no command has the names. */
function inFlags(args: string[]): string[] {
  const [first = '', ...others] = args;
  if (first === 'help') return [...others, '--help'];
  const isVersion =
    /^(version|-v|-V)$/.test(first) &&
    others.every((each) => each.startsWith('-') && !/^(-h|--help)$/.test(each));
  return isVersion ? ['--version'] : args;
}

/** A command that is interrupted before or between its operations also ends with one document. */
function endBy(reason: NodeJS.Signals, argv: readonly string[]): void {
  const {code, message, exit, suggestions} = interrupted('', AbortSignal.abort(reason));
  const document = {schemaVersion: 1, error: {code, message, suggestions, exit}};
  const [stream, text] = argv.includes('--json')
    ? [process.stdout, `${JSON.stringify(document, null, 2)}\n`]
    : [process.stderr, `Error: ${message}\n`];
  stream.write(text, () => process.exit(exit));
}

/** A closed pipe is not an error; a full disk is. */
function outputFailed({code}: NodeJS.ErrnoException): void {
  if (code !== 'EPIPE')
    process.stderr.write(
      `Error: Cannot write to standard output: ${code}. Free some disk space, or write to another file.\n`,
    );
  process.exit(code === 'EPIPE' ? ExitCode.ok : ExitCode.failed);
}

/** Output of `--version` and of root `--help` in a pipe, without loading oclif; undefined for everything else. */
function staticOutput(argv: readonly string[], root: string): string | undefined {
  const [word = '--help', ...more] = argv;
  if (
    more.length > 0 ||
    !['--version', '--help'].includes(word) ||
    process.env['DEBUG'] ||
    mayBeWsl()
  )
    return undefined;
  const {name, version} = packageIn(root);
  const arch = process.arch === 'ia32' ? 'x86' : process.arch;
  const agent = `${name}/${version} ${process.platform}-${arch} node-${process.version}`;
  if (word === '--version') return `${agent}\n`;
  // oclif handles colors and columns.
  if (process.stdout.isTTY || 'FORCE_COLOR' in process.env || process.env['OCLIF_COLUMNS'])
    return undefined;
  return readPackageText(join(root, 'dist/help.txt')).replace('{agent}', agent);
}

const packageIn = (root: string) =>
  readPackageJson(join(root, 'package.json')) as {name: string; version: string};
