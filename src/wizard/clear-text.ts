import {credentialsIn} from '../ground/credentials.ts';
import {allowClearText} from '../settings/chart-values.ts';
import {type Answer, hasPassword} from '../settings/settings.ts';
import {hostOf} from './place.ts';
import {type WizardState, withAnswer} from './wizard-state.ts';

export const CONSENT_QUESTION =
  'The chart stores this password in clear text: in values.yaml, the Helm release and the pods. Store it?';

/** True for a password that the user must agree to store in clear text. */
export const needsConsent = (answer: Answer | undefined, state: WizardState): boolean =>
  answer !== undefined &&
  hasPassword(answer) &&
  hostOf(state) === undefined &&
  state.answers.get(allowClearText) !== true;

/** True if a release with these settings already stores a credential in clear text. */
export const isStored = (settings: ReadonlyMap<string, unknown>): boolean =>
  credentialsIn(JSON.stringify([...settings.values()])).length > 0;

/** The consent is for credentials in the answers, and ends with them. */
export function withoutConsent(state: WizardState): WizardState {
  if (state.answers.answer(allowClearText)?.source !== 'prompt') return state;
  const entries = state.answers.entries();
  const answers = entries.map(({setting, answer}) => [setting.id, answer.value] as const);
  return isStored(new Map(answers)) ? state : withAnswer(state, allowClearText, undefined);
}
