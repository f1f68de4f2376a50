import type {ChartRequirements} from '../charts/recommend.ts';
import {GoBack, PromptCanceled} from '../ground/errors.ts';
import type {Prompter} from '../ground/system/system.ts';
import {answeredStep} from '../ui/prompt-frame.ts';
import {answeredLine} from '../ui/prompt-text.ts';
import {paragraph, type Screen, theme} from '../ui/theme.ts';
import type {AnswerStore} from './answer-store.ts';
import {hostOf} from './possible-answers.ts';
import {STEPS, summaryOf, type WizardStep} from './steps.ts';

/** How a question is shown: the lines above it, and whether Esc goes back. */
export interface QuestionFrame {
  heading: readonly string[];
  canGoBack: true | 'quit';
}

export interface Question {
  id: string;
  step: WizardStep;
  message: string;
  /** True if the question applies and is not answered. */
  isOpen(): boolean;
  /** Asks, and stores the answer. Returns it in one line. @throws GoBack */
  ask(shown: QuestionFrame): Promise<string>;
  /** The stored answer of an earlier session or of the installed release; undefined if the question does not apply. */
  answer?(): string | undefined;
}

export interface InterviewDeps {
  prompter: Prompter;
  screen: Screen;
  /** Facts of the cluster that exclude charts. */
  facts(): ChartRequirements;
  say(text: string): void;
  /** Called after every answer to save the state. */
  onAnswer(): Promise<void>;
  /** Called before every question, to wait for the cluster. Returns true if that changed answers. */
  before(step: WizardStep, heading: readonly string[]): Promise<boolean>;
}

interface Answered {
  id: string;
  step: WizardStep;
  message: string;
  answer: string;
}

/** Asks the open questions in order. Esc reopens the previous one. Answered steps stay on the screen as one line each. */
export class Interview {
  readonly #store: AnswerStore;
  readonly #questions: readonly Question[];
  readonly #deps: InterviewDeps;
  /** Answered questions, oldest first, with their answers. */
  #history: Answered[] = [];
  /** The question that the user reopened from the review, and its answer in this session. */
  #edited: {id: string; before: readonly Answered[]} | undefined;
  /** Printed steps and the number of their lines. */
  readonly #printed: {step: number; text: string; lines: number}[] = [];
  /** Shown above the next question. */
  #notes: string[] = [];

  constructor(store: AnswerStore, questions: readonly Question[], deps: InterviewDeps) {
    this.#store = store;
    this.#questions = questions;
    this.#deps = deps;
  }

