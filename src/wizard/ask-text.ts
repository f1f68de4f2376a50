import {ExpectedError} from '../errors.ts';
import type {TextQuestion} from '../ports/prompter.ts';
import {InvalidValue, type Setting} from '../settings/define.ts';
import {claimsOf} from '../settings/secret.ts';
import type {Answer} from '../settings/settings.ts';
import type {AskingWorld, Manner} from './ask.ts';
import type {Knowledge} from './knowledge.ts';

/** Asks for a line of text that the setting can take; empty where Enter alone was the answer. */
export function askText(
  setting: Setting,
  {orElse, current}: Manner,
  help: string[],
  known: Knowledge,
  world: AskingWorld,
): Promise<string> {
  const {kind, question: message, fallbackFrom = 'default', required = false} = setting;
  const fallback = setting.fallback?.(known.get);
  // The path of a file with a secret may be shown, the secret itself never.
  const isSecret = kind.isSecret === true && kind.isFile !== true;
  const mayBeEmpty = orElse !== undefined || fallback !== undefined || (current !== undefined && !required);
  const problem = (text: string): string | undefined => {
    if (text === '') return mayBeEmpty ? undefined : 'An answer is needed here.';
    return kind.isFile ? undefined : problemIn(() => parse(setting, text, world));
  };
  const common: TextQuestion = {
    message,
    help,
    isSecret,
    problem,
    ...(kind.isFile ? {check: (path) => problemInFile(setting, path, world)} : {}),
  };
  if (current !== undefined && !isSecret && current.value !== undefined)
    return world.prompter.text({...common, isEdited: true, default: textOf(setting, current)});
  if (isSecret && current !== undefined) return world.prompter.text({...common, note: 'as it is'});
  if (fallback === undefined) return world.prompter.text({...common, ...(orElse === undefined ? {} : {note: orElse})});
  const text = textOf(setting, {value: fallback, source: 'default'});
  // A default of no entries is what Enter alone means.
  return world.prompter.text({...common, ...(text === '' ? {note: orElse ?? 'none'} : {default: text, note: fallbackFrom})});
}

/** An answer as it would be typed. */
const textOf = ({kind}: Setting, {value, given}: Answer): string =>
  given ?? kind.format(value).join(kind.list?.separator.test(',') ? ',' : '\n');

/** @throws InvalidValue */
function parse({kind, onlyEnv}: Setting, text: string, {now}: AskingWorld): void {
  kind.parse(kind.list ? text.split(kind.list.separator) : text, {now: now()});
  const expires = onlyEnv === undefined ? undefined : claimsOf(text)?.expires;
  if (expires !== undefined && expires <= now())
    throw new InvalidValue(`expired on ${expires.toISOString().slice(0, 10)}`, 'Add a token to the agent pool and take that one');
}

async function problemInFile({kind}: Setting, path: string, {files, now}: AskingWorld): Promise<string | undefined> {
  if (path === '') return undefined;
  try {
    const content = await files.read(path);
    return problemIn(() => kind.parse(content, {now: now()}));
  } catch (error) {
    if (error instanceof ExpectedError) return error.message;
    throw error;
  }
}

function problemIn(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const sentence = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}`;
    return error.suggestion === undefined ? `${sentence}.` : `${sentence}. ${error.suggestion.replace(/[^?.]$/, '$&.')}`;
  }
}
