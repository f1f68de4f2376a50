import {combined} from '../ground/combined-failures.ts';
import {ExpectedError} from '../ground/errors.ts';
import {changing, type Remedy, settingProblem} from '../ground/finding.ts';
import type {Files} from '../ground/system/system.ts';
import {lowerFirst, oneOf} from '../ground/text.ts';
import {isPrintable} from '../ground/yaml-text.ts';
import {tokenFile} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {type ValuesFile, valuesFile} from '../settings/chart-values.ts';
import {type Get, type Setting, spell} from '../settings/define.ts';
import {InvalidValue, type ParseContext} from '../settings/kinds/kind.ts';
import {missingFor} from '../settings/purpose.ts';
import {type Answer, Settings} from '../settings/settings.ts';
import type {SettingsSource} from './sources.ts';

interface ResolveDeps extends ParseContext {
  files: Pick<Files, 'read' | 'readStdin'>;
}

interface Problem {
  setting: Setting;
  /** How the user gave it, if not as a flag. */
  spelled?: string | undefined;
  message: string;
  suggestion?: string | Remedy;
}

export interface ResolveOptions {
  /** Settings to look for (default: all). */
  only?: readonly Setting[];
  /** Required settings that may be missing. */
  optional?: readonly Setting[];
}

/**
 * Returns a value for every setting: the first answer of the sources, or the default. Validates each setting separately
 * and against others. @throws ExpectedError that lists all invalid and missing settings
 */
export async function resolveAnswers(
  sources: readonly SettingsSource[],
  deps: ResolveDeps,
  options: ResolveOptions = {},
): Promise<Settings> {
  return settleAnswers(await findAnswers(sources, deps, options), options);
}

/** The answers of all sources, each validated separately. */
export interface FoundAnswers {
  answers: ReadonlyMap<string, Answer>;
  problems: readonly Problem[];
}

/** The first answer of the sources for each setting. */
export async function findAnswers(
  sources: readonly SettingsSource[],
  deps: ResolveDeps,
  {only: desired = catalog}: ResolveOptions = {},
): Promise<FoundAnswers> {
  const answers = new Map<string, Answer>();
  const problems: Problem[] = [];
  for (const setting of desired) {
    const source = sources.find((each) => each.answer(setting) !== undefined);
    if (source === undefined) continue;
    try {
      answers.set(setting.id, await answerOf(setting, source, deps));
    } catch (error) {
      problems.push(problemOf(setting, error, source.spelled?.(setting)));
    }
  }
  return {answers, problems};
}

interface SettleOptions extends ResolveOptions {
  /** What is wrong with the sources. */
  failures?: readonly ExpectedError[];
  /** Settings that are not found may be in a source that could not be read. */
  hasUnread?: boolean;
}

/** Adds defaults and validates settings against each other. @throws ExpectedError that lists all failures, and invalid and missing settings */
export function settleAnswers(
  {answers: given, problems: earlier}: FoundAnswers,
  {only: desired = catalog, optional = [], failures = [], hasUnread = false}: SettleOptions = {},
): Settings {
  const answers = new Map(given);
  const problems = [...earlier];
  const get: Get = <T>(setting: Setting<T>) => answers.get(setting.id)?.value as T | undefined;
  const isIncomplete = hasUnread || problems.some(({setting}) => setting === valuesFile);
  dropInapplicable(answers, get);
  addDefaults(desired, answers, get);
  if (!isIncomplete) problems.push(...checkTogether(desired, answers, get, problems));
  const failed = new Set(problems.map(({setting}) => setting));
  // An answers file with a misspelled key has other keys too, which are unknown until it is corrected.
  const isInvalid = failures.some(({code}) => code === 'INVALID_ANSWERS_FILE');
  const missing = missingIn(answers, {only: desired, optional}).filter(
    (setting) => !isInvalid && !failed.has(setting),
  );
  const mayBeInFile = isIncomplete || problems.some(({setting}) => setting === tokenFile);
  const refusals =
    problems.length > 0 || missing.length > 0 ? [refusal(problems, missing, mayBeInFile)] : [];
  const all = [...failures, ...refusals];
  const [first, ...others] = all;
  if (first !== undefined) throw combined([first, ...others]);
  return new Settings(answers);
}

/** Required settings without an answer. */
export const missingIn = (
  answers: ReadonlyMap<string, Answer>,
  {only = catalog, optional = []}: ResolveOptions,
): Setting[] =>
  only.filter(
    (setting) => setting.required && !answers.has(setting.id) && !optional.includes(setting),
  );

async function answerOf(
  setting: Setting,
  source: SettingsSource,
  deps: ResolveDeps,
): Promise<Answer> {
  const raw = source.answer(setting);
  const because = source.because?.(setting);
  const spelled = source.spelled?.(setting);
  const answer = source.isParsed ? {value: raw} : await parseAnswer(setting, raw, deps);
  return {
    ...answer,
    source: source.name,
    ...(because !== undefined && {because}),
    ...(spelled !== undefined && {spelled}),
  };
}

/** Parses a raw answer; reads the file if the answer is a path. @throws InvalidValue, ExpectedError */
export async function parseAnswer(
  setting: Setting,
  raw: unknown,
  deps: ResolveDeps,
): Promise<Pick<Answer, 'value' | 'given' | 'notes'>> {
  refuseUnprintable(raw);
  const notes: string[] = [];
  const parsed = await parseNoted(setting, raw, {...deps, note: (text) => notes.push(text)});
  return notes.length === 0 ? parsed : {...parsed, notes};
}

