import {parseAnswer} from '../answers/resolve.ts';
import {ExpectedError} from '../ground/errors.ts';
import {hostInToken, isPoolToken, Secret, tokenClaims, tokenProblem} from '../ground/secret.ts';
import type {Files} from '../ground/system/system.ts';
import {bareToken, unusableToken} from '../ground/token-text.ts';
import {url} from '../settings/agent.ts';
import type {Setting} from '../settings/define.ts';
import {InvalidValue} from '../settings/kinds/kind.ts';
import {type Answer, hasPassword} from '../settings/settings.ts';
import {spellRemedy} from './spell-remedy.ts';

/** What reading a typed text needs. */
export interface TypedDeps {
  files: Pick<Files, 'read' | 'readStdin'>;
  now(): Date;
  /** A typed path, with ~ and quotes resolved. */
  typedPath?(text: string): string;
}

/** What is known of a complete token; undefined for one that is not accepted. */
export function tokenText(pasted: string, now: Date): string | undefined {
  const text = bareToken(pasted);
  if (tokenProblem(text) !== undefined || unusableToken(text, now) !== undefined) return undefined;
  const given = new Secret(text);
  const host = hostInToken(given)?.replace('https://', '');
  const expires = tokenClaims(text)?.expires?.toISOString().slice(0, 10);
  const kind = isPoolToken(given) ? 'Agent pool token' : 'Token';
  const owner = host === undefined ? kind : `${kind} for ${host}`;
  return `${owner}, ${expires === undefined ? 'does not expire' : `expires on ${expires}`}`;
}

/** A password is not shown, and the file of an installed release has no path here. */
export const hasNoText = ({kind}: Setting, answer: Answer): boolean =>
  hasPassword(answer) || (kind.isFile === true && answer.given === undefined);

/** An answer as the user types it. */
export const typedText = ({kind}: Setting, {value, given}: Answer): string =>
  given ?? kind.format(value).join(kind.list?.separator.test(',') ? ',' : '\n');

/** @throws ExpectedError, InvalidValue */
export async function answerOf(
  setting: Setting,
  typed: string,
  {files, now, typedPath}: TypedDeps,
): Promise<Answer> {
  const text = setting.kind.isFile && typedPath ? typedPath(typed) : inFull(setting, typed);
  const raw = setting.kind.list ? text.split(setting.kind.list.separator) : text;
  return {...(await parseAnswer(setting, raw, {files, now: now()})), source: 'prompt'};
}

/** The text in its full spelling; of a page of Scalr in the browser, the account. */
function inFull(setting: Setting, typed: string): string {
  const [page] = (setting.id === url.id && /^https:\/\/[\w-]+\.scalr\.io(?=\/.)/.exec(typed)) || [];
  return page ?? setting.meant?.(typed) ?? typed;
}

/** Why the text is not a valid answer. */
export async function problemIn(
  setting: Setting,
  text: string,
  deps: TypedDeps,
): Promise<string | undefined> {
  try {
    const {value} = await answerOf(setting, text, deps);
    return value instanceof Secret ? tokenProblem(value.reveal()) : undefined;
  } catch (error) {
    if (error instanceof ExpectedError) return error.message;
    if (!(error instanceof InvalidValue)) throw error;
    const {message, suggestion} = error;
    return suggestion === undefined
      ? `${message}.`
      : `${message}. ${spellRemedy(suggestion).text.replace(/[^?.]$/, '$&.')}`;
  }
}
