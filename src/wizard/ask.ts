import {parseAnswer, type ResolveOptions} from '../answers/resolve.ts';
import {ExpectedError, GoBack} from '../errors.ts';
import type {Files} from '../ports/files.ts';
import type {Choice, Prompter, TextQuestion} from '../ports/prompter.ts';
import {catalogue} from '../settings/catalogue.ts';
import {InvalidValue, type Setting, spell} from '../settings/define.ts';
import {claimsOf} from '../settings/secret.ts';
import type {Answer} from '../settings/settings.ts';
import {AnswerStore} from './answer-store.ts';
import {refusalOf} from './chart-refusals.ts';

export interface AskDeps {
  prompter: Prompter;
  files: Pick<Files, 'read' | 'readStdin'>;
  now(): Date;
  /** Choices that the cluster has for a setting. */
  offers?(setting: Setting): readonly Choice[];
}

/** How to ask for one setting. */
interface AskOptions {
  /** What Enter alone means where no default is known. */
  orElse?: string | undefined;
  /** The choice that Enter takes where no default is known. */
  suggested?: string | undefined;
  /** The answer that is to be changed. */
  current?: Answer | undefined;
  /** Esc rejects the question with GoBack. */
  canGoBack?: boolean;
}

/** Values of choices that are no answers. */
const NONE = '';
const OTHER = '…';

/** The answers, and those without which nothing works as the operator gives them now. */
export async function askMissing(
  answers: ReadonlyMap<string, Answer>,
  {only = catalogue, optional = []}: ResolveOptions,
  deps: AskDeps,
): Promise<ReadonlyMap<string, Answer>> {
  const store = new AnswerStore(answers);
  for (const setting of only) {
    if (!setting.required || optional.includes(setting) || store.get(setting) !== undefined) continue;
    const answer = await ask(setting, {}, store, deps);
    if (answer !== undefined) store.set(setting, answer);
  }
  return new Map(store.entries().map(({setting, answer}) => [setting.id, answer]));
}

/** Resolves to the answer, or to `back` after Esc. */
export async function unlessBack<T, B>(answer: Promise<T>, back: B): Promise<T | B> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof GoBack) return back;
    throw error;
  }
}

/** Asks for one setting in the form its kind has. Undefined where the operator leaves it to what Enter alone means. */
export async function ask(setting: Setting, options: AskOptions, store: AnswerStore, deps: AskDeps): Promise<Answer | undefined> {
  const {kind} = setting;
  if (kind.options !== undefined || kind.isSwitch) return choose(setting, options, store, deps);
  const offered = options.current === undefined ? await chooseOffered(setting, options, deps) : OTHER;
  const text = offered === OTHER ? await askText(setting, options, store, deps) : offered;
  return text === NONE ? undefined : answerOf(setting, text, deps);
}

async function choose(setting: Setting, options: AskOptions, store: AnswerStore, {prompter, now}: AskDeps): Promise<Answer | undefined> {
  const {kind, meanings, fallbackFrom = 'default'} = setting;
  const {orElse, suggested, current} = options;
  const values = kind.isSwitch ? ['true', 'false'] : (kind.options ?? []);
  const choices = values.map((value): Choice => {
    const disabled = refusalOf(setting, kind.parse(value, {now: now()}), store);
    return {value, label: labelOf(value), ...defined({description: meanings?.[value], disabled})};
  });
  const none = orElse === undefined && current === undefined ? [] : [{value: NONE, label: orElse ?? 'not decided here'}];
  const fallback = current === undefined ? setting.fallback?.(store.get) : undefined;
  const preferred = kind.format(current?.value ?? fallback ?? suggested ?? NONE)[0] ?? NONE;
  const note = fallback === undefined ? undefined : `${labelOf(preferred)}, ${fallbackFrom}`;
  const chosen = await prompter.select({
    ...questionOf(setting, options),
    choices: [...none, ...choices],
    default: preferred,
    ...defined({note}),
  });
  return chosen === NONE ? undefined : {value: kind.parse(chosen, {now: now()}), source: 'prompt'};
}

