import type {ChartName} from '../charts/releases/chart-name.ts';
import {newestOf} from '../charts/releases/target.ts';
import type {ListQuestion} from '../ground/system/system.ts';
import {token, tokenFile, tokenSecret} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {allowClearText} from '../settings/chart-values.ts';
import {type Setting, settingLabel} from '../settings/define.ts';
import {missingFor} from '../settings/purpose.ts';
import {chart, chartVersion, namespace, release} from '../settings/release.ts';
import type {Answer} from '../settings/settings.ts';
import {answerText} from '../ui/prompt-text.ts';
import type {AnswerStore} from './answer-store.ts';
import {type AskDeps, ask, problemIn, unlessBack} from './ask.ts';
import {isStored} from './clear-text.ts';
import type {Question, QuestionFrame} from './interview.ts';
import {BOXES, QUESTIONS, type SettingQuestion} from './steps.ts';

/** A release of the selected cluster, as the wizard opens it. */
export interface InstalledAgent {
  release: string;
  namespace: string;
  chart: string;
  version: string;
  /** Of the newest revision, as Helm stores it. */
  status: string;
  /** What runs now; undefined if it cannot be read. */
  live: string | undefined;
  /** The log of the agent says so. */
  isTokenRejected: boolean;
  /** The Secret that a new token is written to; undefined if it is not known. */
  newTokenSecret?: string | undefined;
  /** The settings in its values, by ID. */
  settings: ReadonlyMap<string, unknown>;
}

export type OtherCommand = 'upgrade' | 'status' | 'uninstall';

/** The user wants another command for the installed release. */
export class OtherCommandChosen extends Error {
  readonly command: OtherCommand;

  constructor(command: OtherCommand) {
    super(command);
    this.command = command;
  }
}

/** What to do with the release that is installed. @throws OtherCommandChosen */
export function installedQuestion(
  store: AnswerStore,
  installed: () => InstalledAgent | undefined,
  deps: AskDeps,
): Question {
  let wasAsked = false;
  const needsToken = (): boolean =>
    store.isResumed && !wasAsked && canReplaceToken(store, installed());
  return {
    id: 'installed',
    step: 'Target',
    message: 'What do you want to do with the installed agent?',
    isOpen: () =>
      store.place?.kind === 'kubernetes' &&
      installed() !== undefined &&
      (!store.asked.has('installed') || needsToken()),
    async ask(shown) {
      const found = installed() as InstalledAgent;
      const frame = {...shown, heading: [...shown.heading, ...aboutAgent(found, store)]};
      const asksForToken = needsToken();
      wasAsked = true;
      if (asksForToken && (await askToken(store, frame, deps))) {
        useSecret(store, found);
        return NEW_TOKEN;
      }
      abandon(store);
      for (let last: string | undefined; ; ) {
        const picked = await deps.prompter.select({
          ...menuOf(found, store),
          ...frame,
          default: last,
        });
        const answer = await answerTo(picked, found, frame, {store, deps});
        if (answer !== undefined) return answer;
        last = picked;
      }
    },
  };
}

const TOKEN = 'token';
const NEW_TOKEN = 'a new token';

/** Undefined if the user goes back to the menu. @throws OtherCommandChosen */
async function answerTo(
  picked: string,
  found: InstalledAgent,
  shown: QuestionFrame,
  {store, deps}: {store: AnswerStore; deps: AskDeps},
): Promise<string | undefined> {
  if (picked === 'change') {
    adopt(store, found);
    return 'change settings';
  }
  if (picked === TOKEN) {
    if (!(await askToken(store, shown, deps))) return undefined;
    const answer = store.answer(token) as Answer;
    adopt(store, found);
    store.set(token, answer);
    useSecret(store, found);
    return NEW_TOKEN;
  }
  if (picked !== 'other') throw new OtherCommandChosen(picked as OtherCommand);
  const name = await unlessBack(askOtherName(found, shown, deps), undefined);
  if (name === undefined) return undefined;
  store.set(release, {value: name, source: 'prompt'});
  return `another release: ${name}`;
}

/** Scalr rejects the token of the agent, and no other one is given. */
const canReplaceToken = (store: AnswerStore, found: InstalledAgent | undefined): boolean =>
  found?.isTokenRejected === true &&
  !store.isFixed(token) &&
  !store.isFixed(tokenFile) &&
  store.pool?.mustExist === undefined;

/** The release and its state. */
function aboutAgent(found: InstalledAgent, store: AnswerStore): string[] {
  const state = [`${found.chart} ${found.version}`, found.live ?? found.status].join(' · ');
  return [
    `${found.release} is installed in namespace ${found.namespace}: ${state}`,
    ...(canReplaceToken(store, found) ? ['× Scalr rejects the token of the agent.'] : []),
  ];
}

