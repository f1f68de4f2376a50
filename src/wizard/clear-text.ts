import {credentialsIn} from '../ground/credentials.ts';
import type {Prompter} from '../ground/system/system.ts';
import {allowClearText} from '../settings/chart-values.ts';
import {type Answer, hasPassword} from '../settings/settings.ts';
import type {AnswerStore} from './answer-store.ts';
import {hostOf} from './possible-answers.ts';

const QUESTION =
  'The chart stores this password in clear text: in values.yaml, the Helm release and the pods. Store it?';

/** True if the answer has no password, or if the user agrees that it is stored in clear text. */
export async function mayStore(
  answer: Answer,
  store: AnswerStore,
  prompter: Prompter,
): Promise<boolean> {
  if (!hasPassword(answer) || hostOf(store) !== undefined) return true;
  if (store.get(allowClearText) === true) return true;
  if (!(await prompter.confirm(QUESTION))) return false;
  store.set(allowClearText, {value: true, source: 'prompt'});
  return true;
}

/** True if a release with these settings already stores a credential in clear text. */
export const isStored = (settings: ReadonlyMap<string, unknown>): boolean =>
  credentialsIn(JSON.stringify([...settings.values()])).length > 0;

/** The consent is for credentials in the answers, and ends with them. */
export function dropConsent(store: AnswerStore): void {
  if (store.answer(allowClearText)?.source !== 'prompt') return;
  const answers = store.entries().map(({setting, answer}) => [setting.id, answer.value] as const);
  if (!isStored(new Map(answers))) store.delete(allowClearText);
}
