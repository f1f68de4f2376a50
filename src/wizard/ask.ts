import type {Files} from '../ports/files.ts';
import type {Choice, Prompter} from '../ports/prompter.ts';
import {type Setting, spell} from '../settings/define.ts';
import type {Answer} from '../settings/settings.ts';
import {askText} from './ask-text.ts';
import {refusalOf} from './chart-refusals.ts';
import type {Knowledge} from './knowledge.ts';

export interface AskingWorld {
  prompter: Prompter;
  files: Pick<Files, 'read'>;
  now(): Date;
  /** What the cluster has to choose from; none where it says nothing. */
  offers?(setting: Setting): readonly Choice[];
}

/** How one setting is asked for. */
export interface Manner {
  /** What Enter alone means where no default is known. */
  orElse?: string | undefined;
  /** The choice that Enter takes where no default is known. */
  suggested?: string | undefined;
  /** The answer that is to be changed. */
  current?: Answer | undefined;
}

/** Values of choices that are no answers. */
const NONE = '';
const OTHER = '…';

/** Asks for one setting in the form its kind has. Undefined where the operator leaves it to what Enter alone means. */
export async function ask(setting: Setting, manner: Manner, known: Knowledge, world: AskingWorld): Promise<Answer | undefined> {
  const {kind} = setting;
  if (kind.options !== undefined || kind.isSwitch) return choose(setting, manner, known, world);
  const offered = manner.current === undefined ? await chooseOffered(setting, manner, world) : OTHER;
  const text = offered === OTHER ? await askText(setting, manner, helpFor(setting), known, world) : offered;
  return text === NONE ? undefined : answerOf(setting, text, world);
}

async function choose(setting: Setting, manner: Manner, known: Knowledge, {prompter, now}: AskingWorld): Promise<Answer | undefined> {
  const {kind, meanings, question: message, fallbackFrom = 'default'} = setting;
  const {orElse, suggested, current} = manner;
  const options = kind.isSwitch ? ['true', 'false'] : (kind.options ?? []);
  const choices = options.map((value): Choice => {
    const unavailable = refusalOf(setting, kind.parse(value, {now: now()}), known);
    return {value, label: labelOf(value), ...defined({meaning: meanings?.[value], unavailable})};
  });
  const none = orElse === undefined && current === undefined ? [] : [{value: NONE, label: orElse ?? 'not decided here'}];
  const fallback = current === undefined ? setting.fallback?.(known.get) : undefined;
  const preferred = kind.format(current?.value ?? fallback ?? suggested ?? NONE)[0] ?? NONE;
  const note = fallback === undefined ? undefined : `${labelOf(preferred)}, ${fallbackFrom}`;
  const chosen = await prompter.choose({
    message,
    help: helpFor(setting),
    choices: [...none, ...choices],
    default: preferred,
    ...defined({note}),
  });
  return chosen === NONE ? undefined : {value: kind.parse(chosen, {now: now()}), source: 'prompt'};
}

/** One of those that the cluster has, or that another one will be typed. */
async function chooseOffered(setting: Setting, {orElse}: Manner, {prompter, offers}: AskingWorld): Promise<string> {
  const found = offers?.(setting) ?? [];
  if (found.length === 0) return OTHER;
  const none = orElse === undefined ? [] : [{value: NONE, label: orElse}];
  const choices = [...none, ...found, {value: OTHER, label: 'another one'}];
  return prompter.choose({message: setting.question, help: helpFor(setting), choices});
}

const labelOf = (value: string): string => ({true: 'yes', false: 'no'})[value] ?? value;

/** @throws ExpectedError */
async function answerOf({kind}: Setting, text: string, {files, now}: AskingWorld): Promise<Answer> {
  const context = {now: now()};
  if (kind.isFile) return {value: kind.parse(await files.read(text), context), source: 'prompt', given: text};
  return {value: kind.parse(kind.list ? text.split(kind.list.separator) : text, context), source: 'prompt'};
}

/** What ? says: what it is, what follows from it, how else to give it and where to read more. */
export function helpFor(setting: Setting): string[] {
  const {summary, explained, env, onlyEnv} = setting;
  const elsewhere = onlyEnv === undefined ? `${spell(setting)}, or the variable ${env}` : `The variable ${env}`;
  return [summary, ...(explained === undefined ? [] : [explained.text]), `${elsewhere}. ${explained?.reference ?? ''}`.trim()];
}

/** The entries that are there. */
function defined<T extends object>(entries: T): {[K in keyof T]?: Exclude<T[K], undefined>} {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as ReturnType<typeof defined<T>>;
}
