import {parseAnswer, type ResolveOptions} from '../answers/resolve.ts';
import {ExpectedError, GoBack} from '../ground/errors.ts';
import {hostInToken, isPoolToken, Secret, tokenClaims, tokenProblem} from '../ground/secret.ts';
import type {Choice, Files, ListQuestion, Prompter, TextQuestion} from '../ground/system/system.ts';
import {bareToken, unusableToken} from '../ground/token-text.ts';
import {url} from '../settings/agent.ts';
import {cacheSize} from '../settings/cache.ts';
import {catalog} from '../settings/catalog.ts';
import {type Setting, spell} from '../settings/define.ts';
import {InvalidValue, MissingSetting} from '../settings/kinds/kind.ts';
import {httpProxy, httpsProxy} from '../settings/network.ts';
import {type Answer, hasPassword} from '../settings/settings.ts';
import {dataSize} from '../settings/storage.ts';
import {answerText} from '../ui/prompt-text.ts';
import {AnswerStore} from './answer-store.ts';

export interface AskDeps {
  prompter: Prompter;
  files: Pick<Files, 'read' | 'readStdin'>;
  now(): Date;
  /** Choices for a setting that are read from the cluster. */
  offers?(setting: Setting): readonly Choice[];
  /** Continuations of a typed path. */
  completePath?(text: string): Promise<readonly string[]>;
  /** A typed path, with ~ and quotes resolved. */
  typedPath?(text: string): string;
  /** Why earlier answers exclude this value. */
  whyExcluded?(setting: Setting, value: unknown): string | undefined;
  /** Excluded values are left out instead of being shown with the reason. */
  hidesExcluded?: boolean;
  /** Values that the platform cannot have. */
  isHidden?(value: string): boolean;
}

/** How to ask for one setting. */
interface AskOptions {
  /** Meaning of an empty answer if no default is known. */
  orElse?: string | undefined;
  /** The value that an empty answer leaves in force. Its row stands for the empty answer. */
  byDefault?: unknown;
  /** Whose value that is. */
  defaultOf?: string;
  orElseMeaning?: string | undefined;
  /** Why an empty answer is not possible. */
  orElseDisabled?: string | undefined;
  /** The preselected choice if no default is known. */
  suggested?: string | undefined;
  /** The answer to change. */
  current?: Answer | undefined;
  /** Text to complete, which is not a valid answer yet. */
  draft?: string | undefined;
  heading?: readonly string[] | undefined;
  /** Esc rejects the question with GoBack; `quit` at the first one. */
  canGoBack?: boolean | 'quit';
  /** A row of its own stands for the empty answer, beside the one with the default value. */
  canClear?: boolean;
}

const CHART_DEFAULT = 'chart default';

/** Values of choices that are not answers. */
const NONE = '';
const OTHER = '…';

