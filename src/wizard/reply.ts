import type {Setting} from '../settings/define.ts';
import type {Answer} from '../settings/settings.ts';
import type {InstalledAgent} from './gathered-facts.ts';
import type {Place} from './place.ts';
import type {ChosenPool} from './wizard-state.ts';

/** What a question has found out. */
export interface Reply {
  /** ID of the question. */
  question: string;
  answers?: readonly (readonly [Setting, Answer | undefined])[];
  place?: Place;
  pool?: ChosenPool | 'none';
  /** The release whose settings are changed. */
  adopts?: InstalledAgent;
  /** The user may choose another release. */
  abandons?: boolean;
  /** Other questions that this one has answered. */
  alsoAsked?: readonly string[];
}
