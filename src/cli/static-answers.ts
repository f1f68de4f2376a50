import {join} from 'node:path';
import {ownJson, ownText} from '../adapters/own-files.ts';
import {isPerhapsWsl} from '../adapters/wsl.ts';

/** What oclif would print for `--version` and for root `--help` in a pipe, without loading it; undefined for everything else. */
export function staticAnswer(argv: readonly string[], root: string): string | undefined {
  const [word = '--help', ...more] = argv;
  if (more.length > 0 || !['--version', '--help'].includes(word) || process.env['DEBUG'] || isPerhapsWsl()) return undefined;
  const {name, version} = ownJson(join(root, 'package.json')) as {name: string; version: string};
  const arch = process.arch === 'ia32' ? 'x86' : process.arch;
  const agent = `${name}/${version} ${process.platform}-${arch} node-${process.version}`;
  if (word === '--version') return `${agent}\n`;
  // Colors and columns are for oclif to choose.
  if (process.stdout.isTTY || 'FORCE_COLOR' in process.env || process.env['OCLIF_COLUMNS']) return undefined;
  return ownText(join(root, 'dist/help.txt')).replace('{agent}', agent);
}