/** Prompts for missing required settings and returns all answers. */
export async function askMissing(
  answers: ReadonlyMap<string, Answer>,
  {only = catalog, optional = []}: ResolveOptions,
  deps: AskDeps,
): Promise<ReadonlyMap<string, Answer>> {
  const store = new AnswerStore(answers);
  for (const setting of only) {
    if (!setting.required || optional.includes(setting) || store.get(setting) !== undefined)
      continue;
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

/** A list of the review. Undefined for its last row, and after Esc. */
export async function chooseInReview(
  prompter: Prompter,
  question: ListQuestion,
  last = 'Back to the review',
): Promise<string | undefined> {
  const choices = [...question.choices, {value: NONE, label: last}];
  const picked = await unlessBack(
    prompter.select({heading: ['Review'], ...question, choices, canGoBack: true}),
    NONE,
  );
  return picked === NONE ? undefined : picked;
}

/** Prompts for one setting. Undefined if the answer is empty. */
export async function ask(
  setting: Setting,
  options: AskOptions,
  store: AnswerStore,
  deps: AskDeps,
): Promise<Answer | undefined> {
  const {kind} = setting;
  if (kind.options !== undefined || kind.isSwitch) return choose(setting, options, store, deps);
  const {current, byDefault, defaultOf = CHART_DEFAULT} = options;
  const orElse =
    byDefault === undefined
      ? options.orElse
      : `${answerText(setting, {value: byDefault, source: 'chart'})}, ${defaultOf}`;
  const offered = await chooseOffered(setting, {...options, orElse}, deps);
  const text =
    offered === OTHER ? await askText(setting, {...options, orElse}, store, deps) : offered;
  if (text === NONE && current !== undefined && hasNoText(setting, current)) return current;
  return text === NONE ? undefined : answerOf(setting, text, deps);
}

async function choose(
  setting: Setting,
  options: AskOptions,
  store: AnswerStore,
  deps: AskDeps,
): Promise<Answer | undefined> {
  const {kind} = setting;
  const {orElse, orElseMeaning, suggested, current, byDefault, canClear = false} = options;
  const choices = choicesFor(setting, options, store, deps);
  const unanswered = byDefault === undefined ? undefined : kind.format(byDefault)[0];
  const hasDefault = choices.some(
    ({value, disabled}) => value === unanswered && disabled === undefined,
  );
  const isClearable = canClear && setting.fallback?.(store.get) === undefined;
  const none =
    orElse === undefined || (hasDefault && !isClearable)
      ? []
      : [{value: NONE, label: orElse, description: orElseMeaning}];
  const fallback = current === undefined ? setting.fallback?.(store.get) : undefined;
  const unset = hasDefault && !isClearable ? byDefault : NONE;
  const preferred = kind.format(current?.value ?? fallback ?? suggested ?? unset)[0] ?? NONE;
  const chosen = await deps.prompter.select({
    ...questionOf(setting, options),
    choices: [...none, ...choices],
    default: preferred,
  });
  // A default can change with later answers, what was chosen cannot.
  return chosen === NONE
    ? undefined
    : {value: kind.parse(chosen, {now: deps.now()}), source: 'prompt'};
}

/** The values that are possible with the other answers; excluded ones with the reason. */
function choicesFor(
  setting: Setting,
  {byDefault, defaultOf = CHART_DEFAULT}: AskOptions,
  store: AnswerStore,
  {now, whyExcluded, hidesExcluded = false, isHidden}: AskDeps,
): Choice[] {
  const {kind, meanings} = setting;
  const unanswered = byDefault === undefined ? undefined : kind.format(byDefault)[0];
  const isPossible = (value: string): boolean => {
    const conflict = setting.rule?.(kind.parse(value, {now: now()}), store.get);
    return conflict === undefined || conflict instanceof MissingSetting;
  };
  const values = kind.isSwitch
    ? ['true', 'false']
    : (kind.options ?? []).filter((value) => isPossible(value) && !isHidden?.(value));
  return values.flatMap((value): Choice[] => {
    const disabled = whyExcluded?.(setting, kind.parse(value, {now: now()}));
    if (disabled !== undefined && hidesExcluded) return [];
    const meaning =
      [value === unanswered ? defaultOf : undefined, meanings?.[value]]
        .filter(Boolean)
        .join('; ') || undefined;
    return [{value, label: labelOf(setting, value), description: meaning, disabled}];
  });
}

/** A choice from the cluster, or OTHER to type a value. */
async function chooseOffered(
  setting: Setting,
  options: AskOptions,
  {prompter, offers}: AskDeps,
): Promise<string> {
  const found = offers?.(setting) ?? [];
  if (found.length === 0) return OTHER;
  const {orElse, current} = options;
  const chosen = current === undefined ? NONE : (setting.kind.format(current.value)[0] as string);
  const {orElseMeaning: description, orElseDisabled: disabled} = options;
  const none = orElse === undefined ? [] : [{value: NONE, label: orElse, description, disabled}];
  const typed =
    chosen === NONE || found.some(({value}) => value === chosen)
      ? []
      : [{value: chosen, label: chosen}];
  return prompter.search({
    ...questionOf(setting, options),
    choices: [...none, ...typed, ...found, {value: OTHER, label: 'Enter another value'}],
    default: chosen,
  });
}

const labelOf = ({labels}: Setting, value: string): string =>
  labels?.[value] ?? {true: 'Yes', false: 'No'}[value] ?? value;

/** A valid line of text, or an empty answer. */
function askText(
  setting: Setting,
  options: AskOptions,
  store: AnswerStore,
  deps: AskDeps,
): Promise<string> {
  const {kind, fallbackFrom = 'default', required = false} = setting;
  const {orElse, current} = options;
  const fallback = setting.fallback?.(store.get);
  const mayBeEmpty =
    orElse !== undefined || fallback !== undefined || (current !== undefined && !required);
  const question: TextQuestion = {
    ...questionOf(setting, options),
    async validate(text) {
      if (text === '') return mayBeEmpty ? undefined : 'A value is required.';
      return problemIn(setting, text, deps);
    },
  };
  const {prompter} = deps;
  const paths = kind.isFile && deps.completePath ? {complete: deps.completePath} : {};
  // The path of a secret file may be shown, but never the secret.
  if (kind.isSecret && !kind.isFile)
    return prompter.password({
      ...question,
      confirms: (text) => tokenText(text, deps.now()),
      note: current === undefined ? orElse : 'unchanged',
    });
  // The line stays empty, and Enter keeps the answer.
  if (current !== undefined && hasNoText(setting, current))
    return prompter.input({...question, note: `Enter: ${answerText(setting, current)}`});
  if (options.draft)
    return prompter.input({...question, isPrefilled: true, default: options.draft});
  if (current?.value !== undefined)
    return prompter.input({
      ...question,
      ...paths,
      isPrefilled: true,
      default: textOf(setting, current),
    });
  const example = setting === (url as Setting) ? 'for example acme.scalr.io' : undefined;
  if (fallback === undefined)
    return prompter.input({...question, ...paths, note: orElse ?? example});
  const text = textOf(setting, {value: fallback, source: 'default'});
  // An empty default is the meaning of an empty answer.
  return prompter.input({
    ...question,
    ...(text === '' ? {note: orElse ?? 'none'} : {default: text, note: fallbackFrom}),
  });
}

/** What is known of a complete token; undefined for one that is not accepted. */
function tokenText(pasted: string, now: Date): string | undefined {
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
const hasNoText = ({kind}: Setting, answer: Answer): boolean =>
  hasPassword(answer) || (kind.isFile === true && answer.given === undefined);

/** An answer as the user types it. */
const textOf = ({kind}: Setting, {value, given}: Answer): string =>
  given ?? kind.format(value).join(kind.list?.separator.test(',') ? ',' : '\n');

/** @throws ExpectedError, InvalidValue */
async function answerOf(
  setting: Setting,
  typed: string,
  {files, now, typedPath}: AskDeps,
): Promise<Answer> {
  const text = setting.kind.isFile && typedPath ? typedPath(typed) : inFull(setting, typed, now());
  const raw = setting.kind.list ? text.split(setting.kind.list.separator) : text;
  return {...(await parseAnswer(setting, raw, {files, now: now()})), source: 'prompt'};
}

/** Settings that have a customary short form: acme, acme.scalr.io, proxy:3128, 50 Gi. */
const WITH_SHORT_FORM: readonly Setting[] = [url, httpProxy, httpsProxy, cacheSize, dataSize];

/** The text with what its short form leaves out, if that is what the error of the setting suggests. */
function inFull(setting: Setting, typed: string, now: Date): string {
  const meant = setting.meant?.(typed);
  if (meant !== undefined) return meant;
  if (!WITH_SHORT_FORM.includes(setting) || typed.includes('://')) return typed;
  try {
    setting.kind.parse(typed, {now});
  } catch (error) {
    // A suggestion of two values is a question.
    const [, only] =
      (error instanceof InvalidValue && /^Did you mean (\S+)\?$/.exec(error.suggestion ?? '')) ||
      [];
    return only ?? typed;
  }
  return typed;
}

/** Why the text is not a valid answer. */
export async function problemIn(
  setting: Setting,
  text: string,
  deps: AskDeps,
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
      : `${message}. ${suggestion.replace(/[^?.]$/, '$&.')}`;
  }
}

/** The question and its help: what it means, flag and variable, source. */
function questionOf(setting: Setting, {heading, canGoBack = false}: AskOptions) {
  const {question: message, summary, explained, reference, env, onlyEnv} = setting;
  const otherwise =
    onlyEnv === undefined ? `Flag ${spell(setting)}` : `Environment variable ${env}`;
  const help = [
    sentencesWithin(150, explained ?? summary),
    `${otherwise}${reference === undefined ? '' : `. Source: ${reference}`}`,
  ];
  return {message, help, heading, canGoBack};
}

/** The first sentences of a text; at least one. */
function sentencesWithin(most: number, text: string): string {
  const [first = '', ...others] = text.match(/.+?[.?!](?= |$)|.+$/g) ?? [];
  return others.reduce(
    (kept, each) =>
      kept.length + each.length <= most && text.startsWith(kept + each) ? kept + each : kept,
    first,
  );
}
