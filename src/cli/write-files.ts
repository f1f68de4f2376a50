import {dirname, join} from 'node:path';
import type {Existing} from '../extensions/machine/files.ts';
import {ExpectedError, failed} from '../ground/errors.ts';
import type {Files, PlaceFlag, Prompter} from '../ground/system/system.ts';

/** Asks a yes/no question; undefined if prompts are disabled. */
export type Confirmer = Pick<Prompter, 'confirm'> | undefined;

/** A file to write. */
interface NewFile {
  path: string;
  text: string;
  /** Readable only by its owner. */
  isPrivate: boolean;
  /** The flag that names the file, if it is not the one of the others. */
  flag?: PlaceFlag;
  /** What happens to a file that exists already. By default, it is replaced. */
  existing?: Existing;
}

interface FoundFile extends NewFile {
  /** The file of this name has the same text, or another one. */
  found?: 'same' | 'other';
  /** This program has written it. */
  isOwn?: boolean;
  /** Only a person may replace it. */
  isForeign?: boolean;
}

/** What this program writes above its files, if they can have comments. */
const OWN = [
  /\bAnswers file for scalr-agent\b/,
  /\b(?:Generated|Migrated) by (?:scalr-agent|this command)\b/,
];
const ownKind = (text: string): number => OWN.findIndex((each) => each.test(text));
const hasComments = (text: string): boolean => ownKind(text) >= 0;

export interface ConfirmOptions {
  isDryRun: boolean;
  /** Confirmed in advance (--yes). */
  isAccepted: boolean;
  prompter?: Confirmer;
}

/** What a flag names. */
interface Destination {
  flag: PlaceFlag;
  names: 'name' | 'directory';
  /** The files belong together: one question for all. */
  areTogether: boolean;
}

const RESULT: Destination = {flag: '--out', names: 'name', areTogether: false};
const EXPORT: Destination = {flag: '--out', names: 'directory', areTogether: true};
export const SAVED: Destination = {flag: '--save', names: 'directory', areTogether: false};

/** Finds the files that exist, and asks before they are replaced; nothing is asked in a dry run. @throws ExpectedError */
async function confirmFiles(
  given: readonly NewFile[],
  files: Files,
  destination: Destination,
  {isDryRun, isAccepted, prompter}: ConfirmOptions,
): Promise<FoundFile[]> {
  const found = await Promise.all(given.map((file) => findFile(file, files, destination)));
  const all = destination.names === 'directory' ? withForeign(found) : found;
  const taken = all.filter((each) => each.found === 'other');
  const foreign = taken.filter(({isForeign}) => isForeign);
  const asksNobody = isAccepted || (prompter === undefined && !isDryRun);
  if (foreign.length > 0 && asksNobody) throw foreignFiles(foreign, destination);
  if (isDryRun || isAccepted) return all;
  if (destination.areTogether) await confirmReplacement(taken, destination, prompter);
  else for (const each of taken) await confirmReplacement([each], destination, prompter);
  return all;
}

/** @throws ExpectedError if no file can be there */
async function findFile(file: NewFile, files: Files, destination: Destination): Promise<FoundFile> {
  const {path} = file;
  const {flag = destination.flag} = file;
  const other = `another ${destination.names} with ${flag}`;
  const kind = await files.kindOf(path, flag);
  if (kind === 'directory')
    throw refusal(
      `${path} is a directory.`,
      destination === RESULT
        ? `Set a file name: ${flag} ${path.replace(/\/$/, '')}/values.yaml`
        : `Use ${other}`,
    );
  if (kind === 'broken-link')
    throw refusal(
      `${path} is a broken symbolic link.`,
      destination.areTogether ? `Use ${other}` : `Remove the link, or use ${other}`,
    );
  if (kind !== 'file') return file;
  const present = (await files.read(path)).toString('utf8');
  if (file.existing === 'kept') return {...file, text: present, found: 'same'};
  if (file.existing === 'appended') return appended(file, present);
  const isOwn = hasComments(present) && ownKind(present) === ownKind(file.text);
  return {...file, isOwn, found: present === file.text ? 'same' : 'other'};
}

/** Marks files that this program has not written. Those without comments, such as certificates, belong to the files beside them. */
function withForeign(found: readonly FoundFile[]): FoundFile[] {
  const isOwnDirectory = found.some(({isOwn}) => isOwn);
  return found.map((file) => {
    const {text, existing, isOwn} = file;
    const isForeign = !isOwn && existing !== 'merged' && (hasComments(text) || !isOwnDirectory);
    return {...file, isForeign};
  });
}

const pathsOf = (files: readonly FoundFile[]): string => files.map(({path}) => path).join(', ');

function foreignFiles(foreign: readonly FoundFile[], {flag}: Destination): ExpectedError {
  const isOne = foreign.length === 1;
  return new ExpectedError(
    `${pathsOf(foreign)} already ${isOne ? 'exists' : 'exist'}, and ${isOne ? 'is not a file' : 'are not files'} of this program. Nothing was written.`,
    {
      code: 'FILE_EXISTS',
      suggestions: [
        `Use another directory with ${flag}`,
        `To replace ${isOne ? 'the file' : 'the files'}, delete ${isOne ? 'it' : 'them'} first`,
      ],
      options: [{add: `${flag} DIRECTORY`, when: 'Write somewhere else'}],
    },
  );
}

