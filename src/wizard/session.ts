import {setTimeout} from 'node:timers/promises';
import {newestVersions} from '../charts/chart-version.ts';
import {GoBack} from '../ground/errors.ts';
import {tokenSecret} from '../settings/agent.ts';
import {chart} from '../settings/release.ts';
import {answeredStep} from '../ui/prompt-frame.ts';
import {apply, back, openQuestions} from './apply.ts';
import {askChart, CHART_MEANINGS} from './ask-chart.ts';
import {askElsewhere} from './ask-elsewhere.ts';
import {askPool} from './ask-pool.ts';
import {askRequirements} from './ask-requirements.ts';
import {askRole, ROLE} from './ask-role.ts';
import {askSetting} from './ask-setting.ts';
import {askTarget} from './ask-target.ts';
import {askTokenSecret} from './ask-token-secret.ts';
import {type Asking, confirmQuit, QUESTIONS, sayNumber} from './asking.ts';
import {chooseTopic} from './change-menu.ts';
import {decided} from './decisions.ts';
import {type FactName, type KnownFacts, requirementsOf} from './gathered-facts.ts';
import {askInstalled, reopened} from './installed-agent.ts';
import {next, type WizardStep} from './next.ts';
import {hasCluster, type Place, placeText} from './place.ts';
import {likelyTarget} from './possible-answers.ts';
import type {Reply} from './reply.ts';
import {type Decided, type Decision, Review, type ReviewDeps} from './review.ts';
import {agentValue, type TopicView} from './topics.ts';
import type {Block, Transcript} from './transcript.ts';
import {asAsked, type WizardState} from './wizard-state.ts';

/** What the questions after the first one need from the environment. */
export interface WizardDeps extends ReviewDeps {
  transcript: Transcript;
  /** Called after every answer to save the state. */
  onAnswer(state: WizardState): Promise<void>;
  /** Where the agent runs if there is no other possibility. */
  onlyPlace: Place | undefined;
}

const ASKS: Readonly<Record<string, (asking: Asking) => Promise<Reply>>> = {
  target: askTarget,
  requirements: askRequirements,
  installed: askInstalled,
  elsewhere: askElsewhere,
  pool: askPool,
  chart: askChart,
  [tokenSecret.id]: askTokenSecret,
  [ROLE]: askRole,
};

const OF_PLACE = ['target', 'requirements', 'installed', 'elsewhere'];
const OF_AGENT = ['pool', 'token', 'token-secret', 'url'];

/** Facts that a step waits for. */
interface Wait {
  message: string;
  facts: readonly FactName[];
  /** After this time, the wizard asks instead: facts that arrive later open their question then. */
  mostMs?: number;
}

const BEFORE_AGENT: readonly Wait[] = [
  {message: 'Checking helm and the chart repository', facts: ['lacking'], mostMs: 300},
  {message: 'Reading the installed release', facts: ['installed', 'cluster'], mostMs: 3000},
  {message: 'Reading the Scalr account', facts: ['pools']},
  {message: 'Reading the Secret', facts: ['held'], mostMs: 3000},
];
const BEFORE_REVIEW: readonly Wait[] = [
  {message: 'Reading the cluster', facts: ['cluster', 'objects', 'requested']},
  {message: 'Checking helm and the chart repository', facts: ['lacking']},
  {message: 'Reading the installed release', facts: ['installed']},
];

/** Esc leads to the skipped question about the place. */
function startAt(place: Place | undefined, state: WizardState): WizardState {
  if (place === undefined || state.asked.has('target')) return state;
  return asAsked({...state, place, history: [{id: 'target', replaced: []}]}, 'target');
}

/** An answer from the review can make another chart necessary. */
function chartNote(after: WizardState, known: KnownFacts): string | undefined {
  const [old, now] = [after.opened?.before, after].map(
    (state) => state && likelyTarget(decided(state, known), requirementsOf(known))?.chart,
  );
  return old === undefined || now === undefined || old === now
    ? undefined
    : `The chart changes from ${old} to ${now}: ${CHART_MEANINGS[now]}.`;
}

/** Asks for what is missing, then shows the review. Changes nothing. */
export class Session {
  readonly #deps: WizardDeps;
  readonly #transcript: Transcript;
  readonly #review: Review;
  #state: WizardState;
  /** Waits that are over, although facts may still be unknown. */
  readonly #waited = new Set<string>();
  /** The question that was opened last from Change. */
  #changed: string | undefined;