function menuOf(found: InstalledAgent, store: AnswerStore): ListQuestion {
  const latest = newestOf(found.chart as ChartName);
  const isReplaceable = canReplaceToken(store, found);
  return {
    message: 'What do you want to do with the installed agent?',
    help: [
      'Change settings: the review opens with the settings of the release, and you edit what you want to change.',
      isReplaceable
        ? 'Enter a new token: it is written to a Secret, and the agent restarts. A Secret that you have created yourself is not changed.'
        : 'The token remains in its Secret, and you are not asked for it again.',
      'scalr-agent status --help',
    ],
    choices: [
      ...(isReplaceable
        ? [
            {
              value: TOKEN,
              label: 'Enter a new token',
              description: 'replaces the rejected one; settings are kept',
            },
          ]
        : []),
      {
        value: 'change',
        label: 'Change settings',
        description: 'opens the review with its settings',
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
    ],
  };
}

/** Asks for the token that replaces the rejected one. False after Esc. */
async function askToken(
  store: AnswerStore,
  {heading}: QuestionFrame,
  deps: AskDeps,
): Promise<boolean> {
  const answer = await unlessBack(ask(token, {heading, canGoBack: true}, store, deps), undefined);
  if (answer === undefined) return false;
  store.set(token, answer);
  store.asked.add(token.id);
  store.pool = undefined;
  return true;
}

/** A Secret of somebody else is never written to. */
function useSecret(store: AnswerStore, {newTokenSecret: value}: InstalledAgent): void {
  if (value !== undefined && !store.isFixed(tokenSecret))
    store.set(tokenSecret, {value, source: 'prompt'});
}

const askOtherName = (
  {release: own}: InstalledAgent,
  {heading}: QuestionFrame,
  deps: AskDeps,
): Promise<string> =>
  deps.prompter.input({
    heading,
    canGoBack: true,
    message: release.question,
    help: [
      'The name of the new Helm release.',
      `${own} is not changed.`,
      'Flag --release. https://helm.sh/docs/glossary/#release',
    ],
    validate(text) {
      if (text === '') return 'A value is required.';
      return text === own
        ? 'The installed release uses this name. Enter another name.'
        : problemIn(release, text, deps);
    },
  });

/** Takes the settings of the release as answers, so that only the review is left. Flags, variables and files take precedence. */
function adopt(store: AnswerStore, {chart: name, version, settings, status}: InstalledAgent): void {
  const values = new Map<string, unknown>([
    ...settings,
    [chart.id, name],
    [chartVersion.id, version],
    // An update stores nothing that is not there already.
    ...(isStored(settings) ? [[allowClearText.id, true] as const] : []),
  ]);
  for (const setting of catalog) {
    const value = values.get(setting.id);
    if (value !== undefined && !store.isFixed(setting))
      store.set(setting, {value, source: 'prompt'});
  }
  store.installed = values;
  store.installedStatus = status;
  store.recommended = name;
  store.boxes = new Set(
    BOXES.filter((box) => box.settings.some(({id}) => values.has(id))).map(({id}) => id),
  );
  for (const id of ADOPTED) store.asked.add(id);
  for (const question of QUESTIONS)
    if (isAnswered(question, store)) store.asked.add(question.setting.id);
}

/** True if the release answers the question, even with a default; others open when an edit makes them apply. */
function isAnswered({setting, box, when}: SettingQuestion, store: AnswerStore): boolean {
  if (store.answer(setting) !== undefined) return true;
  const applies =
    missingFor(setting, store.get) === undefined && (when?.(store.get, store.isGiven) ?? true);
  return !setting.required && applies && (box === undefined || store.boxes.has(box));
}

/** Forgets the settings of the release: the user may choose another one. */
function abandon(store: AnswerStore): void {
  if (store.installed === undefined) return;
  for (const setting of catalog)
    if ((store.installed.has(setting.id) || setting.id === token.id) && !store.isFixed(setting))
      store.delete(setting);
  for (const id of [...ADOPTED, ...QUESTIONS.map(({setting}) => setting.id)])
    store.asked.delete(id);
  store.boxes = new Set();
  store.installed = undefined;
  store.installedStatus = undefined;
  store.recommended = undefined;
}

const ADOPTED = ['network', 'pool', 'identity-role', chart.id, token.id, tokenSecret.id];

/** The answers that differ from the installed release, beside what is installed. */
export function changesOf(store: AnswerStore): (readonly [string, string[]])[] {
  const {installed = new Map<string, unknown>()} = store;
  const text = (setting: Setting, value: unknown): string =>
    value === undefined ? 'not set' : answerText(setting, {value, source: 'prompt'});
  return catalog.flatMap((setting) => {
    const answer = store.answer(setting);
    const before = installed.get(setting.id);
    const after = answer?.source === 'cluster' ? installed.get(setting.id) : answer?.value;
    // Namespace and name say which release it is.
    if (
      setting === (namespace as Setting) ||
      setting === (release as Setting) ||
      text(setting, before) === text(setting, after)
    )
      return [];
    const change = setting.kind.isSecret
      ? 'replaced'
      : `${text(setting, before)} → ${text(setting, after)}`;
    return [[settingLabel(setting), [change]] as const];
  });
}
