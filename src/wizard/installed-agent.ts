import type {ChartName} from '../charts/releases/chart-name.ts';
import {newestOf} from '../charts/releases/target.ts';
import {unlessBack} from '../ground/errors.ts';
import {headline} from '../ground/finding.ts';
import type {Secret} from '../ground/secret.ts';
import type {ListQuestion} from '../ground/system/system.ts';
import {token, tokenFile, tokenSecret, tokenSecretKey, url} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {allowClearText} from '../settings/chart-values.ts';
import type {Setting} from '../settings/define.ts';
import {chart, chartVersion, namespace, release} from '../settings/release.ts';
import type {Answer} from '../settings/settings.ts';
import {ask} from './ask.ts';
import {otherAgents} from './ask-elsewhere.ts';
import type {Asking} from './asking.ts';
import {isStored} from './clear-text.ts';
import type {InstalledAgent, KnownFacts} from './gathered-facts.ts';
import {type OtherCommand, OtherCommandChosen} from './other-command.ts';
import {IN_POD} from './place.ts';
import type {Reply} from './reply.ts';
import {problemIn} from './typed-answer.ts';
import {asAsked, asUnasked, NEW_TOKEN, type WizardState} from './wizard-state.ts';

const TOKEN = 'token';
const QUESTION = 'installed';

/** What to do with the release that is installed. @throws OtherCommandChosen */
export async function askInstalled(asking: Asking): Promise<Reply> {
  const {state, known, deps} = asking;
  const found = known.installed as InstalledAgent;
  const frame = {...asking.frame, heading: [...asking.frame.heading, ...aboutAgent(found)]};
  if (mustReplaceToken(state, known)) {
    const answer = await askToken(found, {...asking, frame});
    if (answer !== undefined) return {...replaced(answer, found), alsoAsked: [token.id, NEW_TOKEN]};
  }
  for (let last: string | undefined; ; ) {
    const menu = menuOf(found, asking);
    const picked = await deps.prompter.select({...menu, ...frame, default: last});
    const reply = await replyTo(picked, found, {...asking, frame});
    if (reply !== undefined) return {...reply, alsoAsked: [...(reply.alsoAsked ?? []), NEW_TOKEN]};
    last = picked;
  }
}

/** The session continues with a release whose token Scalr rejects. */
export const mustReplaceToken = (state: WizardState, {installed}: KnownFacts): boolean =>
  state.isResumed && !state.asked.has(NEW_TOKEN) && canReplaceToken(state, installed);

/** Undefined if the user goes back to the menu. @throws OtherCommandChosen */
async function replyTo(
  picked: string,
  found: InstalledAgent,
  asking: Asking,
): Promise<Reply | undefined> {
  if (picked === 'change') return {question: QUESTION, adopts: found};
  if (picked === TOKEN) {
    const answer = await askToken(found, asking);
    return answer && {...replaced(answer, found), adopts: found, alsoAsked: [token.id]};
  }
  const elsewhere = othersIn(asking).find(({value}) => value === picked);
  if (elsewhere !== undefined) return {question: 'elsewhere', answers: elsewhere.names};
  if (picked !== 'other') throw new OtherCommandChosen(picked as OtherCommand, asking.state);
  const name = await unlessBack(askOtherName(found, asking), undefined);
  if (name === undefined) return undefined;
  return {
    question: QUESTION,
    abandons: true,
    answers: [[release, {value: name, source: 'prompt'}]],
  };
}

/** A Secret of somebody else is never written to. */
const replaced = (answer: Answer, {newTokenSecret: value}: InstalledAgent): Reply => ({
  question: QUESTION,
  pool: 'none',
  answers: [
    [token, answer],
    ...(value === undefined ? [] : [[tokenSecret, {value, source: 'prompt'}] as const]),
  ],
});

/** Scalr rejects the token of the agent, and no other one is given. */
const canReplaceToken = (
  {answers, pool}: WizardState,
  found: InstalledAgent | undefined,
): boolean =>
  found?.isTokenRejected === true &&
  !answers.isFixed(token) &&
  !answers.isFixed(tokenFile) &&
  pool?.mustExist === undefined;

/** The release and its state. */
function aboutAgent(found: InstalledAgent): string[] {
  const problem = found.cause && headline(found.cause).split('\n')[0];
  const cause = found.isTokenRejected ? 'Scalr rejects the token of the agent.' : problem;
  return [
    [`${found.chart} ${found.version}`, found.live ?? found.status].join(' · '),
    ...(cause === undefined ? [] : [`× ${cause}`]),
  ];
}

/** Rows for the other agents of the cluster. */
const othersIn = ({state, known}: Pick<Asking, 'state' | 'known'>) =>
  otherAgents(state, known).map((each) => ({
    value: `open:${each.namespace}/${each.name}`,
    label: `Open ${each.name} in namespace ${each.namespace}`,
    description: `${each.chart} ${each.version}`,
    names: [
      [namespace, {value: each.namespace, source: 'prompt'}],
      [release, {value: each.name, source: 'prompt'}],
    ] as const,
  }));

