import type {DiscoveredCluster} from '../answers/cluster-answers.ts';
import {serverOfPod} from '../cluster/kubernetes/in-pod.ts';
import {contextsIn, type Kubeconfig} from '../cluster/kubernetes/kubeconfig.ts';
import {allContexts} from '../cluster/kubernetes/kubectl.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
import type {Choice, Processes, Prompter} from '../ground/system/system.ts';
import {lowerFirst} from '../ground/text.ts';
import {jsonFrom} from '../ground/tool-errors.ts';
import {token, tokenFile, tokenSecret, url} from '../settings/agent.ts';
import type {Setting} from '../settings/define.ts';
import {purpose} from '../settings/purpose.ts';
import {type AnswerStore, IN_POD, type Place, placeText} from './answer-store.ts';
import {unlessBack} from './ask.ts';
import type {Question, QuestionFrame} from './interview.ts';
import type {Missing} from './requirements.ts';

/** The contexts of the kubeconfig, or why there are none. */
export interface Contexts {
  current?: string;
  all: readonly {name: string; cluster?: string}[];
  /** No context is current, and helm and kubectl use the service account of this pod. */
  isInPod?: boolean;
  problem?: string;
}

/** Reads the kubeconfig; never fails. */
export async function readContexts(
  kubeTarget: ClusterTarget,
  processes: Processes,
  signal: AbortSignal,
): Promise<Contexts> {
  try {
    const call = allContexts(kubeTarget);
    const result = await processes.run(call, {signal});
    if (result.exitCode !== 0)
      return {
        all: [],
        problem: `kubectl cannot read the kubeconfig: ${result.stderr
          .trim()
          .split('\n')
          .at(-1)
          ?.replace(/^error: /, '')}`,
      };
    const config = jsonFrom<Kubeconfig>(call, result.stdout);
    const all = contextsIn(config);
    const current = config['current-context'];
    if (!current && serverOfPod() !== undefined) return {all, isInPod: true};
    return {
      all,
      ...(current ? {current} : {}),
      ...(all.length === 0
        ? {problem: 'no context found: check the path in KUBECONFIG, or use --kubeconfig'}
        : {}),
    };
  } catch (error) {
    // Without kubectl, the wizard can only save files.
    if (error instanceof ExpectedError) return {all: [], problem: error.message.replace(/\.$/, '')};
    throw error;
  }
}

const CURRENT = 'current';
const OTHER = 'other';
const DOCKER = 'docker';
const SYSTEMD = 'systemd';
const FILES = 'files';

interface TargetDeps {
  prompter: Prompter;
  read(context: string | undefined): Promise<DiscoveredCluster>;
  /** What an install lacks; known in the background. */
  lacking(context: string | undefined): Promise<readonly Missing[]>;
}

/** Where the agent will run. `read` returns the facts of a cluster, which it reads in the background. */
export function targetQuestion(
  store: AnswerStore,
  {all, current, isInPod = false, problem}: Contexts,
  {prompter, read, lacking}: TargetDeps,
): Question {
  const others = all.filter(({name}) => name !== current);
  const hasCluster = current !== undefined || isInPod;
  const about = (text: string): string =>
    current === undefined ? `${IN_POD}, ${text}` : `${current} (current context), ${text}`;
  const choices = (text: string): Choice[] => [
    {
      value: CURRENT as string,
      label: 'Kubernetes',
      ...(hasCluster
        ? {description: about(text)}
        : {disabled: problem ?? 'the kubeconfig has no current context'}),
    },
    ...(others.length === 0
      ? []
      : [
          {
            value: OTHER as string,
            label: 'Another context…',
            description: `${others.length} more in your kubeconfig`,
          },
        ]),
    {
      value: DOCKER as string,
      label: 'Docker',
      description: 'install on this machine, or write files',
    },
    {
      value: SYSTEMD as string,
      label: 'Virtual machine',
      description: 'write configuration for the deprecated Linux packages',
    },
    {value: FILES as string, label: 'Files only', description: 'write values.yaml, change nothing'},
  ];
  const summaryOf = async (context: string | undefined): Promise<string> => {
    const [{summary}, missing] = await Promise.all([read(context), lacking(context)]);
    return [summary, ...missing.map(({text}) => lowerFirst(text))].join(' · ');
  };
  const choiceFor = (place: Place | undefined): string | undefined =>
    place?.kind !== 'kubernetes' ? place?.kind : place.context === current ? CURRENT : OTHER;
  return {
    id: 'target',
    step: 'Target',
    message: 'Where will the agent run?',
    isOpen: () => !store.asked.has('target'),
    answer: () => placeText(store.place),
    async ask(shown) {
      for (;;) {
        const picked = await prompter.select({
          ...shown,
          message: this.message,
          help: [
            'Nothing is changed until you choose Install.',
            'Kubernetes uses the cluster of your kubeconfig. Docker and virtual machines require no cluster.',
            'Flags --kube-context and --kubeconfig. https://docs.scalr.io/docs/agent-pools',
          ],
          choices: choices('reading the cluster …'),
          ...(hasCluster ? {laterChoices: summaryOf(current).then(choices)} : {}),
          default: choiceFor(store.place) ?? (hasCluster ? CURRENT : FILES),
        });
        if (picked === FILES || picked === DOCKER || picked === SYSTEMD)
          store.place = {kind: picked as 'files' | 'docker' | 'systemd'};
        else {
          const context = picked === OTHER ? await chooseContext(others, shown, prompter) : current;
          if (context === undefined && picked === OTHER) continue;
          store.place = {kind: 'kubernetes', ...(context === undefined ? {} : {context})};
          void read(context);
          void lacking(context).catch(() => undefined);
        }
        return placeText(store.place);
      }
    },
  };
}

