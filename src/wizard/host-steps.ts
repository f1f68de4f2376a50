import {HOSTS, type HostTarget} from '../charts/host/host.ts';
import {RUNS_PER_AGENT} from '../charts/host/rows.ts';
import {ExpectedError} from '../ground/errors.ts';
import {hostAgent} from '../host/agent.ts';
import {token} from '../settings/agent.ts';
import type {Setting} from '../settings/define.ts';
import {concurrency, isolation, purpose} from '../settings/purpose.ts';
import {Settings} from '../settings/settings.ts';
import {cache, cachePath} from '../settings/storage.ts';
import {type AnswerStore, targetOfPlace} from './answer-store.ts';

/** Where the agent runs if it is this machine; undefined for Kubernetes and if it is not known yet. */
export function hostOf({place}: Pick<AnswerStore, 'place'>): Extract<HostTarget, 'docker' | 'systemd'> | undefined {
  const target = targetOfPlace(place);
  return target === 'kubernetes' ? undefined : target;
}

/** True if an agent on this machine supports no value of the setting, or only one. */
export const isForeignOn = (target: HostTarget, setting: Setting, {get}: Pick<AnswerStore, 'get'>): boolean =>
  (target === 'systemd' && setting.id === isolation.id) ||
  !HOSTS[target].rows.some((row) => row.setting === setting && (row.when?.(get) ?? true));

/** Why an agent on this machine does not support a value. */
export function whyExcludedOn(target: HostTarget, setting: Setting, value: unknown, store: AnswerStore): string | undefined {
  // Other answers that are excluded are reported by the review.
  const decisive = store.entries().filter((each) => each.setting === purpose || each.setting === (isolation as Setting));
  const answers = decisive.map((each) => [each.setting.id, each.answer] as const);
  try {
    hostAgent(new Settings(new Map([...answers, [setting.id, {value, source: 'prompt'}]])), target);
    return undefined;
  } catch (error) {
    if (error instanceof ExpectedError) return error.message;
    throw error;
  }
}

/** True if an agent on this machine leaves nothing to choose. */
export function hasOneChoice(setting: Setting, store: AnswerStore): boolean {
  const host = hostOf(store);
  const {options = []} = setting.kind;
  return host !== undefined && options.filter((value) => whyExcludedOn(host, setting, value, store) === undefined).length === 1;
}

/** Meaning of an empty answer, and the preselected choice. */
export function emptyOnHost(setting: Setting): {orElse?: string | undefined; suggested?: string} {
  if (setting === (token as Setting)) return {orElse: 'Enter: add it to agent.env later'};
  return setting === (isolation as Setting) ? {orElse: undefined, suggested: 'per-run'} : {};
}

/** What an agent on this machine does without an answer; undefined if it depends on more. */
export function defaultOnHost({id}: Setting, {get, place}: Pick<AnswerStore, 'get' | 'place'>): unknown {
  const isShared = place?.kind === 'docker' && get(isolation) === 'shared';
  if (id === concurrency.id) return isShared ? 1 : RUNS_PER_AGENT;
  return id === cache.id ? (isShared ? 'ephemeral' : 'hostpath') : undefined;
}

type Words = Partial<Pick<Setting, 'question' | 'labels' | 'meanings'>>;

const ON_HOST = new Map<Setting, Words>([
  [
    isolation as Setting,
    {
      question: 'Isolate each run in its own container?',
      meanings: {
        shared: 'runs execute in the container of the agent, one at a time',
        'per-run': 'each run gets its own container; requires the Docker socket',
      },
    },
  ],
  [
    cache as Setting,
    {
      labels: {hostpath: 'Directory on this machine', ephemeral: 'In the container'},
      meanings: {hostpath: 'outlives the container of the agent', ephemeral: 'deleted with the container'},
    },
  ],
  [cachePath as Setting, {question: 'Cache directory on this machine'}],
]);

export function inWordsOf(store: AnswerStore, setting: Setting): Setting {
  const words = hostOf(store) === undefined ? undefined : ON_HOST.get(setting);
  return words === undefined ? setting : {...setting, ...words};
}
