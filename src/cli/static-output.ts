import {join} from 'node:path';
import {readPackageJson, readPackageText} from '../adapters/package-files.ts';
import {isPerhapsWsl} from '../adapters/wsl.ts';

/** Output of `--version` and of root `--help` in a pipe, without loading oclif; undefined for everything else. */
export function staticOutput(argv: readonly string[], root: string): string | undefined {
  const [word = '--help', ...more] = argv;
  if (more.length > 0 || !['--version', '--help'].includes(word) || process.env['DEBUG'] || isPerhapsWsl()) return undefined;
  const {name, version} = readPackageJson(join(root, 'package.json')) as {name: string; version: string};
  const arch = process.arch === 'ia32' ? 'x86' : process.arch;
  const agent = `${name}/${version} ${process.platform}-${arch} node-${process.version}`;
  if (word === '--version') return `${agent}\n`;
  // oclif handles colors and columns.
  if (process.stdout.isTTY || 'FORCE_COLOR' in process.env || process.env['OCLIF_COLUMNS']) return undefined;
  return readPackageText(join(root, 'dist/help.txt')).replace('{agent}', agent);
}