async function parseNoted(
  {kind, meant}: Setting,
  raw: unknown,
  deps: ResolveDeps,
): Promise<Pick<Answer, 'value' | 'given'>> {
  if (!kind.isFile) {
    const typed =
      typeof raw === 'string' || typeof raw === 'number' ? String(raw).trim() : undefined;
    const full = typed === undefined ? undefined : (meant?.(typed) ?? optionOf(kind, typed));
    const value = kind.parse(full ?? raw, deps);
    if (full !== undefined)
      deps.note?.(`is read as ${kind.shown?.(value) ?? kind.format(value).join(', ')}`);
    return {value};
  }
  if (kind.list)
    return {value: kind.parse(await readFiles([raw].flat().map(String), deps.files), deps)};
  const path = String(raw);
  const content =
    path === '-' && kind.readsStdin ? await deps.files.readStdin() : await deps.files.read(path);
  return {value: parseContent(kind, content, {path, deps}), given: path};
}

/** @throws InvalidValue that names the file */
function parseContent(
  kind: Setting['kind'],
  content: Buffer,
  {path, deps}: {path: string; deps: ResolveDeps},
): unknown {
  try {
    return kind.parse(content, deps);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const name = path === '-' ? 'Standard input' : path;
    throw new InvalidValue(`${name}: ${lowerFirst(error.message)}`, error.suggestion);
  }
}

/** The option in another case. */
const optionOf = ({options = []}: Setting['kind'], typed: string): string | undefined =>
  options.includes(typed)
    ? undefined
    : options.find((each) => each === typed.toLowerCase().replaceAll(/[\s_]/g, '-'));

const readFiles = (paths: readonly string[], files: ResolveDeps['files']): Promise<ValuesFile[]> =>
  Promise.all(paths.map(async (file) => ({file, text: (await files.read(file)).toString('utf8')})));

function refuseUnprintable(raw: unknown): void {
  if (typeof raw === 'object' && raw !== null) {
    for (const each of Object.entries(raw).flat()) refuseUnprintable(each);
  } else if (typeof raw === 'string' && !isPrintable(raw)) {
    throw new InvalidValue(
      'The value contains a non-printable character',
      'Type the value instead of pasting it',
    );
  }
}

function problemOf(setting: Setting, error: unknown, spelled?: string): Problem {
  if (error instanceof InvalidValue)
    return {
      setting,
      spelled,
      message: error.message,
      suggestion:
        error.suggestion ?? changing`Use ${setting} ${oneOf(setting.kind.hint.split('|'))}`,
    };
  if (error instanceof ExpectedError)
    return {
      setting,
      spelled,
      message: error.message.replace(/\.$/, ''),
      ...(error.suggestions[0] ? {suggestion: error.suggestions[0]} : {}),
    };
  throw error;
}

/** Drops settings without effect that the user did not set; settings without effect from the user are errors. */
function dropInapplicable(answers: Map<string, Answer>, get: Get): void {
  for (const setting of catalog) {
    const source = answers.get(setting.id)?.source;
    if (
      (source === 'cluster' || source === 'values-file') &&
      missingFor(setting, get) !== undefined
    )
      answers.delete(setting.id);
  }
}

function addDefaults(desired: readonly Setting[], answers: Map<string, Answer>, get: Get): void {
  for (const setting of desired) {
    if (answers.has(setting.id) || missingFor(setting, get) !== undefined) continue;
    const value = setting.fallback?.(get);
    if (value !== undefined) answers.set(setting.id, {value, source: 'default'});
  }
}

function checkTogether(
  desired: readonly Setting[],
  answers: ReadonlyMap<string, Answer>,
  get: Get,
  earlier: readonly Problem[],
): Problem[] {
  const unparsed = new Set(earlier.map(({setting}) => setting));
  return desired.flatMap((setting) => {
    const answer = answers.get(setting.id);
    if (answer === undefined || unparsed.has(setting)) return [];
    const missing = missingFor(setting, get);
    if (missing !== undefined)
      return [
        {
          setting,
          spelled: answer.spelled,
          message: `Requires ${missing}`,
          suggestion: changing`Set ${missing.split(', ')[0] ?? ''}, or remove ${setting}`,
        },
      ];
    const wrong = setting.rule?.(answer.value, get);
    return wrong ? [problemOf(setting, wrong, answer.spelled)] : [];
  });
}

/** `mayBeInFile`: what is missing may be in a file that is one of the problems. */
function refusal(
  problems: readonly Problem[],
  missing: readonly Setting[],
  mayBeInFile: boolean,
): ExpectedError {
  const unless = mayBeInFile ? ', unless a file named above contains it' : '';
  const lines = [
    ...problems.map(({setting, spelled = spell(setting), message}) => `${spelled}: ${message}.`),
    ...missing.map(
      (setting) =>
        `${setting.question} is required (flag ${spell(setting)}, variable ${setting.env}, answers key ${setting.id})${unless}.`,
    ),
  ];
  return new ExpectedError(lines.join('\n'), {
    code: problems.length > 0 ? 'INVALID_SETTING' : 'MISSING_SETTING',
    problems: [
      ...problems.map(({setting: {id}, message, suggestion}) =>
        settingProblem('INVALID_SETTING', {setting: id}, {message: `${message}.`, suggestion}),
      ),
      ...lines
        .slice(problems.length)
        .map((message) => settingProblem('MISSING_SETTING', {}, {message})),
    ],
    // Invalid settings must be corrected first.
    options:
      problems.length > 0
        ? []
        : [
            {
              add: missing.map((setting) => `${spell(setting)} ${setting.kind.hint}`).join(' '),
              when: 'Set what is missing',
            },
          ],
    suggestions: [
      ...problems.flatMap(({suggestion}) => suggestion ?? []),
      ...missing.map((setting) => `Add ${spell(setting)} ${setting.kind.hint}`),
    ],
  });
}
