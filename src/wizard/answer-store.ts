import {settle} from '../answers/resolve.ts';
import type {Source} from '../answers/sources.ts';
import {catalogue} from '../settings/catalogue.ts';
import type {Get, ParseContext, Setting} from '../settings/define.ts';
import type {Answer, Settings} from '../settings/settings.ts';

/** The answers so far. */
export class AnswerStore {
  readonly #answers: Map<string, Answer>;
  /** IDs of answered questions, including empty answers. */
  readonly asked: Set<string>;
  /** IDs of settings whose answers were shown. */
  readonly told = new Set<string>();

  constructor(found: ReadonlyMap<string, Answer>, asked: Iterable<string> = []) {
    this.#answers = new Map(found);
    this.asked = new Set(asked);
  }

  /** Defaults included. */
  get: Get = <T>(setting: Setting<T>): T | undefined => {
    const answer = this.#answers.get(setting.id);
    return answer === undefined ? setting.fallback?.(this.get) : (answer.value as T);
  };

  answer = (setting: Setting): Answer | undefined => this.#answers.get(setting.id);

  /** True if the answer is not from the cluster. */
  isGiven = (setting: Setting): boolean => {
    const answer = this.answer(setting);
    return answer !== undefined && answer.source !== 'cluster';
  };

  /** In the order of the catalogue. */
  entries(): {setting: Setting; answer: Answer}[] {
    return catalogue.flatMap((setting) => {
      const answer = this.answer(setting);
      return answer === undefined ? [] : [{setting, answer}];
    });
  }

  set(setting: Setting, answer: Answer): void {
    this.#answers.set(setting.id, answer);
  }

  /** Removes the answer, so that the question is asked again. */
  delete(setting: Setting): void {
    this.#answers.delete(setting.id);
    this.asked.delete(setting.id);
  }

  /** Adds facts of the cluster for settings without an answer. */
  merge(cluster: Source, context: ParseContext): void {
    for (const setting of catalogue) {
      const raw = cluster.answer(setting);
      if (raw === undefined || this.#answers.has(setting.id)) continue;
      const because = cluster.because?.(setting);
      const value = setting.kind.parse(raw, context);
      this.#answers.set(setting.id, {value, source: 'cluster', ...(because === undefined ? {} : {because})});
    }
  }

  /** Removes prompted answers that no longer have an effect, and returns their settings. */
  dropUseless(): Setting[] {
    const useless = catalogue.filter(
      (setting) => this.answer(setting)?.source === 'prompt' && setting.appliesWhen !== undefined && !setting.appliesWhen.test(this.get),
    );
    for (const setting of useless) this.delete(setting);
    return useless;
  }

  /** @throws ExpectedError that lists all invalid and missing settings */
  settings(optional: readonly Setting[] = []): Settings {
    return settle({answers: this.#answers, problems: []}, {optional});
  }
}
