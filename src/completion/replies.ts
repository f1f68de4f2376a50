import type {Candidate, Offer} from './candidates.ts';
import type {BashWords, Line} from './line.ts';

/**
 * The format that the scripts in templates/completion parse. Installed scripts outlive program versions, so it must not change:
 * a line with the type (values, files, directories), a line with the part of the word before the completion, and a line per
 * value: the value, a tab, its description.
 */
export function reply(offer: Offer, {prefix, typed}: Line, {isFiltered}: {isFiltered: boolean}): string {
  if (typeof offer === 'string') return `${offer}\n${prefix}\n`;
  const fitting = printable(offer).filter(({value}) => !isFiltered || value.startsWith(typed));
  return `values\n${prefix}\n${fitting.map(({value, description}) => `${value}\t${description}\n`).join('')}`;
}

/** Completion variables of bash. */
interface Asking {
  /** COMP_TYPE: 63 ("?") after a second Tab, 33 and 64 where the first one lists as well. */
  type: string;
  /** Width of the terminal, if known. */
  columns: number;
}

const LISTS = ['33', '63', '64'];

/**
 * For bash: options for compopt, the part of the word before a file, and the replacements of the word. bash does not support
 * descriptions; in a list, where nothing is inserted, they follow the values.
 */
export function bashReply(offer: Offer, {prefix, typed}: Line, {kept, quote}: BashWords, {type, columns}: Asking): string {
  if (typeof offer === 'string') return `-o ${offer === 'files' ? 'default' : 'dirnames'}\n${prefix.slice(kept.length)}\n`;
  const fitting = printable(offer).filter(({value}) => value.startsWith(typed));
  const texts = fitting.map(({value, description}) => ({value: inQuotes((prefix + value).slice(kept.length), quote), description}));
  const isList = texts.length > 1 && LISTS.includes(type);
  return `-o nosort\n\n${(isList ? listed(texts, columns) : texts.map(({value}) => value)).map((text) => `${text}\n`).join('')}`;
}

function inQuotes(text: string, quote: string): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  return text.replace(quote === '"' ? /["$`\\]/g : /[^\w@%+=:,./-]/gu, '\\$&');
}

function listed(candidates: readonly Candidate[], columns: number): string[] {
  const width = Math.max(...candidates.map(({value}) => value.length));
  const left = columns - width - 5;
  return candidates.map(({value, description}) => {
    if (description === '' || left < 10) return value;
    return `${value.padEnd(width)}  (${description.length > left ? `${description.slice(0, left - 1)}…` : description})`;
  });
}

/** Names are untrusted: names with control characters are omitted. */
const printable = (candidates: readonly Candidate[]): Candidate[] =>
  candidates
    .filter(({value}) => !/\p{Cc}/u.test(value))
    .map(({value, description}) => ({value, description: description.replace(/\p{Cc}/gu, ' ')}));

/** Supported shells: the script in templates/completion, the command that loads it and the startup file. */
export const SHELLS = {
  bash: {file: 'scalr-agent.bash', load: 'source <(scalr-agent completion bash)', startup: '~/.bashrc'},
  zsh: {file: 'scalr-agent.zsh', load: 'source <(scalr-agent completion zsh)', startup: '~/.zshrc'},
  fish: {file: 'scalr-agent.fish', load: 'scalr-agent completion fish | source', startup: '~/.config/fish/config.fish'},
  powershell: {file: 'scalr-agent.ps1', load: 'scalr-agent completion powershell | Out-String | Invoke-Expression', startup: '$PROFILE'},
} as const;
export type Shell = keyof typeof SHELLS;
