import type {Setting} from '../settings/define.ts';
import {httpsProxy, noProxy} from '../settings/network.ts';
import type {Answer} from '../settings/settings.ts';
import type {AnswerStore} from './answer-store.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy of this machine as an answer to edit, with what the cluster adds; undefined if the machine has none. */
export function ofMachine(
  setting: Setting,
  store: AnswerStore,
  env: Environment,
): Answer | undefined {
  const answer = store.answer(setting);
  if (store.asked.has(setting.id) || (answer !== undefined && answer.source !== 'cluster'))
    return undefined;
  if (setting === (httpsProxy as Setting)) return parsed(setting, variable(env, 'HTTPS_PROXY'));
  if (setting !== (noProxy as Setting)) return undefined;
  const entries = variable(env, 'NO_PROXY')?.split(',') ?? [];
  const ofBoth = [...((answer?.value as string[] | undefined) ?? []), ...entries.filter(isValid)];
  return entries.some(isValid) ? parsed(setting, ofBoth) : undefined;
}

const variable = (env: Environment, name: string): string | undefined =>
  env[name] || env[name.toLowerCase()] || undefined;

/** An entry that agents can use too; the asterisk turns every proxy off. */
const isValid = (entry: string): boolean =>
  entry.trim() !== '*' &&
  ((parsed(noProxy as Setting, entry)?.value as string[] | undefined)?.length ?? 0) > 0;

/** What this machine uses may not be valid for the agent. */
function parsed(setting: Setting, raw: unknown): Answer | undefined {
  if (raw === undefined) return undefined;
  try {
    return {value: setting.kind.parse(raw, {now: new Date(0)}), source: 'prompt'};
  } catch {
    return undefined;
  }
}
