import {settle} from '../answers/resolve.ts';
import type {Source} from '../answers/sources.ts';
import {catalogue} from '../settings/catalogue.ts';
import type {Get, ParseContext, Setting} from '../settings/define.ts';
import type {Answer, Settings} from '../settings/settings.ts';

/** The answers so far. */
export class AnswerStore {
  readonly #answers: Map<string, Answer>;
  /** Questions that were answered, by id; Enter alone is an answer too. */
  readonly asked: Set<string>;
  /** Settings whose answers the operator has seen, by id. */
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

  /** By a person: a cluster that knows its networks does not know whether there is a proxy. */
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

  /** It can be asked for again. */
  delete(setting: Setting): void {
    this.#answers.delete(setting.id);
    this.asked.delete(setting.id);
  }

  /** What a cluster says counts where nobody said anything. */
  merge(cluster: Source, context: ParseContext): void {
    for (const setting of catalogue) {
      const raw = cluster.answer(setting);
      if (raw === undefined || this.#answers.has(setting.id)) continue;
      const because = cluster.because?.(setting);
      const value = setting.kind.parse(raw, context);
      this.#answers.set(setting.id, {value, source: 'cluster', ...(because === undefined ? {} : {because})});
    }
  }

  /** Answers of this conversation that do nothing any more, because another one has changed. Returns what was dropped. */
  dropUseless(): Setting[] {
    const useless = catalogue.filter(
      (setting) => this.answer(setting)?.source === 'prompt' && setting.appliesWhen !== undefined && !setting.appliesWhen.test(this.get),
    );
    for (const setting of useless) this.delete(setting);
    return useless;
  }

  /** @throws ExpectedError that lists everything wrong and missing */
  settings(optional: readonly Setting[] = []): Settings {
    return settle({answers: this.#answers, problems: []}, {optional});
  }
}
