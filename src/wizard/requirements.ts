import type {ChartName} from '../charts/schema.ts';
import {newestOf} from '../charts/target.ts';
import {onFailure} from '../ground/errors.ts';
import type {Prompter} from '../ports/system.ts';
import {token, tokenSecret} from '../settings/agent.ts';
import {allowClearText} from '../settings/clear-text.ts';
import {type Setting, settingLabel} from '../settings/define.ts';
import {chart, chartSource, chartVersion, namespace, release} from '../settings/release.ts';
import {catalog} from '../settings/settings.ts';
import {answerText} from '../ui/prompt-text.ts';
import type {AnswerStore} from './answer-store.ts';
import {type AskDeps, problemIn, unlessBack} from './ask.ts';
import {isStored} from './clear-text.ts';
import type {Question, QuestionFrame} from './interview.ts';
import {BOXES, QUESTIONS} from './steps.ts';

/** Something that an install needs and this machine or the cluster lacks. */
export interface Missing {
  what: 'helm' | 'chart' | 'permissions';
  /** A sentence without its full stop. */
  text: string;
}

export interface RequirementsDeps {
  prompter: Prompter;
  /** Tries helm, the chart repository and the permissions in the background; `again` does not use what was found before. */
  tryRequirements(again?: boolean): Promise<readonly Missing[]>;
  /** Name and version of a chart on this machine. @throws ExpectedError */
  readChart(path: string): Promise<{name: string; version: string}>;
  typedPath?(text: string): string;
  completePath(text: string): Promise<readonly string[]>;
}

const AGAIN = 'again';
const DISK = 'disk';
const FILES = 'files';
const CONTINUE = 'continue';

/** Asks how to continue without helm, the chart or a permission, before the other answers are given. */
export function requirementsQuestion(
  store: AnswerStore,
  missing: () => readonly Missing[],
  deps: RequirementsDeps,
): Question {
  return {
    id: 'requirements',
    step: 'Target',
    message: 'How do you want to continue?',
    isOpen: () =>
      store.place?.kind === 'kubernetes' &&
      missing().length > 0 &&
      !store.asked.has('requirements'),
    async ask(shown) {
      for (;;) {
        const lacking = missing();
        if (lacking.length === 0) return 'nothing is missing';
        const picked = await deps.prompter.select({
          ...shown,
          heading: [...shown.heading, ...lacking.map(({text}) => `× ${text}.`)],
          message: this.message,
          help: [
            'An install needs helm, the chart and permission to create its objects.',
            'A chart on this disk is a directory or a .tgz file.',
            'https://helm.sh/docs/intro/install/',
          ],
          choices: [
            {value: AGAIN as string, label: 'Try again'},
            ...(lacking.some(({what}) => what === 'chart')
              ? [{value: DISK as string, label: 'Use a chart on this disk…'}]
              : []),
            {
              value: FILES as string,
              label: 'Write files only',
              description: 'values.yaml and answers.yaml',
            },
            {value: CONTINUE as string, label: 'Continue', description: 'the review tries again'},
          ],
        });
        if (picked === CONTINUE) return 'continue';
        if (picked === FILES) {
          store.place = {...store.place, kind: 'files'};
          return 'files only';
        }
        if (picked === AGAIN)
          await deps.prompter.wait('Trying again', deps.tryRequirements(true), [...shown.heading]);
        else if (await useChart(store, deps, shown)) return 'chart on this disk';
      }
    },
  };
}

/** Asks for a chart on this machine. False after Esc. */
export async function useChart(
  store: AnswerStore,
  {prompter, readChart, completePath, typedPath = (text) => text}: RequirementsDeps,
  shown: Pick<QuestionFrame, 'heading'>,
): Promise<boolean> {
  let found: {name: string; version: string} | undefined;
  const question = {
    ...shown,
    canGoBack: true,
    message: 'Directory or .tgz file of the chart',
    help: [
      'Name and version are read from the chart.',
      'Tab completes the path.',
      'Flag --chart-source. https://helm.sh/docs/helm/helm_pull/',
    ],
    complete: completePath,
    async validate(text: string) {
      const read = await readChart(typedPath(text)).catch(onFailure(({message}) => message));
      if (typeof read === 'string') return read;
      found = read;
      return undefined;
    },
  };
  const path = await unlessBack(prompter.input(question), undefined);
  if (path === undefined) return false;
  for (const [setting, value] of [
    [chartSource, typedPath(path)],
    [chart, found?.name],
    [chartVersion, found?.version],
  ] as const)
    store.set(setting, {value, source: 'prompt'});
  store.asked.add(chart.id);
  return true;
}

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
  const {prompter} = deps;
  return {
    id: 'installed',
    step: 'Target',
    message: 'What do you want to do with the installed agent?',
    isOpen: () =>
      store.place?.kind === 'kubernetes' &&
      installed() !== undefined &&
      !store.asked.has('installed'),
    async ask(shown) {
      const found = installed() as InstalledAgent;
      abandon(store);
      const latest = newestOf(found.chart as ChartName);
      let picked: string | undefined;
      for (;;) {
        picked = await prompter.select({
          ...shown,
          default: picked,
          heading: [
            ...shown.heading,
            `${found.release} is installed in namespace ${found.namespace}: ${[`${found.chart} ${found.version}`, found.live ?? found.status].join(' · ')}`,
          ],
          message: this.message,
          help: [
            'Change settings: the review opens with the settings of the release, and you edit what you want to change.',
            'The token remains in its Secret, and you are not asked for it again.',
            'scalr-agent status --help',
          ],
          choices: [
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
        });
        if (picked === 'change') {
          adopt(store, found);
          return 'change settings';
        }
        if (picked !== 'other') throw new OtherCommandChosen(picked as OtherCommand);
        const name = await unlessBack(askOtherName(found, shown, deps), undefined);
        if (name === undefined) continue;
        store.set(release, {value: name, source: 'prompt'});
        return `another release: ${name}`;
      }
    },
  };
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
function adopt(store: AnswerStore, {chart: name, version, settings}: InstalledAgent): void {
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
  store.recommended = name;
  store.boxes = new Set(
    BOXES.filter((box) => box.settings.some(({id}) => values.has(id))).map(({id}) => id),
  );
  for (const id of ADOPTED) store.asked.add(id);
  for (const {setting} of QUESTIONS)
    if (!setting.required || values.has(setting.id)) store.asked.add(setting.id);
}

/** Forgets the settings of the release: the user may choose another one. */
function abandon(store: AnswerStore): void {
  if (store.installed === undefined) return;
  for (const setting of catalog)
    if (store.installed.has(setting.id) && !store.isFixed(setting)) store.delete(setting);
  for (const id of [...ADOPTED, ...QUESTIONS.map(({setting}) => setting.id)])
    store.asked.delete(id);
  store.boxes = new Set();
  [store.installed, store.recommended] = [undefined, undefined];
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
    return [
      [settingLabel(setting), [`${text(setting, before)} → ${text(setting, after)}`]] as const,
    ];
  });
}