/** One of those that the cluster has, or that another one will be typed. */
async function chooseOffered(setting: Setting, options: AskOptions, {prompter, offers}: AskDeps): Promise<string> {
  const found = offers?.(setting) ?? [];
  if (found.length === 0) return OTHER;
  const none = options.orElse === undefined ? [] : [{value: NONE, label: options.orElse}];
  return prompter.select({...questionOf(setting, options), choices: [...none, ...found, {value: OTHER, label: 'another one'}]});
}

const labelOf = (value: string): string => ({true: 'yes', false: 'no'})[value] ?? value;

/** A line of text that the setting can take; empty where Enter alone was the answer. */
function askText(setting: Setting, options: AskOptions, store: AnswerStore, deps: AskDeps): Promise<string> {
  const {kind, fallbackFrom = 'default', required = false} = setting;
  const {orElse, current} = options;
  const fallback = setting.fallback?.(store.get);
  const mayBeEmpty = orElse !== undefined || fallback !== undefined || (current !== undefined && !required);
  const question: TextQuestion = {
    ...questionOf(setting, options),
    async validate(text) {
      if (text === '') return mayBeEmpty ? undefined : 'An answer is needed here.';
      return problemIn(setting, text, deps);
    },
  };
  const {prompter} = deps;
  // The path of a file with a secret may be shown, the secret itself never.
  if (kind.isSecret && !kind.isFile)
    return prompter.password({...question, ...defined({note: current === undefined ? orElse : 'as it is'})});
  if (current?.value !== undefined) return prompter.input({...question, isPrefilled: true, default: textOf(setting, current)});
  if (fallback === undefined) return prompter.input({...question, ...defined({note: orElse})});
  const text = textOf(setting, {value: fallback, source: 'default'});
  // A default of no entries is what Enter alone means.
  return prompter.input({...question, ...(text === '' ? {note: orElse ?? 'none'} : {default: text, note: fallbackFrom})});
}

/** An answer as it would be typed. */
const textOf = ({kind}: Setting, {value, given}: Answer): string =>
  given ?? kind.format(value).join(kind.list?.separator.test(',') ? ',' : '\n');

/** @throws ExpectedError, InvalidValue */
async function answerOf(setting: Setting, text: string, {files, now}: AskDeps): Promise<Answer> {
  const raw = setting.kind.list ? text.split(setting.kind.list.separator) : text;
  return {...(await parseAnswer(setting, raw, {files, now: now()})), source: 'prompt'};
}

/** Why the text is not a valid answer, as a sentence. */
async function problemIn(setting: Setting, text: string, deps: AskDeps): Promise<string | undefined> {
  try {
    await answerOf(setting, text, deps);
    const expires = setting.onlyEnv === undefined ? undefined : claimsOf(text)?.expires;
    if (expires === undefined || expires > deps.now()) return undefined;
    return `Expired on ${expires.toISOString().slice(0, 10)}. Add a token to the agent pool and take that one.`;
  } catch (error) {
    if (error instanceof ExpectedError) return error.message;
    if (!(error instanceof InvalidValue)) throw error;
    const {message, suggestion} = error;
    const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
    return suggestion === undefined ? sentence : `${sentence} ${suggestion.replace(/[^?.]$/, '$&.')}`;
  }
}

/** What is asked, and what ? says: what it is, what follows from it, how else to give it and where to read more. */
function questionOf(setting: Setting, {canGoBack = false}: AskOptions) {
  const {question: message, summary, explained, env, onlyEnv} = setting;
  const otherwise = onlyEnv === undefined ? `${spell(setting)}, or the variable ${env}` : `The variable ${env}`;
  const help = [summary, ...(explained === undefined ? [] : [explained.text]), `${otherwise}. ${explained?.reference ?? ''}`.trim()];
  return {message, help, canGoBack};
}

/** The entries that are there. */
function defined<T extends object>(entries: T): {[K in keyof T]?: Exclude<T[K], undefined>} {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as ReturnType<typeof defined<T>>;
}