/** Replaces nothing, so no confirmation is required. */
function appended(file: NewFile, present: string): FoundFile {
  const known = present.split(/\r?\n/);
  const lacking = file.text.split('\n').filter((line) => line !== '' && !known.includes(line));
  if (lacking.length === 0) return {...file, text: present, found: 'same'};
  const end = present === '' || present.endsWith('\n') ? '' : '\n';
  return {...file, text: `${present}${end}${lacking.join('\n')}\n`};
}

/** One question for these files. @throws ExpectedError */
async function confirmReplacement(
  taken: readonly FoundFile[],
  destination: Destination,
  prompter: Confirmer,
): Promise<void> {
  const [first, ...others] = taken;
  if (first === undefined) return;
  const {flag = destination.flag} = first;
  const isOne = others.length === 0;
  const them = isOne ? 'it' : 'them';
  const exists = `${pathsOf(taken)} already ${isOne ? 'exists' : 'exist'}.`;
  if (prompter) {
    const foreign = taken.filter(({isForeign}) => isForeign);
    const note = foreign.length === 0 ? '' : ` Not a file of this program: ${pathsOf(foreign)}.`;
    if (await prompter.confirm(`${exists}${note} Replace ${them}?`)) return;
    throw failed('DECLINED', 'Canceled. Nothing was changed.');
  }
  const value = destination.names === 'name' ? 'FILE' : 'DIRECTORY';
  const replace = `Replace ${them} with --yes`;
  throw new ExpectedError(destination.areTogether ? `${exists} Nothing was written.` : exists, {
    code: 'FILE_EXISTS',
    suggestions: [replace, `Use another ${destination.names} with ${flag}`],
    options: [
      {add: '--yes', when: `Replace ${them}`, replaces: replace},
      {add: `${flag} ${value}`, when: 'Write somewhere else'},
    ],
  });
}

/** Writes files, and asks first where they replace others: all or none. @throws ExpectedError */
export async function writeAll(
  given: readonly NewFile[],
  files: Files,
  destination: Destination,
  options: ConfirmOptions,
): Promise<FoundFile[]> {
  const all = await confirmFiles(given, files, destination, options);
  if (options.isDryRun) return all;
  for (const {path, text, isPrivate, found, flag = destination.flag} of all) {
    const makesDirectory = destination.names === 'directory' && dirname(path) !== '.';
    if (found !== 'same' || isPrivate)
      await files.write(path, text, {isPrivate, makesDirectory, flag});
  }
  return all;
}

const refusal = (message: string, suggestion: string): ExpectedError =>
  failed('UNWRITABLE_FILE', message, [suggestion]);

const sizeOf = ({text, isPrivate}: NewFile): string =>
  `${Buffer.byteLength(text)} bytes${isPrivate ? ', readable only by its owner' : ''}`;

/** What was done with a file, as a sentence. */
function resultOf(file: FoundFile, isDryRun: boolean, done: string): string {
  if (file.found === 'same') return `${file.path} is up to date.`;
  return isDryRun
    ? `Would ${file.found ? 'replace' : 'write'} ${file.path} (${sizeOf(file)}).`
    : done;
}

export const linesOf = (sentences: readonly string[]): string =>
  sentences.map((each) => `${each}\n`).join('');

const STANDARD_OUTPUT = ['-', '/dev/stdout', '/dev/fd/1'];

type ResultOptions = Omit<NewFile, 'path' | 'flag'> & ConfirmOptions & {path: string | undefined};

/** Whether the result goes to a file. @throws ExpectedError for an empty name */
function isFile(path: string): boolean {
  if (path === '') throw refusal('--out is empty.', 'Set a file name: --out values.yaml');
  return !STANDARD_OUTPUT.includes(path);
}

/** Checks the file of --out before its text exists, and asks before it is replaced. @throws ExpectedError */
export async function confirmResult(
  {path = '-', isPrivate, ...options}: Omit<ResultOptions, 'text'>,
  files: Files,
): Promise<void> {
  if (isFile(path)) await confirmFiles([{path, text: '', isPrivate}], files, RESULT, options);
}

/** What was written to --out, and what was done with all files, as sentences. */
interface WrittenResult {
  /** Undefined for standard output, and in a dry run. */
  file: string | undefined;
  done: string[];
}

/** Writes a result to the file of --out, and the files that it refers to: all or none. @throws ExpectedError */
export async function writeResult(
  {path = '-', text, isPrivate, ...options}: ResultOptions,
  files: Files,
  beside: readonly NewFile[] = [],
): Promise<WrittenResult> {
  const own = isFile(path) ? [{path, text, isPrivate}] : [];
  const all = await writeAll([...beside, ...own], files, RESULT, options);
  return {
    file: own.length > 0 && !options.isDryRun ? path : undefined,
    done: all.map((each) => resultOf(each, options.isDryRun, `Wrote ${each.path}.`)),
  };
}

/** Writes files below a directory, after one confirmation if some of them exist. Returns the results as sentences. @throws ExpectedError */
export async function writeFiles(
  texts: readonly NewFile[],
  files: Files,
  {directory, flag = '--out', ...options}: ConfirmOptions & {directory: string; flag?: PlaceFlag},
): Promise<string[]> {
  const all = texts.map((each) => ({...each, path: join(directory, each.path)}));
  const written = await writeAll(all, files, {...EXPORT, flag}, options);
  return written.map((each) =>
    resultOf(each, options.isDryRun, `Wrote ${each.path} (${sizeOf(each)}).`),
  );
}
