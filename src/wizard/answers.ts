import {settleAnswers} from '../answers/resolve.ts';
import type {SettingsSource} from '../answers/sources.ts';
import {catalog} from '../settings/catalog.ts';
import type {Get, Setting} from '../settings/define.ts';
import {type Answer, Settings} from '../settings/settings.ts';

/** The answers so far: incomplete, and not validated against each other. Immutable. */
export class Answers {
  readonly #answers: ReadonlyMap<string, Answer>;

  constructor(answers: ReadonlyMap<string, Answer>) {
    this.#answers = answers;
  }

  /** Defaults included. */
  get: Get = <T>(setting: Setting<T>): T | undefined => {
    const answer = this.answer(setting);
    return answer === undefined ? setting.fallback?.(this.get) : (answer.value as T);
  };

  answer = ({id}: Pick<Setting, 'id'>): Answer | undefined => this.#answers.get(id);

  /** True if the answer is not from the cluster. */
  isGiven = (setting: Setting): boolean => {
    const answer = this.answer(setting);
    return answer !== undefined && answer.source !== 'cluster';
  };

  /** True for an answer from a flag, a variable or a file: its question is skipped. */
  isFixed = (setting: Setting): boolean =>
    this.isGiven(setting) && this.answer(setting)?.source !== 'prompt';

  /** In the order of the catalog. */
  entries(): {setting: Setting; answer: Answer}[] {
    return catalog.flatMap((setting) => {
      const answer = this.answer(setting);
      return answer === undefined ? [] : [{setting, answer}];
    });
  }

  with({id}: Setting, answer: Answer): Answers {
    return new Answers(new Map(this.#answers).set(id, answer));
  }

  without({id}: Setting): Answers {
    const answers = new Map(this.#answers);
    answers.delete(id);
    return new Answers(answers);
  }

  /** With facts of the cluster for settings without an answer. */
  withCluster(cluster: SettingsSource | undefined): Answers {
    const answers = new Map(this.#answers);
    for (const setting of catalog) {
      const raw = cluster?.answer(setting);
      if (raw === undefined || answers.has(setting.id)) continue;
      const because = cluster?.because?.(setting);
      answers.set(setting.id, {
        value: setting.kind.parse(raw, {now: new Date(0)}),
        source: 'cluster',
        ...(because === undefined ? {} : {because}),
      });
    }
    return new Answers(answers);
  }

  /** As settings that nobody has checked. */
  unchecked(): Settings {
    return new Settings(this.#answers);
  }

  /** @throws ExpectedError that lists all invalid and missing settings */
  settings(): Settings {
    return settleAnswers({answers: this.#answers, problems: []}, {optional: []});
  }
}
