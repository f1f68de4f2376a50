import {withoutCredentials} from './addresses.ts';
import type {Setting} from './define.ts';
import type {Answer} from './settings.ts';

/** A secret itself, one from standard input, or an address with a password. The path of a file with a secret is none. */
export const holdsSecret = (setting: Setting, {value, given}: Answer): boolean =>
  setting.onlyEnv !== undefined ||
  given === '-' ||
  (typeof value === 'string' && withoutCredentials(value) !== value) ||
  (setting.holdsSecret?.(value) ?? false);

/** The answer as flags that a shell reads, one for each value; passwords in addresses are left out. */
export function flagsOf(setting: Setting, {value, given}: Answer): string[] {
  if (setting.kind.isSwitch) return [value ? `--${setting.id}` : `--no-${setting.id}`];
  const texts = (given === undefined ? setting.kind.format(value) : [given]).map(withoutCredentials);
  return texts.map((text) => `--${setting.id} ${quote(text)}`);
}

/** As a shell reads it, on one line. */
export function quote(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!/[\n\t]/.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return `$'${escaped}'`;
}
