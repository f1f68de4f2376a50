import {catalogue} from './catalogue.ts';
import type {Get, Setting} from './define.ts';

/** Where a value came from, in the order of precedence; `chart` is the default of the chart itself. */
export type AnswerSource = 'flag' | 'environment' | 'answers' | 'cluster' | 'prompt' | 'default' | 'chart';

export interface Answer {
  value: unknown;
  source: AnswerSource;
  /** What the operator typed, where the value no longer shows it: the path of a file. */
  given?: string;
  /** Why this default, or where the cluster says so. */
  because?: string;
}

/** Settings with their values and sources. Immutable. */
export class Settings {
  readonly #answers: ReadonlyMap<string, Answer>;

  constructor(answers: ReadonlyMap<string, Answer>) {
    this.#answers = answers;
  }

  get: Get = <T>(setting: Setting<T>) => this.#answers.get(setting.id)?.value as T | undefined;

  answer = (setting: Setting): Answer | undefined => this.#answers.get(setting.id);

  /** True when a person said it, in whatever way. */
  isExplicit = (setting: Setting): boolean => {
    const source = this.answer(setting)?.source;
    return source !== undefined && source !== 'cluster' && source !== 'default' && source !== 'chart';
  };

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
