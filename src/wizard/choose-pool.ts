import type {Prompter} from '../ports/prompter.ts';
import {token, tokenFile, tokenSecret, url} from '../settings/agent.ts';
import type {Setting} from '../settings/define.ts';
import {purpose} from '../settings/purpose.ts';
import type {AnswerStore} from './answer-store.ts';
import {unlessBack} from './ask.ts';
import type {Question} from './interview.ts';

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

const [CREATE, PASTE] = ['', '…'];
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
            {value: CREATE as string, label: 'Create a new pool', description: `for example ${newName()}`},
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
        const name = pool?.name ?? (await unlessBack(askName(prompter, newName(), pools, shown), undefined));
        if (name === undefined) continue;
        store.pool = {host, name, ...(pool === undefined ? {} : {id: pool.id})};
        give(store, url, `https://${host}`);
        if (pool !== undefined) give(store, purpose, pool.isForVcs ? 'vcs' : 'runs');
        return name;
      }
    },
  };
}

const askName = (prompter: Prompter, preset: string, pools: readonly OfferedPool[], shown: {heading: readonly string[]}): Promise<string> =>
  prompter.input({
    ...shown,
    canGoBack: true,
    message: 'Name of the new agent pool',
    help: ['The name is shown in Scalr.', 'Link the pool to workspaces after the install.', 'https://docs.scalr.io/docs/agent-pools'],
    default: preset,
    isPrefilled: true,
    validate: (text) => {
      if (text === '') return 'A value is required.';
      return pools.some(({name}) => name === text) ? 'This agent pool exists. Go back and select it.' : undefined;
    },
  });

/** The pool answers the question, unless a flag does. */
function give(store: AnswerStore, setting: Setting, value: unknown): void {
  if (store.isFixed(setting)) return;
  store.set(setting, {value, source: 'prompt'});
  store.asked.add(setting.id);
}