function menuOf(found: InstalledAgent, asking: Pick<Asking, 'state' | 'known'>): ListQuestion {
  const {state} = asking;
  const latest = newestOf(found.chart as ChartName);
  const where = state.place?.kind === 'kubernetes' ? (state.place.context ?? IN_POD) : '';
  const isRejected = canReplaceToken(state, found);
  const newToken = {
    value: TOKEN,
    label: 'Enter a new token',
    description: 'replaces the rejected one; settings are kept',
  };
  return {
    message: `${found.release} is installed in ${where} · namespace ${found.namespace}`,
    help: isRejected ? [] : [tokenHelp(found)],
    choices: [
      ...(isRejected ? [newToken] : []),
      {
        value: 'change',
        label: 'Change settings',
        description: "opens the review with today's answers",
      },
      {
        value: 'upgrade',
        label: 'Upgrade',
        description:
          latest === found.version
            ? 'has the newest known chart'
            : `newest known chart is ${latest}`,
      },
      {value: 'status', label: 'Show status'},
      {value: 'other', label: 'Install another release'},
      {value: 'uninstall', label: 'Uninstall…'},
      ...othersIn(asking),
    ],
  };
}

const tokenHelp = ({settings}: InstalledAgent): string =>
  settings.has(token.id)
    ? 'The token is in plain text in the values. An update moves it to a Secret.'
    : 'The token remains in its Secret, and you are not asked for it again.';

/** The token that replaces the rejected one. Undefined after Esc. */
async function askToken(found: InstalledAgent, asking: Asking): Promise<Answer | undefined> {
  const {state, frame, deps} = asking;
  const present = await presentToken(found, asking);
  for (let heading = frame.heading; ; heading = [...frame.heading, SAME_TOKEN]) {
    const asked = ask(token, {heading, canGoBack: true}, state.answers.get, deps);
    const answer = await unlessBack(asked, undefined);
    const text = (answer?.value as Secret | undefined)?.reveal();
    if (text === undefined || text !== present?.reveal()) return answer;
  }
}

const SAME_TOKEN = 'This is the token that Scalr rejects. Paste another one.';

/** The token that the agent has now; undefined if it cannot be read. */
async function presentToken(
  {settings}: InstalledAgent,
  {state, deps}: Asking,
): Promise<Secret | undefined> {
  if (settings.has(token.id)) return settings.get(token.id) as Secret;
  const answers = [tokenSecret, tokenSecretKey].reduce(
    (all, setting) =>
      settings.has(setting.id)
        ? all.with(setting as Setting, {value: settings.get(setting.id), source: 'prompt'})
        : all,
    state.answers,
  );
  return (await deps.facts.read('held', {...state, answers}))?.token;
}

const askOtherName = (
  {release: own, namespace: where}: InstalledAgent,
  {frame, deps}: Asking,
): Promise<string> =>
  deps.prompter.input({
    heading: frame.heading,
    canGoBack: true,
    message: release.question,
    note: `for example ${own}-2`,
    help: [
      `The new agent is installed in namespace ${where}; ${own} is not changed.`,
      'Flag --release. https://helm.sh/docs/glossary/#release',
    ],
    validate(text) {
      if (text === '') return 'A value is required.';
      return text === own
        ? 'The installed release uses this name. Enter another name.'
        : problemIn(release, text, deps);
    },
  });

/** What the review of a resumed session compares with, as soon as the release is read. Pure. */
export function reopened(state: WizardState, {installed: found}: KnownFacts): WizardState {
  if (!state.reopens || found === undefined) return state;
  return {...state, reopens: false, installed: {settings: settingsOf(found), status: found.status}};
}

const settingsOf = (found: InstalledAgent): Map<string, unknown> =>
  new Map<string, unknown>([
    ...found.settings,
    [chart.id, found.chart],
    [chartVersion.id, found.version],
    // An update stores nothing that is not there already.
    ...(isStored(found.settings) ? [[allowClearText.id, true] as const] : []),
  ]);

/** Takes the settings of the release as answers, so that only the review is left. Flags, variables and files take precedence. Pure. */
export function adopted(before: WizardState, found: InstalledAgent): WizardState {
  const state = withoutNewToken(before);
  const settings = settingsOf(found);
  const answers = catalog
    .filter((setting) => settings.get(setting.id) !== undefined && !state.answers.isFixed(setting))
    .reduce(
      (all, setting) => all.with(setting, {value: settings.get(setting.id), source: 'prompt'}),
      state.answers,
    );
  const asked = settings.has(url.id) ? [...ADOPTED, url.id] : ADOPTED;
  const installed = {settings, status: found.status};
  return asAsked({...state, answers, installed}, ...asked);
}

/** A token or pool that was chosen for a new install is not for this release. */
function withoutNewToken(state: WizardState): WizardState {
  const answers = [token, tokenSecret]
    .filter((setting) => state.answers.answer(setting)?.source === 'prompt')
    .reduce((all, setting) => all.without(setting), state.answers);
  return {...state, answers, pool: state.pool?.mustExist ? state.pool : undefined};
}

/** Without the settings of a release: the user may choose another one. Pure. */
export function abandoned(state: WizardState): WizardState {
  const {installed} = state;
  if (installed === undefined) return state;
  const own = catalog.filter(
    (setting) =>
      (installed.settings.has(setting.id) || setting.id === token.id) &&
      !state.answers.isFixed(setting),
  );
  const answers = own.reduce((all, setting) => all.without(setting), state.answers);
  const ids = own.map(({id}) => id);
  return asUnasked({...state, answers, installed: undefined}, ...ids, url.id, ...ADOPTED);
}

/** Questions that an installed release answers. */
const ADOPTED = ['pool', token.id, tokenSecret.id];
