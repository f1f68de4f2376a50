import {token, tokenFile, tokenSecret, url} from '../settings/agent.ts';
import {cacheAccessMode} from '../settings/cache.ts';
import {catalog} from '../settings/catalog.ts';
import {nodeOs} from '../settings/cluster.ts';
import type {Setting} from '../settings/define.ts';
import {concurrency, missingFor} from '../settings/purpose.ts';
import {isElsewhere} from './ask-elsewhere.ts';
import {ROLE, roleSettingOf} from './ask-role.ts';
import {decided, hostHeld} from './decisions.ts';
import {type KnownFacts, missingOf, requirementsOf} from './gathered-facts.ts';
import {mustReplaceToken} from './installed-agent.ts';
import {hostOf} from './place.ts';
import {limitsRuns} from './possible-answers.ts';
import {applies} from './setting-questions.ts';
import {isModeDecided} from './shared-cache.ts';
import type {WizardState} from './wizard-state.ts';

/** What the wizard shows next. */
export type WizardStep = {kind: 'question'; id: string} | {kind: 'change'} | {kind: 'review'};

interface FirstQuestion {
  id: string;
  isOpen(state: WizardState, known: KnownFacts): boolean;
}

const isCluster = ({place}: WizardState): boolean => place?.kind === 'kubernetes';

const TOKEN: readonly Setting[] = [token, tokenFile, tokenSecret];

/** The questions before the review, in order; all others are opened from it. */
const FIRST: readonly FirstQuestion[] = [
  {id: 'target', isOpen: ({asked}) => !asked.has('target')},
  {
    id: 'installed',
    isOpen: (state, {installed}) =>
      isCluster(state) &&
      installed !== undefined &&
      (!state.asked.has('installed') || mustReplaceToken(state, {installed})),
  },
  {
    id: 'requirements',
    isOpen: (state, known) =>
      isCluster(state) && missingOf(known).length > 0 && !state.asked.has('requirements'),
  },
  {
    id: 'elsewhere',
    isOpen: (state, known) =>
      isCluster(state) &&
      known.installed === undefined &&
      isElsewhere(state, known) &&
      // The answers of a new install must not get into another release.
      !['elsewhere', 'installed', 'pool', ...TOKEN.map(({id}) => id)].some((id) =>
        state.asked.has(id),
      ),
  },
  {
    id: 'pool',
    isOpen: (state, {pools}) =>
      isCluster(state) &&
      pools !== undefined &&
      pools.problem === undefined &&
      !state.asked.has('pool') &&
      !TOKEN.some(state.answers.isFixed),
  },
  {id: token.id, isOpen: (state) => isUnanswered(token as Setting, state)},
  {
    id: tokenSecret.id,
    isOpen: (state) => isUnanswered(tokenSecret as Setting, state) && !hasToken(state),
  },
  {
    id: url.id,
    isOpen: (state, known) => hostHeld(known) === undefined && isUnanswered(url as Setting, state),
  },
];

const hasToken = ({answers: {get}}: WizardState): boolean =>
  get(token) !== undefined || get(tokenFile) !== undefined;

/** What an agent pool of the account answers. */
const OF_POOL: readonly Setting[] = [token, tokenSecret];

const isUnanswered = (setting: Setting, state: WizardState): boolean =>
  !state.asked.has(setting.id) &&
  !state.answers.isFixed(setting) &&
  !(state.pool !== undefined && OF_POOL.includes(setting)) &&
  !(setting === (token as Setting) && state.answers.isFixed(tokenSecret)) &&
  applies(setting, state);

/** Pure. */
export function next(state: WizardState, known: KnownFacts): WizardStep {
  const first =
    FIRST.find(({isOpen}) => isOpen(state, known))?.id ??
    catalog.find((setting) => isMissing(setting, state))?.id ??
    openedQuestion(state, known);
  if (first !== undefined) return {kind: 'question', id: first};
  return {kind: state.isChanging ? 'change' : 'review'};
}

/** A secret of the resumed session. */
const isMissing = (setting: Setting, state: WizardState): boolean =>
  state.missingSecrets.has(setting.id) && missingFor(setting, state.answers.get) === undefined;

/** The question that was opened from the review, or the next one of its topic. */
function openedQuestion(state: WizardState, known: KnownFacts): string | undefined {
  const {questions = [], answered = []} = state.opened ?? {};
  const view = decided(state, known);
  return questions.find(
    (id) =>
      !answered.includes(id) &&
      isPossible(id, view, known) &&
      !(questions.length > 1 && isOfCluster(id, view)) &&
      // The name of a new Secret is asked for only if that is what was opened.
      !(id === tokenSecret.id && id !== questions[0] && hasToken(view)),
  );
}

/** The cluster tells it; it can be changed, but is not asked for after the chart. */
const isOfCluster = (id: string, {answers}: WizardState): boolean =>
  id === nodeOs.id && answers.answer(nodeOs)?.source === 'cluster';

/** True if the question has an effect. */
export function isPossible(id: string, view: WizardState, known: KnownFacts): boolean {
  if (id === concurrency.id && !limitsRuns(view, requirementsOf(known))) return false;
  if (id === 'target') return true;
  if (id === ROLE) return roleSettingOf(view) !== undefined;
  if (id === cacheAccessMode.id && isModeDecided(view, known)) return false;
  const setting = catalog.find((each) => each.id === id);
  return setting === undefined ? hostOf(view) === undefined : applies(setting, view);
}
