import {createHash} from 'node:crypto';
import type {Finding} from '../diagnose/finding.ts';
import {ExitCode, ExpectedError, failed} from '../ground/errors.ts';
import {readAtMost} from '../ground/streams.ts';
import {type Fields, isFields} from '../ground/tree.ts';
import type {ArchiveEntry, OpenArchive} from '../ports/files.ts';
import type {RedactionReport} from '../redact/redactor.ts';

/** Lists all other entries. */
const MANIFEST = 'manifest.json';

/** An entry that does not match the manifest. */
export interface DamagedEntry {
  entry: string;
  problem: 'differs' | 'missing' | 'not in the manifest' | 'unreadable';
}

/** Content of a bundle. */
export interface Inspection {
  summary: string | undefined;
  findings: readonly Finding[];
  errors: readonly MissingPart[];
  redactions: RedactionReport | undefined;
  containers: number;
  damage: readonly DamagedEntry[];
  /** All requested parts were collected, and nothing is damaged. */
  complete: boolean;
}

/** Files of every bundle; a file with all of them is a bundle, even with a damaged manifest. */
const OF_EVERY_BUNDLE = ['SUMMARY.md', 'errors.json', 'findings.json', 'redactions.json'];

/** Maximum size of a text that is shown; actual ones have kilobytes. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024;

/** Compares every entry with the manifest and reads the summary. @throws ExpectedError if the file is not a bundle, or cannot be compared */
export async function inspectBundle(archive: OpenArchive, file: string): Promise<Inspection> {
  const manifest = await manifestOf(archive, file);
  const damage = await damageOf(archive, manifest.entries);
  const text = async (name: string): Promise<string | undefined> => {
    if (damage.some(({entry, problem}) => entry === name && problem !== 'differs')) return undefined;
    return holds(archive, name) ? textOf(archive, name, file) : undefined;
  };
  const list = async <T>(name: string, is: (value: unknown) => value is T): Promise<readonly T[]> => {
    const value = parsed(await text(name));
    return Array.isArray(value) ? value.filter(is) : [];
  };
  const errors = await list('errors.json', isUnread);
  const redactions = parsed(await text('redactions.json'));
  return {
    summary: await text('SUMMARY.md'),
    findings: await list('findings.json', isFinding),
    errors,
    redactions: isReport(redactions) ? redactions : undefined,
    containers: manifest.containers ?? 0,
    damage,
    complete: damage.length === 0 && errors.every(({isMinor}) => isMinor),
  };
}

async function manifestOf(archive: OpenArchive, file: string): Promise<Manifest> {
  const manifest = holds(archive, MANIFEST) ? parsed(await textOf(archive, MANIFEST, file)) : undefined;
  if (isManifest(manifest)) return manifest;
  const why = manifest === undefined ? `${MANIFEST} is missing or unreadable` : `${MANIFEST} has an unknown format`;
  throw OF_EVERY_BUNDLE.every((name) => holds(archive, name)) ? changed(file, why) : notOurs(file, why);
}

const holds = ({entries}: OpenArchive, wanted: string): boolean => entries.some(({name}) => name === wanted);

async function damageOf(archive: OpenArchive, listed: readonly ArchiveEntry[]): Promise<DamagedEntry[]> {
  const there = new Set(archive.entries.map(({name}) => name));
  const known = new Set([MANIFEST, ...listed.map(({name}) => name)]);
  const damage: DamagedEntry[] = [];
  for (const entry of listed) {
    const problem = there.has(entry.name) ? await problemOf(archive, entry) : 'missing';
    if (problem) damage.push({entry: entry.name, problem});
  }
  const foreign = [...there].filter((name) => !known.has(name));
  return [...damage, ...foreign.map((entry): DamagedEntry => ({entry, problem: 'not in the manifest'}))];
}

async function problemOf(archive: OpenArchive, {name, bytes, sha256}: ArchiveEntry): Promise<DamagedEntry['problem'] | undefined> {
  const hash = createHash('sha256');
  let read = 0;
  try {
    for await (const chunk of archive.read(name)) {
      hash.update(chunk);
      read += chunk.length;
    }
  } catch (error) {
    // A damaged entry must not hide the others.
    if (error instanceof ExpectedError) return 'unreadable';
    throw error;
  }
  return read === bytes && hash.digest('hex') === sha256 ? undefined : 'differs';
}

async function textOf(archive: OpenArchive, name: string, file: string): Promise<string> {
  const text = await readAtMost(MAX_TEXT_BYTES, archive.read(name));
  if (text === undefined) throw notOurs(file, `${name} is too large`);
  return text.toString('utf8');
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

const notOurs = (file: string, why: string): ExpectedError =>
  failed('UNREADABLE_FILE', `${file} is not a support bundle: ${why}.`, ['Use a bundle written by collect-logs']);

const changed = (file: string, why: string): ExpectedError =>
  failed('UNREADABLE_FILE', `${file} is damaged or was changed: ${why}.`, ['Copy the bundle again, or collect a new one'], {
    exit: ExitCode.findings,
  });

/** A missing part, as in errors.json. */
export interface MissingPart {
  what: string;
  kind: string;
  message: string;
  isMinor?: boolean;
}

export interface Manifest {
  schemaVersion: 1;
  containers?: number;
  entries: readonly ArchiveEntry[];
}

const hasTexts = (value: unknown, ...names: string[]): value is Fields =>
  isFields(value) && names.every((name) => typeof value[name] === 'string');
const isCounts = (value: unknown): boolean => isFields(value) && Object.values(value).every(Number.isInteger);

// A bundle is untrusted input: entries with an unknown format are ignored.

export const isManifest = (value: unknown): value is Manifest =>
  isFields(value) &&
  value['schemaVersion'] === 1 &&
  (value['containers'] === undefined || Number.isSafeInteger(value['containers'])) &&
  Array.isArray(value['entries']) &&
  value['entries'].every((entry) => hasTexts(entry, 'name', 'sha256') && Number.isSafeInteger(entry['bytes']));

export const isFinding = (value: unknown): value is Finding =>
  hasTexts(value, 'code', 'object', 'message', 'remedy') &&
  ['error', 'warning', 'info'].includes(String(value['severity'])) &&
  ['string', 'undefined'].includes(typeof value['evidence']) &&
  (value['line'] === undefined || Number.isSafeInteger(value['line']));

export const isUnread = (value: unknown): value is MissingPart => hasTexts(value, 'what', 'kind', 'message');

export const isReport = (value: unknown): value is RedactionReport =>
  isFields(value) &&
  Number.isInteger(value['total']) &&
  isCounts(value['rules']) &&
  isFields(value['files']) &&
  Object.values(value['files']).every(isCounts) &&
  isCounts(value['knownValues']);
