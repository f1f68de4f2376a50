import {withoutCredentials} from './addresses.ts';
import {catalogue} from './catalogue.ts';
import type {Get, Setting} from './define.ts';

/** Where a value came from, in the order of precedence; `chart` is the default of the chart itself. */
export type AnswerSource = 'flag' | 'environment' | 'answers' | 'values-file' | 'cluster' | 'prompt' | 'default' | 'chart';

export interface Answer {
  value: unknown;
  source: AnswerSource;
  /** What the operator typed, where the value no longer shows it: the path of a file. */
  given?: string;
  /** Why this default, or where the cluster says so. */
  because?: string;
}

const EXPLICIT: readonly (AnswerSource | undefined)[] = ['flag', 'environment', 'answers', 'prompt'];

/** Settings with their values and sources. Immutable. */
export class Settings {
  readonly #answers: ReadonlyMap<string, Answer>;

  constructor(answers: ReadonlyMap<string, Answer>) {
    this.#answers = answers;
  }

  get: Get = <T>(setting: Setting<T>) => this.#answers.get(setting.id)?.value as T | undefined;

  answer = (setting: Setting): Answer | undefined => this.#answers.get(setting.id);

  /** True when a person said it as a setting, in whatever way. */
  isExplicit = (setting: Setting): boolean => EXPLICIT.includes(this.answer(setting)?.source);

  /** In the order of the catalogue. */
  entries(): {setting: Setting; answer: Answer}[] {
    return catalogue.flatMap((setting) => {
      const answer = this.answer(setting);
      return answer === undefined ? [] : [{setting, answer}];
    });
  }

  /** These settings with one more value. */
  with(setting: Setting, answer: Answer): Settings {
    return new Settings(new Map([...this.#answers, [setting.id, answer]]));
  }
}

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
