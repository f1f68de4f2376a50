import type {Group, Setting} from '../settings/define.ts';
import {headingText, knownText} from '../ui/conversation.ts';
import type {Screen} from '../ui/theme.ts';
import type {AnswerStore} from './answer-store.ts';
import {type AskDeps, ask} from './ask.ts';
import {CHART_DEFAULT, chartDefaultOf, isForeign} from './chart-refusals.ts';
import type {Gate, Question} from './questions.ts';

export interface InterviewDeps extends AskDeps {
  screen: Screen;
  say(text: string): void;
  /** Called after every answer to save the state. */
  onAnswer(): Promise<void>;
}

/** Asks unanswered questions in order and shows known answers. */
export class Interview {
  readonly #store: AnswerStore;
  readonly #deps: InterviewDeps;
  #group: Group | undefined;

  constructor(store: AnswerStore, deps: InterviewDeps) {
    this.#store = store;
    this.#deps = deps;
  }

  async ask(items: readonly (Question | Gate)[]): Promise<void> {
    for (const item of items) await ('options' in item ? this.#askGate(item) : this.#askOne(item));
  }

  /** Shows a known answer once. */
  tell(setting: Setting, under: Group = setting.group): void {
    const answer = this.#store.answer(setting);
    if (answer === undefined || this.#store.told.has(setting.id)) return;
    this.#store.told.add(setting.id);
    this.#under(under);
    this.#deps.say(knownText(setting, answer, this.#deps.screen));
  }

  async #askOne({setting, when, orElse, suggested, under = setting.group}: Question): Promise<void> {
    const store = this.#store;
    if (store.isGiven(setting)) return this.tell(setting, under);
    const applies = (setting.appliesWhen?.test(store.get) ?? true) && (when?.(store.get, store.isGiven) ?? true);
    if (applies && store.answer(setting) !== undefined) return this.tell(setting, under);
    if (!applies || store.asked.has(setting.id) || isForeign(setting, store)) return;
    this.#under(under);
    const empty = orElse === CHART_DEFAULT ? (chartDefaultOf(setting, store) ?? CHART_DEFAULT) : orElse;
    const answer = await ask(setting, {orElse: empty, suggested}, store, this.#deps);
    store.told.add(setting.id);
    if (answer !== undefined) store.set(setting, answer);
    await this.#remember(setting.id);
  }

  async #askGate({id, group, message, help, options}: Gate): Promise<void> {
    const store = this.#store;
    const isKnown = ({asked}: Gate['options'][number]): boolean =>
      asked.some(({setting}) => store.isGiven(setting) || store.asked.has(setting.id));
    const open = options.filter((option) => !isKnown(option) && !option.asked.every((each) => !this.#isOpen(each)));
    if (open.length > 0 && !store.asked.has(id)) {
      this.#under(group);
      const choices = open.map(({label, description}) => ({value: label, label, description}));
      const taken = await this.#deps.prompter.checkbox({message, help, choices});
      for (const option of open.filter(({label}) => taken.includes(label))) await this.ask(option.asked);
      await this.#remember(id);
    }
    for (const option of options.filter(isKnown)) await this.ask(option.asked);
  }

  #isOpen({setting, when}: Question): boolean {
    return (when?.(this.#store.get, this.#store.isGiven) ?? true) && !isForeign(setting, this.#store);
  }

  async #remember(id: string): Promise<void> {
    this.#store.asked.add(id);
    await this.#deps.onAnswer();
  }

  #under(group: Group): void {
    if (group === this.#group) return;
    this.#group = group;
    this.#deps.say(headingText(group, this.#deps.screen));
  }
}
