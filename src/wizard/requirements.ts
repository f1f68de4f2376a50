import {onFailure} from '../ground/errors.ts';
import type {Prompter} from '../ground/system/system.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {AnswerStore} from './answer-store.ts';
import {unlessBack} from './ask.ts';
import type {Question, QuestionFrame} from './interview.ts';

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
