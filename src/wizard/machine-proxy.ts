import type {Setting} from '../settings/define.ts';
import {httpsProxy, noProxy} from '../settings/network.ts';
import type {Answer} from '../settings/settings.ts';
import type {WizardState} from './wizard-state.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy of this machine as an answer to edit, with what the cluster adds; undefined if the machine has none. */
export function ofMachine(
  setting: Setting,
  {answers, asked}: WizardState,
  env: Environment,
): Answer | undefined {
  const answer = answers.answer(setting);
  if (asked.has(setting.id) || answers.isGiven(setting)) return undefined;
  if (setting === (httpsProxy as Setting))
    return answer ?? parsed(setting, environmentVariable(env, 'HTTPS_PROXY'));
  if (setting !== (noProxy as Setting)) return undefined;
  const entries = environmentVariable(env, 'NO_PROXY')?.split(',') ?? [];
  const ofBoth = [...((answer?.value as string[] | undefined) ?? []), ...entries.filter(isValid)];
  return entries.some(isValid) ? parsed(setting, ofBoth) : undefined;
}

export const environmentVariable = (env: Environment, name: string): string | undefined =>
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
