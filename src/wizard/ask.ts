import type {Choice, Prompter, TextQuestion} from '../ground/system/system.ts';
import {url} from '../settings/agent.ts';
import {type Get, type Setting, spell} from '../settings/define.ts';
import {MissingSetting} from '../settings/kinds/kind.ts';
import type {Answer} from '../settings/settings.ts';
import {answerText} from '../ui/prompt-text.ts';
import {Answers} from './answers.ts';
import {
  answerOf,
  hasNoText,
  problemIn,
  type TypedDeps,
  tokenText,
  typedText,
} from './typed-answer.ts';

export interface AskDeps extends TypedDeps {
  prompter: Prompter;
  /** Choices for a setting that are read from the cluster. */
  offers?(setting: Setting): readonly Choice[];
  /** Why other answers exclude this value. */
  whyExcluded?(setting: Setting, value: unknown): string | undefined;
  /** What else this value would change. */
  consequence?(setting: Setting, value: unknown): string | undefined;
  /** Excluded values are left out instead of being shown with the reason. */
  hidesExcluded?: boolean;
  /** Values that the platform cannot have. */
  isHidden?(value: string): boolean;
}

/** How to ask for one setting. */
export interface AskOptions {
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
  /** What to type, where the setting has no default. */
  example?: string | undefined;
  /** What the setting means, instead of its own explanation. */
  meaning?: string | undefined;
}

const CHART_DEFAULT = 'chart default';

/** Values of choices that are not answers. */
const NONE = '';
const OTHER = '…';

/** Prompts for missing settings and returns all answers. */
export async function askMissing(
  answers: ReadonlyMap<string, Answer>,
  missing: readonly Setting[],
  deps: AskDeps,
): Promise<ReadonlyMap<string, Answer>> {
  let all = new Answers(answers);
  for (const setting of missing) {
    if (all.get(setting) !== undefined) continue;
    const answer = await ask(setting, {}, all.get, deps);
    if (answer !== undefined) all = all.with(setting, answer);
  }
  return new Map(all.entries().map(({setting, answer}) => [setting.id, answer]));
}

/** Prompts for one setting. Undefined if the answer is empty. */
export async function ask(
  setting: Setting,
  options: AskOptions,
  get: Get,
  deps: AskDeps,
): Promise<Answer | undefined> {
  const {kind} = setting;
  if (kind.options !== undefined || kind.isSwitch) return choose(setting, options, get, deps);
  const {current, byDefault, defaultOf = CHART_DEFAULT} = options;
  const orElse =
    byDefault === undefined
      ? options.orElse
      : `${answerText(setting, {value: byDefault, source: 'chart'})}, ${defaultOf}`;
  const offered = await chooseOffered(setting, {...options, orElse}, deps);
  const text =
    offered === OTHER ? await askText(setting, {...options, orElse}, get, deps) : offered;
  if (text === NONE && current !== undefined && hasNoText(setting, current)) return current;
  return text === NONE ? undefined : answerOf(setting, text, deps);
}

async function choose(
  setting: Setting,
  options: AskOptions,
  get: Get,
  deps: AskDeps,
): Promise<Answer | undefined> {
  const {kind} = setting;
  const {orElse, suggested, current, byDefault} = options;
  const choices = choicesFor(setting, options, get, deps);
  const unanswered = byDefault === undefined ? undefined : kind.format(byDefault)[0];
  const hasDefault = choices.some(
    ({value, disabled}) => value === unanswered && disabled === undefined,
  );
  const none = orElse === undefined || hasDefault ? [] : [{value: NONE, label: orElse}];
  const fallback = current === undefined ? setting.fallback?.(get) : undefined;
  const unset = hasDefault ? byDefault : NONE;
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
  get: Get,
  {now, whyExcluded, consequence, hidesExcluded = false, isHidden}: AskDeps,
): Choice[] {
  const {kind, meanings} = setting;
  const unanswered = byDefault === undefined ? undefined : kind.format(byDefault)[0];
  const isPossible = (value: string): boolean => {
    const conflict = setting.rule?.(kind.parse(value, {now: now()}), get);
    return conflict === undefined || conflict instanceof MissingSetting;
  };
  const values = kind.isSwitch
    ? ['true', 'false']
    : (kind.options ?? []).filter((value) => isPossible(value) && !isHidden?.(value));
  return values.flatMap((value): Choice[] => {
    const parsed = kind.parse(value, {now: now()});
    const disabled = whyExcluded?.(setting, parsed);
    if (disabled !== undefined && hidesExcluded) return [];
    const parts = [
      value === unanswered ? defaultOf : undefined,
      meanings?.[value],
      consequence?.(setting, parsed),
    ];
    const meaning = parts.filter(Boolean).join('; ') || undefined;
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
  const {orElse, current, suggested = NONE, draft} = options;
  const now = current === undefined ? suggested : (setting.kind.format(current.value)[0] as string);
  const chosen = draft ?? now;
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

const exampleOf = (setting: Setting): string | undefined =>
  setting === (url as Setting) ? 'for example acme.scalr.io' : undefined;

/** A valid line of text, or an empty answer. */
function askText(setting: Setting, options: AskOptions, get: Get, deps: AskDeps): Promise<string> {
  const {kind, fallbackFrom, required = false} = setting;
  const {orElse, current, example = exampleOf(setting)} = options;
  const fallback = setting.fallback?.(get);
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
      isPrefilled: true,
      default: typedText(setting, current),
    });
  if (fallback === undefined) return prompter.input({...question, note: example ?? orElse});
  const text = typedText(setting, {value: fallback, source: 'default'});
  // An empty default is the meaning of an empty answer.
  return prompter.input({
    ...question,
    ...(text === '' ? {note: orElse ?? 'none'} : {default: text, note: fallbackFrom}),
  });
}

/** The question and its help: what it means, flag and variable, source. */
function questionOf(setting: Setting, {heading, canGoBack = false, meaning}: AskOptions) {
  const {question: message, summary, explained, reference, env, onlyEnv, kind} = setting;
  const otherwise =
    onlyEnv === undefined ? `Flag ${spell(setting)}` : `Environment variable ${env}`;
  const several = kind.list?.separator.test(',') ? ' Separate several with commas.' : '';
  const help = [
    (meaning ?? sentencesWithin(150, explained ?? summary)) + several,
    `${otherwise}${reference === undefined ? '' : `. Source: ${reference}`}`,
  ];
  return {message, help, heading, canGoBack};
}

/** The first sentences of a text, without those that name a flag; at least one. */
function sentencesWithin(most: number, text: string): string {
  const sentences = text.match(/\S.*?[.?!](?= |$)|\S.*$/g) ?? [];
  const [first = '', ...others] = sentences.filter((each) => !each.includes(' --'));
  return others.reduce(
    (kept, each) => (`${kept} ${each}`.length <= most ? `${kept} ${each}` : kept),
    first,
  );
}
