import {onFailure, unlessBack} from '../ground/errors.ts';
import type {Setting} from '../settings/define.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Answer} from '../settings/settings.ts';
import type {Asking} from './asking.ts';
import {type Missing, missingOf} from './gathered-facts.ts';
import {placeContext} from './place.ts';
import type {Reply} from './reply.ts';

const WHAT_TO_DO: Readonly<Record<Missing['what'], string>> = {
  helm: 'Install Helm 3.14 or newer: https://helm.sh/docs/intro/install/',
  chart: 'A chart on this disk is a directory or a .tgz file.',
  permissions: 'An install needs permission to create its objects.',
  cluster: 'An install needs a cluster that answers.',
};

const AGAIN = 'again';
const DISK = 'disk';
const FILES = 'files';
const CONTINUE = 'continue';

/** Asks how to continue without helm, the chart or a permission, before the other answers are given. */
export async function askRequirements(asking: Asking): Promise<Reply> {
  const {state, frame, deps} = asking;
  let lacking = missingOf(asking.known);
  for (;;) {
    if (lacking.length === 0) return {question: 'requirements'};
    const picked = await deps.prompter.select({
      ...frame,
      heading: [...frame.heading, ...lacking.map(({text}) => `× ${text}.`)],
      message: 'How do you want to continue?',
      help: lacking.map(({what}) => WHAT_TO_DO[what]),
      choices: [
        {value: AGAIN, label: 'Try again'},
        ...(lacking.some(({what}) => what === 'chart')
          ? [{value: DISK, label: 'Use a chart on this disk…'}]
          : []),
        {value: FILES, label: 'Write files only', description: 'values.yaml and answers.yaml'},
        {value: CONTINUE, label: 'Continue', description: 'the review tries again'},
      ],
    });
    if (picked === CONTINUE) return {question: 'requirements'};
    if (picked === FILES)
      return {question: 'requirements', place: {kind: 'files', context: placeContext(state)}};
    if (picked === AGAIN) lacking = await deps.prompter.wait('Trying again', tryAgain(asking));
    const answers = picked === DISK ? await askChartOnDisk(asking) : undefined;
    if (answers !== undefined) return {question: 'requirements', answers, alsoAsked: [chart.id]};
  }
}

async function tryAgain({state, deps: {facts}}: Asking): Promise<readonly Missing[]> {
  const [cluster, lacking] = await Promise.all([
    facts.read('cluster', state, true),
    facts.read('lacking', state, true),
  ]);
  return missingOf({cluster, lacking});
}

/** Asks for a chart on this machine. Undefined after Esc. */
export async function askChartOnDisk({
  frame,
  deps,
}: Pick<Asking, 'frame' | 'deps'>): Promise<(readonly [Setting, Answer])[] | undefined> {
  let found: {name: string; version: string} | undefined;
  const question = {
    ...frame,
    canGoBack: true,
    message: 'Directory or .tgz file of the chart',
    help: [
      'Name and version are read from the chart.',
      'Flag --chart-source. https://helm.sh/docs/helm/helm_pull/',
    ],
    note: 'for example ./agent-local-0.6.5.tgz',
    async validate(text: string) {
      const reading = deps.readChart(deps.typedPath(text));
      const read = await reading.catch(onFailure(({message}) => message));
      if (typeof read === 'string') return read;
      found = read;
      return undefined;
    },
  };
  const path = await unlessBack(deps.prompter.input(question), undefined);
  if (path === undefined) return undefined;
  const values: [Setting, unknown][] = [
    [chart, found?.name],
    [chartVersion, found?.version],
    [chartSource, deps.typedPath(path)],
  ];
  return values.map(([setting, value]) => [setting, {value, source: 'prompt'}] as const);
}
