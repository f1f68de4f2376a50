import {unlessBack} from '../ground/errors.ts';
import type {Choice} from '../ground/system/system.ts';
import {lowerFirst} from '../ground/text.ts';
import type {Asking, QuestionDeps} from './asking.ts';
import type {Contexts} from './contexts.ts';
import {IN_POD, type Place} from './place.ts';
import type {Reply} from './reply.ts';

/** Values of choices; a context has a prefix, because a context can be called docker. */
const CURRENT = 'current';
const OTHER = 'other';
const PLACES: readonly Choice[] = [
  {value: 'docker', label: 'Docker', description: 'on this machine, or write files'},
  {
    value: 'systemd',
    label: 'Virtual machine',
    description: 'write files for the Linux packages, which are deprecated',
  },
  {value: 'files', label: 'Files only', description: 'write values.yaml, change nothing'},
];

interface AskingTarget extends Pick<Asking, 'state' | 'frame'> {
  deps: Pick<QuestionDeps, 'prompter' | 'contexts' | 'facts'>;
}

/** Where the agent will run. The cluster is read in the background. */
export async function askTarget({state, frame, deps}: AskingTarget): Promise<Reply> {
  const {contexts, facts, prompter} = deps;
  const {current, isInPod = false} = contexts;
  const hasCluster = current !== undefined || isInPod;
  const here = {...state, place: clusterAt(current)};
  if (hasCluster) facts.start(here);
  const summary = async (): Promise<string> => {
    const [cluster, lacking] = await Promise.all([
      facts.read('cluster', here),
      facts.read('lacking', here).catch(() => []),
    ]);
    return [cluster.summary, ...lacking.map(({text}) => lowerFirst(text))].join(' · ');
  };
  for (;;) {
    const picked = await prompter.select({
      ...frame,
      message: 'Where will the agent run?',
      help: [
        'Nothing is changed until you choose Install.',
        'Flags --kube-context and --kubeconfig. https://docs.scalr.io/docs/agent-pools',
      ],
      choices: choicesFor(contexts, 'reading the cluster …'),
      ...(hasCluster ? {laterChoices: summary().then((text) => choicesFor(contexts, text))} : {}),
      default: choiceOf(state.place, current) ?? (hasCluster ? CURRENT : 'files'),
    });
    const place = await placeOf(picked, {state, frame, deps});
    if (place !== undefined) return {question: 'target', place};
  }
}

/** Undefined after Esc in the list of contexts. */
async function placeOf(picked: string, asking: AskingTarget): Promise<Place | undefined> {
  const {contexts} = asking.deps;
  if (picked === CURRENT) return clusterAt(contexts.current);
  if (picked !== OTHER) return {kind: picked as 'docker' | 'systemd' | 'files'};
  const context = await unlessBack(askContext(asking), undefined);
  return context === undefined ? undefined : clusterAt(context);
}

/** The cluster of the only context, where nothing else can run an agent: then the place is not asked for. */
export function onlyPlace(
  {all, current, isInPod = false}: Contexts,
  hasDocker: boolean,
): Place | undefined {
  const isOne = isInPod ? all.length === 0 : current !== undefined && all.length === 1;
  return isOne && !hasDocker ? clusterAt(current) : undefined;
}

const clusterAt = (context: string | undefined): Place => ({
  kind: 'kubernetes',
  ...(context === undefined ? {} : {context}),
});

function choicesFor({all, current, isInPod, problem}: Contexts, summary: string): Choice[] {
  const others = all.filter(({name}) => name !== current).length;
  const cluster: Choice = {
    value: CURRENT,
    label: current ?? (isInPod ? IN_POD : 'Kubernetes'),
    ...(current === undefined && !isInPod
      ? {disabled: problem ?? 'the kubeconfig has no current context'}
      : {description: isInPod ? summary : `current context: ${summary}`}),
  };
  const other: Choice = {
    value: OTHER,
    label: 'Another context…',
    description: `${others} more in the kubeconfig`,
  };
  return [cluster, ...(others === 0 ? [] : [other]), ...PLACES];
}

function choiceOf(place: Place | undefined, current: string | undefined): string | undefined {
  if (place?.kind !== 'kubernetes') return place?.kind;
  return place.context === current ? CURRENT : OTHER;
}

const askContext = ({state, frame, deps}: AskingTarget): Promise<string> =>
  deps.prompter.search({
    ...frame,
    canGoBack: true,
    message: 'Kubeconfig context',
    help: [
      'The other contexts of your kubeconfig.',
      'Flags --kube-context NAME and --kubeconfig FILE',
    ],
    choices: deps.contexts.all
      .filter(({name}) => name !== deps.contexts.current)
      .map(({name, cluster}) => ({
        value: name,
        label: name,
        description: cluster && `cluster ${cluster}`,
      })),
    default: state.place?.kind === 'kubernetes' ? state.place.context : undefined,
  });
