import type {Prompter} from '../ports/system.ts';
import {allowClearText} from '../settings/clear-text.ts';
import type {Setting} from '../settings/define.ts';
import {httpProxy, httpsProxy} from '../settings/network.ts';
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

const PROXIES = [httpProxy, httpsProxy] as Setting[];

/** The consent is for the password of the proxy, and ends with it. */
export function dropConsent(store: AnswerStore): void {
  const hasOne = PROXIES.some((each) => {
    const answer = store.answer(each);
    return answer !== undefined && hasPassword(answer);
  });
  if (!hasOne && store.answer(allowClearText)?.source === 'prompt') store.delete(allowClearText);
}