  /** Asks until no question is open. */
  async run(): Promise<void> {
    const {before, onAnswer, prompter} = this.#deps;
    for (;;) {
      const question = await this.#nextOrLast();
      if (question === undefined) break;
      const {id, step, message} = question;
      // Where lines stay on the screen, a title is printed when its step is certain.
      if (prompter.canRedraw) this.#print(this.#steps.indexOf(step));
      if (await before(step, [this.#title(step)])) continue;
      if (!prompter.canRedraw) this.#print(this.#steps.indexOf(step));
      try {
        const heading = this.#heading(step);
        this.#notes = [];
        const answer = await question.ask({heading, canGoBack: this.#history.length > 0 || 'quit'});
        this.#store.asked.add(id);
        this.#history = [
          ...this.#history.filter((each) => each.id !== id),
          {id, step, message, answer},
        ];
        if (this.#edited?.id === id) this.#edited = undefined;
        await onAnswer();
      } catch (error) {
        if (!(error instanceof GoBack)) throw error;
        if (this.#edited?.id === id) this.#keepEdited(this.#edited);
        else await this.back();
      }
    }
    // The review shows all answers.
    this.#print(prompter.canRedraw ? 0 : this.#steps.length);
  }

  /** Prints all steps, after the review. */
  finish(): void {
    this.#print(this.#steps.length);
  }

  /** Only Kubernetes has charts. */
  get #steps(): readonly WizardStep[] {
    return hostOf(this.#store) === undefined ? STEPS : STEPS.filter((step) => step !== 'Chart');
  }

  /** Reopens the previous question. @throws PromptCanceled if there is none and the user quits */
  async back(): Promise<void> {
    const previous = this.#history.pop();
    if (previous !== undefined) this.#store.asked.delete(previous.id);
    else if (await this.#deps.prompter.confirm('Quit without changes?')) throw new PromptCanceled();
  }

  /** Answered questions in the order of the steps, with those of an earlier session and of the installed release. */
  answered(): readonly Pick<Answered, 'id' | 'answer'>[] {
    return this.#questions.flatMap((question) => {
      const {id} = question;
      if (!this.#store.asked.has(id)) return [];
      const answer = this.#history.find((each) => each.id === id)?.answer ?? question.answer?.();
      return answer === undefined ? [] : [{id, answer}];
    });
  }

  /** Replaces the answer of a question that was changed elsewhere. */
  update(id: string, answer: string): void {
    this.#history = this.#history.map((each) => (each.id === id ? {...each, answer} : each));
  }

  /** Reopens one question, until it is answered again or Esc keeps its answer; later answers stay. */
  reopen({id}: Question): void {
    this.#edited = {id, before: this.#history.filter((each) => each.id === id)};
    this.#history = this.#history.filter((each) => each.id !== id);
    this.#store.asked.delete(id);
  }

  #keepEdited({id, before}: {id: string; before: readonly Answered[]}): void {
    this.#history.push(...before);
    this.#store.asked.add(id);
    this.#edited = undefined;
  }

  /** Shows a note above the next question. */
  note(text: string): void {
    if (this.#deps.prompter.canRedraw) this.#notes.push(text);
    else this.#deps.say(paragraph('  ', text, this.#deps.screen));
  }

  /** The notes for a prompt that is not a question, such as the review. */
  takeNotes(): readonly string[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  /** Prints a text that stays on the screen. */
  tell(text: string): void {
    this.#deps.say(text);
    // The steps above can no longer be erased.
    for (const each of this.#printed) each.lines = 0;
  }

  /** Without an open question, the facts of a changed cluster may open one. */
  async #nextOrLast(): Promise<Question | undefined> {
    const next = (): Question | undefined => this.#questions.find((question) => question.isOpen());
    const question = next();
    if (question !== undefined) return question;
    await this.#deps.before('Chart', [this.#title('Chart')]);
    return next();
  }

  #title(step: WizardStep): string {
    const {bold} = theme(this.#deps.screen);
    return `Step ${STEPS.indexOf(step) + 1} of ${this.#steps.length} · ${bold(step)}`;
  }

  #heading(step: WizardStep): string[] {
    // Elsewhere the title, the answers and the notes are already on the screen.
    if (!this.#deps.prompter.canRedraw) return [];
    const {dim} = theme(this.#deps.screen);
    const earlier = this.#history
      .filter((each) => each.step === step && this.#store.asked.has(each.id))
      .map(({message, answer}) => dim(answeredLine(message, answer)));
    return [this.#title(step), ...earlier, ...this.#notes];
  }

  /** Prints the steps before this one, and erases others and those that have changed. */
  #print(until: number): void {
    const {prompter, say} = this.#deps;
    const kept = this.#printed.findIndex(
      ({step, text}) => step >= until || text !== this.#lineOf(step),
    );
    for (const {lines} of kept < 0 ? [] : this.#printed.splice(kept).toReversed())
      prompter.erase(lines);
    for (let step = this.#printed.length; step < until; step += 1) {
      const text = this.#lineOf(step);
      say(text);
      this.#printed.push({step, text, lines: text.split('\n').length - 1});
    }
    if (!prompter.canRedraw && until < this.#steps.length && this.#titled !== until) {
      say(`\n${this.#title(STEPS[until] as WizardStep)}\n`);
      this.#titled = until;
    }
  }

  #lineOf(step: number): string {
    const {screen, facts} = this.#deps;
    const name = STEPS[step] as WizardStep;
    return answeredStep(name, summaryOf(name, this.#store, screen, facts()), screen);
  }

  /** The answered steps at the present width of the screen, which were erased. */
  above(): string {
    for (const each of this.#printed) {
      each.text = this.#lineOf(each.step);
      each.lines = each.text.split('\n').length - 1;
    }
    return this.#printed.map(({text}) => text).join('');
  }

  /** The step whose title was printed last, where titles stay on the screen. */
  #titled: number | undefined;
}