  constructor(state: WizardState, deps: WizardDeps) {
    this.#state = {...startAt(deps.onlyPlace, state), versions: newestVersions()};
    this.#deps = deps;
    this.#transcript = deps.transcript;
    this.#review = new Review(deps, this.#transcript);
    deps.facts.start(this.#state);
  }

  /** `first` answers the question for the place. */
  async run(first: Reply | undefined): Promise<Decision> {
    if (first !== undefined) await this.#set(apply(this.#state, first));
    for (;;) {
      this.#state = reopened(this.#state, this.#known());
      const step = next(this.#state, this.#known());
      if (await this.#hasWaited(step)) continue;
      try {
        const decided = await this.#take(step);
        if ('decision' in decided) return decided.decision;
        await this.#set(decided.state);
      } catch (error) {
        if (!(error instanceof GoBack)) throw error;
        await this.#back(step);
      }
    }
  }

  #known() {
    return this.#deps.facts.known(this.#state);
  }

  #view(): TopicView {
    const known = this.#known();
    return {state: decided(this.#state, known), known, env: this.#deps.env};
  }

  #take(step: WizardStep): Promise<Decided> {
    if (step.kind === 'question') return this.#ask(step.id);
    if (step.kind === 'change') return this.#change();
    this.#transcript.show(this.#steps());
    this.#number(QUESTIONS);
    return this.#review.decide(this.#state, this.#view(), this.#steps());
  }

  async #ask(id: string): Promise<Decided> {
    const state = this.#state;
    this.#transcript.show(this.#steps(id));
    this.#number(OF_PLACE.includes(id) ? 1 : 2);
    const canGoBack = state.history.length > 0 || state.opened !== undefined || 'quit';
    const frame = {heading: state.notes, canGoBack} as const;
    const known = this.#known();
    const asking: Asking = {state, known, frame, deps: this.#deps};
    const reply = await (ASKS[id]?.(asking) ?? askSetting(id, asking));
    const after = apply(state, reply);
    const note = id === chart.id ? undefined : chartNote(after, known);
    return {state: note === undefined ? after : {...after, notes: [...after.notes, note]}};
  }

  #number(number: number): void {
    if (this.#state.opened === undefined) sayNumber(number, this.#deps);
  }

  async #change(): Promise<Decided> {
    this.#transcript.show(this.#steps());
    const state = this.#state;
    const {prompter} = this.#deps;
    const questions = await chooseTopic(this.#view(), prompter, state.notes, this.#changed);
    this.#changed = questions?.[0];
    return {
      state:
        questions === undefined ? {...state, isChanging: false} : openQuestions(state, questions),
    };
  }

  async #set(state: WizardState): Promise<void> {
    this.#state = state;
    this.#deps.facts.start(state);
    await this.#deps.onAnswer(state);
  }

  /** @throws PromptCanceled if there is nothing to go back to, and the user quits */
  async #back(step: WizardStep): Promise<void> {
    const before = back(this.#state, step, (state) => this.#deps.facts.known(state));
    if (before !== undefined) this.#state = before;
    else await confirmQuit(this.#deps.prompter);
  }

  /** The answered steps above a question or the review. */
  #steps(id = ''): Block[] {
    const line =
      (name: string, text: () => string): Block =>
      () =>
        answeredStep(name, [text()], this.#deps.screen);
    const where = line('Where', () => this.#whereText());
    const agent = line('Agent', () => agentValue(this.#view()));
    if (this.#state.opened !== undefined) return [where, agent];
    if (OF_PLACE.includes(id)) return [];
    return OF_AGENT.includes(id) ? [where] : [where, agent];
  }

  #whereText(): string {
    const {cluster} = this.#known();
    const summary = cluster?.isRead ? cluster.summary : undefined;
    const {place} = this.#state;
    const reason = place !== undefined && place === this.#deps.onlyPlace && 'the only context';
    return [placeText(place), summary, reason].filter(Boolean).join(' · ');
  }

  /** True if something was waited for, so that another step may be next. */
  async #hasWaited(step: WizardStep): Promise<boolean> {
    for (const {message, facts, mostMs} of this.#waitsOf(step)) {
      const state = this.#state;
      const key = this.#deps.facts.keyOf(state, facts);
      if (this.#waited.has(key) || facts.every((fact) => this.#deps.facts.isKnown(fact, state)))
        continue;
      const reading = Promise.all(facts.map((fact) => this.#deps.facts.read(fact, state)));
      const limit = mostMs === undefined ? [] : [setTimeout(mostMs)];
      await this.#deps.prompter.wait(message, Promise.race([reading, ...limit]));
      if (mostMs !== undefined) this.#waited.add(key);
      return true;
    }
    return false;
  }

  #waitsOf(step: WizardStep): readonly Wait[] {
    const {place} = this.#state;
    if (!hasCluster(place)) return [];
    const isWhole = place.kind === 'kubernetes';
    if (step.kind !== 'question') return isWhole ? BEFORE_REVIEW : BEFORE_REVIEW.slice(0, 1);
    return isWhole && [...OF_AGENT, 'installed', 'requirements'].includes(step.id)
      ? BEFORE_AGENT
      : [];
  }
}
