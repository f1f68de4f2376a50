import {ExpectedError} from '../errors.ts';
import type {Files} from '../ports/files.ts';
import type {Choice, Prompter} from '../ports/prompter.ts';
import {InvalidValue, type Setting, spell} from '../settings/define.ts';
import type {Answer} from '../settings/settings.ts';
import {claimsOf} from '../settings/token.ts';
import {refusalOf} from './chart-refusals.ts';
import type {Knowledge} from './knowledge.ts';

export interface AskingWorld {
  prompter: Prompter;
  files: Pick<Files, 'read'>;
  now(): Date;
}

interface Manner {
  /** What Enter alone means where no default is known. */
  orElse?: string | undefined;
  suggested?: string | undefined;
  /** The answer that is to be changed. */
  current?: Answer | undefined;
}

/** Nobody wants to say anything. */
const NONE = '';

/** Asks for one setting in the form its kind has. Undefined where the operator leaves it to what Enter alone means. */
export async function ask(setting: Setting, manner: Manner, known: Knowledge, world: AskingWorld): Promise<Answer | undefined> {
  const {kind} = setting;
  if (kind.options !== undefined || kind.isSwitch) return choose(setting, manner, known, world);
  const text = await askText(setting, manner, known, world);
  return text === '' ? undefined : answerOf(setting, text, world);
}

async function choose(
  setting: Setting,
  {orElse, suggested, current}: Manner,
  known: Knowledge,
  {prompter, now}: AskingWorld,
): Promise<Answer | undefined> {
  const {kind, meanings} = setting;
  const options = kind.isSwitch ? ['true', 'false'] : (kind.options ?? []);
  const choices = options.map((value): Choice => {
    const unavailable = refusalOf(setting, kind.parse(value, {now: now()}), known);
    return {value, label: LABELS[value] ?? value, ...optional({meaning: meanings?.[value], unavailable})};
  });
  const fallback = setting.fallback?.(known.get);
  const preferred = kind.format(current?.value ?? fallback ?? suggested ?? NONE)[0];
  const isDefault = current === undefined && fallback !== undefined;
  const _note = isDefault ? `${LABELS[preferred ?? ''] ?? preferred}, ${setting.fallbackFrom ?? 'default'}` : undefined;
  const all = orElse === undefined && current === undefined ? choices : [{value: NONE, label: orElse ?? 'not decided here'}, ...choices];
  const chosen = await prompter.choose({
    message: setting.question,
    help: helpFor(setting),
    choices: all,
    ...optional({default: preferred}),
  });
  return chosen === NONE ? undefined : {value: kind.parse(chosen, {now: now()}), source: 'prompt'};
}

const LABELS: Readonly<Record<string, string>> = {true: 'yes', false: 'no'};

function askText(setting: Setting, {orElse, current}: Manner, known: Knowledge, world: AskingWorld): Promise<string> {
  const {kind} = setting;
  const fallback = setting.fallback?.(known.get);
  const before =
    current === undefined
      ? fallback === undefined
        ? undefined
        : textOf(setting, {value: fallback, source: 'default'})
      : textOf(setting, current);
  const mayBeEmpty = orElse !== undefined || fallback !== undefined || (current !== undefined && !setting.required);
  return world.prompter.text({
    message: setting.question,
    help: helpFor(setting),
    ...optional({
      default: before === '' ? undefined : before,
      note: before === undefined || before === '' ? orElse : current === undefined ? (setting.fallbackFrom ?? 'default') : undefined,
    }),
    isEdited: current !== undefined && kind.isSecret !== true,
    isSecret: kind.isSecret === true && kind.isFile !== true,
    problem: (text) => {
      if (text === '') return mayBeEmpty ? undefined : 'An answer is needed here';
      return kind.isFile ? undefined : problemIn(() => parseText(setting, text, world));
    },
    ...(kind.isFile
      ? {
          check: async (path) => {
            if (path === '') return undefined;
            try {
              const content = await world.files.read(path);
              return problemIn(() => kind.parse(content, {now: world.now()}));
            } catch (error) {
              if (error instanceof ExpectedError) return error.message;
              throw error;
            }
          },
        }
      : {}),
  });
}

/** @throws ExpectedError */
async function answerOf(setting: Setting, text: string, world: AskingWorld): Promise<Answer> {
  if (!setting.kind.isFile) return {value: parseText(setting, text, world), source: 'prompt'};
  return {value: setting.kind.parse(await world.files.read(text), {now: world.now()}), source: 'prompt', given: text};
}

/** @throws InvalidValue */
function parseText({kind, onlyEnv}: Setting, text: string, {now}: AskingWorld): unknown {
  const value = kind.parse(kind.list ? text.split(kind.list.separator) : text, {now: now()});
  const expires = onlyEnv === undefined ? undefined : claimsOf(text)?.expires;
  if (expires !== undefined && expires <= now())
    throw new InvalidValue(`expired on ${expires.toISOString().slice(0, 10)}`, 'Add a token to the agent pool and take that one');
  return value;
}

function problemIn(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const sentence = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}`;
    return error.suggestion === undefined ? `${sentence}.` : `${sentence}. ${error.suggestion.replace(/[^?.]$/, '$&.')}`;
  }
}

/** An answer as it would be typed. */
export const textOf = ({kind}: Setting, {value, given}: Answer): string =>
  given ?? kind.format(value).join(kind.list?.separator.test(',') ? ',' : '\n');

/** What ? says: what it is, what follows from it, how else to give it and where to read more. */
export function helpFor(setting: Setting): string[] {
  const {summary, explained, env, onlyEnv} = setting;
  const elsewhere = onlyEnv === undefined ? `${spell(setting)}, or the variable ${env}` : `The variable ${env}`;
  return [summary, ...(explained === undefined ? [] : [explained.text]), `${elsewhere}. ${explained?.reference ?? ''}`.trim()];
}

/** The entries that are there. */
function optional<T extends object>(entries: T): {[K in keyof T]?: Exclude<T[K], undefined>} {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as ReturnType<typeof optional<T>>;
}
