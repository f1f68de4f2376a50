import {unlessBack} from '../ground/errors.ts';
import type {Prompter} from '../ground/system/system.ts';
import {url} from '../settings/agent.ts';
import type {Setting} from '../settings/define.ts';
import {purpose} from '../settings/purpose.ts';
import type {Answer} from '../settings/settings.ts';
import type {Asking, QuestionFrame} from './asking.ts';
import type {OfferedPool, OfferedPools} from './gathered-facts.ts';
import type {Reply} from './reply.ts';
import type {WizardState} from './wizard-state.ts';

const CREATE = '';
const PASTE = '…';

/** Which agent pool of the account to use; asked only with a token of a user, instead of asking for a token of the pool. */
export async function askPool({state, known, frame, deps}: Asking): Promise<Reply> {
  const {host, pools} = known.pools as OfferedPools;
  const ofCluster = nameFor(state);
  const newName = unusedName(ofCluster, pools);
  for (;;) {
    const picked = await deps.prompter.select({
      ...frame,
      message: `Which agent pool of ${host}?`,
      help: [
        'The install creates a token of the agent pool. Nothing is changed in the account before.',
        'Flags --pool and --create-pool. https://docs.scalr.io/docs/agent-pools',
      ],
      choices: [
        {
          value: CREATE,
          label: 'Create a new pool',
          description: `for example ${newName}`,
        },
        ...pools.map(({id, name, description}) => ({value: id, label: name, description})),
        {value: PASTE, label: 'Paste a token instead'},
      ],
      default: state.pool?.id ?? pools.find(({name}) => name === ofCluster)?.id ?? CREATE,
    });
    if (picked === PASTE) return {question: 'pool', pool: 'none'};
    const pool = pools.find(({id}) => id === picked);
    const naming = {frame, prompter: deps.prompter};
    const name = pool?.name ?? (await unlessBack(askName(newName, pools, naming), undefined));
    if (name !== undefined) return replyWith(state, {host, name, pool});
  }
}

function replyWith(
  {answers}: WizardState,
  {host, name, pool}: {host: string; name: string; pool: OfferedPool | undefined},
): Reply {
  const given: [Setting, Answer][] = [
    [url, {value: `https://${host}`, source: 'prompt'}],
    ...(pool === undefined ? [] : [purposeOf(pool)]),
  ];
  const open = given.filter(([setting]) => !answers.isFixed(setting));
  return {
    question: 'pool',
    pool: {host, name, ...(pool === undefined ? {} : {id: pool.id})},
    answers: open,
    alsoAsked: open.map(([{id}]) => id),
  };
}

const purposeOf = ({isForVcs}: OfferedPool): [Setting, Answer] => [
  purpose,
  {value: isForVcs ? 'vcs' : 'runs', source: 'prompt'},
];

/** The name of a pool for this cluster: the last part of an ARN or path. */
const nameFor = ({place}: WizardState): string =>
  (place?.kind === 'kubernetes' && place.context?.split(/[/:]/).at(-1)) || 'kubernetes';

/** prod, or prod-2 if there is a pool prod. */
function unusedName(name: string, pools: readonly OfferedPool[], number = 1): string {
  const numbered = number === 1 ? name : `${name}-${number}`;
  const isUsed = pools.some((pool) => pool.name === numbered);
  return isUsed ? unusedName(name, pools, number + 1) : numbered;
}

const askName = (
  preset: string,
  pools: readonly OfferedPool[],
  {frame, prompter}: {frame: QuestionFrame; prompter: Prompter},
): Promise<string> =>
  prompter.input({
    ...frame,
    canGoBack: true,
    message: 'Name of the new agent pool',
    help: [
      'Link the pool to workspaces in Scalr after the install.',
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
