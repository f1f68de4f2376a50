import {isPerhapsWsl} from '../adapters/wsl.ts';

/** What oclif says in a pipe, written down by the build; empty while the build asks it. */
declare const KNOWN: {name: string; version: string; help: string};

/** Stands for the platform and Node.js of the reader in the help. */
export const AGENT = '{agent}';

/** The answer to a line that asks nothing but what the build knew; undefined where only oclif knows how it looks here. */
export function knownAnswer(argv: readonly string[]): string | undefined {
  const [word = '--help', ...more] = argv;
  if (more.length > 0 || process.env['DEBUG'] || isPerhapsWsl()) return undefined;
  const agent = `${KNOWN.name}/${KNOWN.version} ${process.platform}-${process.arch === 'ia32' ? 'x86' : process.arch} node-${process.version}`;
  if (word === '--version') return `${agent}\n`;
  if (word !== '--help' || KNOWN.help === '' || process.stdout.isTTY || isLookChosen()) return undefined;
  return KNOWN.help.replace(AGENT, agent);
}

const isLookChosen = (): boolean => 'FORCE_COLOR' in process.env || Boolean(process.env['OCLIF_COLUMNS']);
