import type {ChartVersion} from '../charts/chart-version.ts';
import type {Target} from '../charts/releases/target.ts';
import type {Setting} from '../settings/define.ts';
import type {Answer} from '../settings/settings.ts';
import {Answers} from './answers.ts';
import type {Place} from './place.ts';

/** An agent pool of the Scalr account whose token the install creates. */
export interface ChosenPool {
  host: string;
  name: string;
  /** Undefined for a pool that the install may create. */
  id?: string;
  /** Given with --pool, without --create-pool. */
  mustExist?: boolean;
}

/** The settings of the installed release that is changed, by ID, and the status of its newest revision. */
export interface InstalledSettings {
  settings: ReadonlyMap<string, unknown>;
  status: string;
}

/** An answered question on the way to the review, and what it has replaced of the namespace and the release. */
export interface AnsweredQuestion {
  id: string;
  replaced: readonly (readonly [Setting, Answer | undefined])[];
}

/** Questions that were opened from the review. */
export interface OpenedQuestions {
  questions: readonly string[];
  /** What a check recommends as the answer to the first one. */
  recommended?: string | undefined;
  answered: readonly string[];
  /** The state that Esc at the first of them restores: half of an answer would be an error. */
  before: WizardState;
}

/** Everything that a session has decided so far. A change is another state. */
export interface WizardState {
  readonly answers: Answers;
  /** IDs of answered questions, including empty answers. */
  readonly asked: ReadonlySet<string>;
  readonly place: Place | undefined;
  readonly pool: ChosenPool | undefined;
  readonly installed: InstalledSettings | undefined;
  /** The session continues an interrupted one. */
  readonly isResumed: boolean;
  /** The interrupted session has changed an installed release, which is not read again yet. */
  readonly reopens: boolean;
  /** The given chart in a version that only the chart itself describes. */
  readonly readChart: Target | undefined;
  /** The newest version of each chart, so that what follows from its schema is found once. */
  readonly versions?: readonly ChartVersion[];
  /** Secrets of the resumed session that must be entered again: what was kept of them, by ID. */
  readonly missingSecrets: ReadonlyMap<string, string>;
  /** Questions on the way to the review, oldest first: Esc reopens the last one. */
  readonly history: readonly AnsweredQuestion[];
  /** The rows of Change are shown instead of the review. */
  readonly isChanging: boolean;
  readonly opened: OpenedQuestions | undefined;
  /** What the last reply has caused besides its answer. */
  readonly notes: readonly string[];
}

/** The saved state of an interrupted session, without secrets. */
export interface ResumeState {
  /** As in an answers file. */
  answers: Readonly<Record<string, unknown>>;
  /** IDs of answers that were flags, whose questions stay skipped. */
  flags?: readonly string[];
  /** Answers that are or contain secrets: only a URL is kept, with placeholders for user name and password. */
  secrets?: Readonly<Record<string, string>>;
  asked: readonly string[];
  place?: Place;
  pool?: ChosenPool;
  /** An installed release was open. */
  isUpdate?: boolean;
}

/** ID of what is answered once in a session: that a rejected token was replaced, or kept. */
export const NEW_TOKEN = 'new-token';

export function startState(
  found: ReadonlyMap<string, Answer>,
  kept?: Partial<ResumeState>,
): WizardState {
  const secrets = Object.entries(kept?.secrets ?? {}).filter(([id]) => !found.has(id));
  return {
    answers: new Answers(found),
    asked: new Set(kept?.asked),
    place: kept?.place,
    pool: kept?.pool,
    installed: undefined,
    isResumed: kept !== undefined,
    reopens: kept?.isUpdate ?? false,
    readChart: undefined,
    missingSecrets: new Map(secrets),
    history: [],
    isChanging: false,
    opened: undefined,
    notes: [],
  };
}

export const asAsked = (state: WizardState, ...ids: readonly string[]): WizardState => ({
  ...state,
  asked: new Set([...state.asked, ...ids]),
});

export const asUnasked = (state: WizardState, ...ids: readonly string[]): WizardState => ({
  ...state,
  asked: new Set([...state.asked].filter((id) => !ids.includes(id))),
});

/** Without an answer, the question is asked again. */
export function withAnswer(
  state: WizardState,
  setting: Setting,
  answer: Answer | undefined,
): WizardState {
  const missingSecrets = new Map(state.missingSecrets);
  missingSecrets.delete(setting.id);
  if (answer !== undefined)
    return {...state, missingSecrets, answers: state.answers.with(setting, answer)};
  const answers = state.answers.without(setting);
  return asUnasked({...state, missingSecrets, answers}, setting.id);
}
