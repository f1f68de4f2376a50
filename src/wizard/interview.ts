import type {Group, Setting} from '../settings/define.ts';
import {headingText, knownText} from '../ui/conversation.ts';
import type {Screen} from '../ui/theme.ts';
import {type AskingWorld, ask} from './ask.ts';
import {isForeign} from './chart-refusals.ts';
import type {Knowledge} from './knowledge.ts';
import type {Asked, Gate} from './questions.ts';

export interface InterviewWorld extends AskingWorld {
  screen: Screen;
  say(text: string): void;
  /** Called after every answer, so that it can be kept. */
  onAnswer(): Promise<void>;
}

/** Asks what is not known yet, in order; what is known is shown as if it had been asked. */
export class Interview {
  readonly #known: Knowledge;
  readonly #world: InterviewWorld;
  #group: Group | undefined;

  constructor(known: Knowledge, world: InterviewWorld) {
    this.#known = known;
    this.#world = world;
  }

  async ask(items: readonly (Asked | Gate)[]): Promise<void> {
    for (const item of items) await ('options' in item ? this.#askGate(item) : this.#askOne(item));
  }

  /** Shows an answer that is known, once. */
  tell(setting: Setting, under: Group = setting.group): void {
    const answer = this.#known.answer(setting);
    if (answer === undefined || this.#known.told.has(setting.id)) return;
    this.#known.told.add(setting.id);
    this.#under(under);
    this.#world.say(knownText(setting, answer, this.#world.screen));
  }

  async #askOne({setting, when, orElse, suggested, under = setting.group}: Asked): Promise<void> {
    const known = this.#known;
    if (known.isSaid(setting)) return this.tell(setting, under);
    const applies = (setting.appliesWhen?.test(known.get) ?? true) && (when?.(known.get, known.isSaid) ?? true);
    if (applies && known.answer(setting) !== undefined) return this.tell(setting, under);
    if (!applies || known.asked.has(setting.id) || isForeign(setting, known)) return;
    this.#under(under);
    const answer = await ask(setting, {orElse, suggested}, known, this.#world);
    known.told.add(setting.id);
    if (answer !== undefined) known.say(setting, answer);
    await this.#remember(setting.id);
  }

  async #askGate({id, group, message, help, options}: Gate): Promise<void> {
    const known = this.#known;
    const isKnown = ({asked}: Gate['options'][number]): boolean =>
      asked.some(({setting}) => known.isSaid(setting) || known.asked.has(setting.id));
    const open = options.filter((option) => !isKnown(option) && !option.asked.every((each) => !this.#isOpen(each)));
    if (open.length > 0 && !known.asked.has(id)) {
      this.#under(group);
      const choices = open.map(({label, meaning}) => ({value: label, label, meaning}));
      const taken = await this.#world.prompter.chooseSeveral({message, help, choices});
      for (const option of open.filter(({label}) => taken.includes(label))) await this.ask(option.asked);
      await this.#remember(id);
    }
    for (const option of options.filter(isKnown)) await this.ask(option.asked);
  }

  #isOpen({setting, when}: Asked): boolean {
    return (when?.(this.#known.get, this.#known.isSaid) ?? true) && !isForeign(setting, this.#known);
  }

  async #remember(id: string): Promise<void> {
    this.#known.asked.add(id);
    await this.#world.onAnswer();
  }

  #under(group: Group): void {
    if (group === this.#group) return;
    this.#group = group;
    this.#world.say(headingText(group, this.#world.screen));
  }
}