/** Undefined after Esc. */
const chooseContext = (
  contexts: Contexts['all'],
  shown: QuestionFrame,
  prompter: Prompter,
): Promise<string | undefined> =>
  unlessBack(
    prompter.search({
      ...shown,
      canGoBack: true,
      message: 'Kubeconfig context',
      help: [
        'The other contexts of your kubeconfig.',
        'Type to filter the list.',
        'Flags --kube-context NAME and --kubeconfig FILE',
      ],
      choices: contexts.map(({name, cluster}) => ({
        value: name,
        label: name,
        description: cluster && `cluster ${cluster}`,
      })),
    }),
    undefined,
  );

/** An agent pool as the wizard offers it. */
export interface OfferedPool {
  id: string;
  name: string;
  isForVcs: boolean;
  /** Its agents, and what is linked to it. */
  description: string;
}

/** The account whose token of a user is on this machine. */
export interface OfferedPools {
  host: string;
  pools: readonly OfferedPool[];
}

const CREATE = '';
const PASTE = '…';
const TOKEN: readonly Setting[] = [token, tokenFile, tokenSecret];

/** Which agent pool of the account to use; asked only with a token of a user, instead of asking for a token of the pool. */
export function poolQuestion(
  store: AnswerStore,
  offered: () => OfferedPools | undefined,
  {prompter, newName}: {prompter: Prompter; newName(): string},
): Question {
  return {
    id: 'pool',
    step: 'Agent',
    get message() {
      return `Which agent pool of ${offered()?.host}?`;
    },
    isOpen: () =>
      store.place?.kind === 'kubernetes' &&
      offered() !== undefined &&
      !store.asked.has('pool') &&
      !TOKEN.some((each) => store.isGiven(each)),
    answer: () => store.pool?.name,
    async ask(shown) {
      const {host, pools} = offered() as OfferedPools;
      for (;;) {
        const picked = await prompter.select({
          ...shown,
          message: this.message,
          help: [
            'The install creates a token of the agent pool, and waits until Scalr reports the agent.',
            'Nothing is changed in the account before you choose Install.',
            'Flags --pool and --create-pool. https://docs.scalr.io/docs/agent-pools',
          ],
          choices: [
            {
              value: CREATE as string,
              label: 'Create a new pool',
              description: `for example ${newName()}`,
            },
            ...pools.map(({id, name, description}) => ({value: id, label: name, description})),
            {value: PASTE as string, label: 'Paste a token instead'},
          ],
          default: store.pool?.id ?? (pools.length === 0 ? CREATE : pools[0]?.id),
        });
        if (picked === PASTE) {
          store.pool = undefined;
          return 'paste a token';
        }
        const pool = pools.find(({id}) => id === picked);
        const name =
          pool?.name ?? (await unlessBack(askName(prompter, newName(), pools, shown), undefined));
        if (name === undefined) continue;
        store.pool = {host, name, ...(pool === undefined ? {} : {id: pool.id})};
        give(store, url, `https://${host}`);
        if (pool !== undefined) give(store, purpose, pool.isForVcs ? 'vcs' : 'runs');
        return name;
      }
    },
  };
}

const askName = (
  prompter: Prompter,
  preset: string,
  pools: readonly OfferedPool[],
  shown: {heading: readonly string[]},
): Promise<string> =>
  prompter.input({
    ...shown,
    canGoBack: true,
    message: 'Name of the new agent pool',
    help: [
      'The name is shown in Scalr.',
      'Link the pool to workspaces after the install.',
      'https://docs.scalr.io/docs/agent-pools',
    ],
    default: preset,
    isPrefilled: true,
    validate: (text) => {
      if (text === '') return 'A value is required.';
      return pools.some(({name}) => name === text)
        ? 'This agent pool exists. Go back and select it.'
        : undefined;
    },
  });

/** The pool answers the question, unless a flag does. */
function give(store: AnswerStore, setting: Setting, value: unknown): void {
  if (store.isFixed(setting)) return;
  store.set(setting, {value, source: 'prompt'});
  store.asked.add(setting.id);
}
