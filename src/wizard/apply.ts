import {newestOf} from '../charts/releases/target.ts';
import {unsupported} from '../charts/support.ts';
import {token, tokenSecret} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {type Setting, settingName} from '../settings/define.ts';
import {MissingSetting} from '../settings/kinds/kind.ts';
import {httpProxy, httpsProxy, workloadIdentity} from '../settings/network.ts';
import {missingFor} from '../settings/purpose.ts';
import {chart, chartVersion, namespace, release} from '../settings/release.ts';
import type {Answer} from '../settings/settings.ts';
import {dataHome} from '../settings/storage.ts';
import {withoutRole} from './ask-role.ts';
import {withoutConsent} from './clear-text.ts';
import type {KnownFacts} from './gathered-facts.ts';
import {abandoned, adopted} from './installed-agent.ts';
import {next, type WizardStep} from './next.ts';
import type {Reply} from './reply.ts';
import {asAsked, asUnasked, type WizardState, withAnswer} from './wizard-state.ts';

/** Questions about the cluster, which another place opens again. */
const OF_PLACE = ['requirements', 'installed', 'elsewhere', 'new-token'];

/** The state after the reply, with what it leaves without effect removed. Pure. */
export function apply(state: WizardState, reply: Reply): WizardState {
  const {question, place, pool, adopts, abandons = false, answers = []} = reply;
  let after: WizardState = {...state, notes: []};
  if (place !== undefined) after = asUnasked({...abandoned(after), place}, ...OF_PLACE);
  if (pool !== undefined) after = {...after, pool: pool === 'none' ? undefined : pool};
  if (abandons || adopts !== undefined) after = abandoned(after);
  if (adopts !== undefined) after = adopted(after, adopts);
  for (const [setting, answer] of answers) after = withReply(after, setting, answer);
  return asAsked(atQuestion(after, state, reply), question, ...(reply.alsoAsked ?? []));
}

const NAMES: readonly Setting[] = [namespace, release];

/** Where Esc leads from the next question. */
function atQuestion(
  state: WizardState,
  before: WizardState,
  {question, answers = []}: Reply,
): WizardState {
  const {opened, history} = state;
  if (opened?.questions.includes(question))
    return {...state, opened: {...opened, answered: [...opened.answered, question]}};
  const replaced = answers
    .filter(([setting]) => NAMES.includes(setting))
    .map(([setting]) => [setting, before.answers.answer(setting)] as const);
  const others = history.filter(({id}) => id !== question);
  return {...state, history: [...others, {id: question, replaced}]};
}

/** The state with an answer, without what it makes useless. */
function withReply(before: WizardState, setting: Setting, answer: Answer | undefined): WizardState {
  let after = withoutConsent(withAnswer(before, setting, answer));
  // Instead of an existing Secret.
  if (setting === (token as Setting) && answer !== undefined && after.installed === undefined)
    after = withoutPrompted(after, tokenSecret);
  if (setting === (httpsProxy as Setting)) after = withSameHttpProxy(before, after, answer);
  if (setting === (workloadIdentity as Setting)) after = withoutRole(after);
  if (setting === (chart as Setting)) after = withoutUnsupported(withoutNodePath(before, after));
  return withoutUseless(after, setting);
}

/** One proxy for both kinds of URLs remains one. */
function withSameHttpProxy(
  before: WizardState,
  after: WizardState,
  answer: Answer | undefined,
): WizardState {
  const {get, isFixed} = before.answers;
  const isOne = get(httpProxy) !== undefined && get(httpProxy) === get(httpsProxy);
  return isOne && !isFixed(httpProxy) ? withAnswer(after, httpProxy, answer) : after;
}

const withoutPrompted = (state: WizardState, setting: Setting): WizardState =>
  state.answers.answer(setting)?.source === 'prompt'
    ? withAnswer(state, setting, undefined)
    : state;

/** With agent-k8s, it is a directory of the nodes, and with the others a path in the container. */
function withoutNodePath(before: WizardState, after: WizardState): WizardState {
  const [was, is] = [before, after].map(({answers}) => answers.get(chart));
  const isPrompted = after.answers.answer(dataHome)?.source === 'prompt';
  const hasMoved = was !== undefined && was !== is && [was, is].includes('agent-k8s');
  return isPrompted && hasMoved
    ? removed(after, dataHome as Setting, 'it is a directory of the nodes with agent-k8s only')
    : after;
}

const removed = (state: WizardState, setting: Setting, reason: string): WizardState => ({
  ...withAnswer(state, setting, undefined),
  notes: [...state.notes, `Removed the answer for ${settingName(setting)}: ${reason}.`],
});

/** Without answers that the chosen chart does not support. */
function withoutUnsupported(state: WizardState): WizardState {
  const name = state.answers.get(chart);
  if (name === undefined) return state;
  const target = {chart: name, version: state.answers.get(chartVersion) ?? newestOf(name)};
  return unsupported(target, state.answers.unchecked()).reduce(
    (left, {setting, reason}) => removed(left, setting, reason),
    state,
  );
}

/** Without prompted answers that have no effect or are invalid after a change of `changed`. */
function withoutUseless(state: WizardState, changed: Setting): WizardState {
  // Other answers can depend on a secret that is not entered again yet.
  if (state.missingSecrets.size > 0) return state;
  const {answer, get} = state.answers;
  const useless = catalog.filter((setting) => {
    const own = answer(setting);
    if (own?.source !== 'prompt' || setting.id === changed.id) return false;
    const problem = setting.rule?.(own.value, get);
    return (
      missingFor(setting, get) !== undefined ||
      (problem !== undefined && !(problem instanceof MissingSetting))
    );
  });
  return useless.reduce((left, setting) => removed(left, setting, 'it no longer applies'), state);
}

/** Esc. Undefined if there is nothing to go back to. Pure. */
export function back(
  state: WizardState,
  from: WizardStep,
  known: (state: WizardState) => KnownFacts,
): WizardState | undefined {
  const {opened} = state;
  const here = {...state, notes: []};
  if (from.kind === 'change') return {...here, isChanging: false, opened: undefined};
  if (from.kind === 'question' && opened?.questions.includes(from.id)) {
    const answered = opened.answered.slice(0, -1);
    return opened.answered.length === 0 ? opened.before : {...here, opened: {...opened, answered}};
  }
  // What is not asked any more is passed.
  let before: WizardState = here;
  for (const {id, replaced} of state.history.toReversed()) {
    before = asUnasked({...before, history: before.history.slice(0, -1)}, id);
    for (const [setting, answer] of replaced) before = withAnswer(before, setting, answer);
    // Of another release, the menu is asked.
    if (replaced.length > 0) return before;
    const step = next(before, known(before));
    if (step.kind === 'question' && step.id === id) return before;
  }
  return undefined;
}

/** Asks these questions, then returns to where the user was. `recommended` is an answer to the first one. */
export const openQuestions = (
  state: WizardState,
  questions: readonly string[],
  recommended?: string,
): WizardState => {
  const before = {...state, notes: [], opened: undefined};
  return {...before, opened: {questions, recommended, answered: [], before}};
};
