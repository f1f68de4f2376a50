import {credentialsIn, hideCredentials} from '../ground/credentials.ts';
import {catalog} from './catalog.ts';
import type {Get, Setting} from './define.ts';
import {withoutCredentials} from './kinds/urls.ts';
import {chartSource} from './release.ts';

/** The source of a value, in order of precedence; `chart` is the chart default. */
export type AnswerSource =
  | 'flag'
  | 'environment'
  | 'answers'
  | 'values-file'
  | 'cluster'
  | 'prompt'
  | 'default'
  | 'chart';

export interface Answer {
  value: unknown;
  source: AnswerSource;
  /** What the user typed, if the value does not contain it: a file path. */
  given?: string;
  /** How the user gave it, if not as a flag: a variable, or a line of the answers file. */
  spelled?: string;
  /** How the text was read, if it was not the full spelling. */
  notes?: readonly string[];
  /** Reason for the default, or where the cluster provides it. */
  because?: string | undefined;
}

const EXPLICIT: readonly (AnswerSource | undefined)[] = [
  'flag',
  'environment',
  'answers',
  'prompt',
];

/** Settings with their values and sources. Immutable. */
export class Settings {
  readonly #answers: ReadonlyMap<string, Answer>;

  constructor(answers: ReadonlyMap<string, Answer>) {
    this.#answers = answers;
  }

  get: Get = <T>(setting: Setting<T>) => this.#answers.get(setting.id)?.value as T | undefined;

  answer = (setting: Setting): Answer | undefined => this.#answers.get(setting.id);

  /** True if the user set it by flag, variable, answers file or prompt. */
  isExplicit = (setting: Setting): boolean => EXPLICIT.includes(this.answer(setting)?.source);

  /** In the order of the catalog. */
  entries(): {setting: Setting; answer: Answer}[] {
    return catalog.flatMap((setting) => {
      const answer = this.answer(setting);
      return answer === undefined ? [] : [{setting, answer}];
    });
  }

  /** A copy with one more value. */
  with(setting: Setting, answer: Answer): Settings {
    return new Settings(new Map([...this.#answers, [setting.id, answer]]));
  }

  without(setting: Setting): Settings {
    return new Settings(new Map([...this.#answers].filter(([id]) => id !== setting.id)));
  }
}

/** Settings from their values by id. */
export const getFrom =
  (values: ReadonlyMap<string, unknown>): Get =>
  <T>({id}: Setting<T>) =>
    values.get(id) as T | undefined;

/** True for a URL with a user name or password. */
export const hasPassword = ({value}: Answer): boolean =>
  typeof value === 'string' && withoutCredentials(value) !== value;

/** True for a secret, a value from standard input, or a URL with a password; false for the path of a secret file. */
export const holdsSecret = (setting: Setting, answer: Answer): boolean =>
  setting.onlyEnv !== undefined ||
  answer.given === '-' ||
  hasPassword(answer) ||
  (setting.holdsSecret?.(answer.value) ?? false) ||
  textsOf(setting, answer).some((text) => credentialsIn(text).length > 0);

/** The answer as the user types it, one text per value. */
const textsOf = (setting: Setting, {value, given}: Answer): string[] =>
  given === undefined ? setting.kind.format(value) : [given];

/** Without passwords in URLs, and with other credentials hidden. */
const shownText = (text: string): string => hideCredentials(withoutCredentials(text));

/** The answer as shell-quoted flags, one per value; passwords in URLs are omitted, other credentials hidden. */
export function flagsOf(setting: Setting, answer: Answer): string[] {
  if (setting.kind.isSwitch) return [answer.value ? `--${setting.id}` : `--no-${setting.id}`];
  return textsOf(setting, answer).map((text) => `--${setting.id} ${quote(shownText(text))}`);
}

/** The same flags as a record in a generated file, which other people read. */
export function recordedFlags(setting: Setting, answer: Answer): string[] {
  const texts = textsOf(setting, answer);
  const {recorded} = setting;
  if (recorded) return texts.map((text) => `--${setting.id} ${quote(shownText(recorded(text)))}`);
  if (!isPath(setting)) return flagsOf(setting, answer);
  return texts.map((text) => `--${setting.id} ${quote(recordedPath(shownText(text)))}`);
}

/** True if the recorded flag has only the last part of a path. */
export const isShortened = (setting: Setting, answer: Answer): boolean =>
  isPath(setting) && textsOf(setting, answer).some((text) => recordedPath(text) !== text);

const isPath = ({kind, id}: Setting): boolean => kind.isFile === true || id === chartSource.id;

/** An absolute path exists on one machine only, and can contain the name of its user: the last part remains. */
export const recordedPath = (path: string): string =>
  /^(?:[/~]|[A-Za-z]:[\\/])/.test(path)
    ? (path.split(/[\\/]/).findLast((part) => part !== '') ?? '.')
    : path;

/** Quotes the text for a shell, on one line. */
export function quote(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!/[\n\t]/.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t');
  return `$'${escaped}'`;
}
