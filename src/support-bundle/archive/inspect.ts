import {createHash} from 'node:crypto';
import {ExitCode, ExpectedError} from '../../errors.ts';
import type {Entry, OpenArchive} from '../../ports/archive.ts';
import type {Finding} from '../findings/evidence.ts';
import {type Fields, isFields} from '../json.ts';
import type {RedactionReport} from '../redact/redactor.ts';

/** Lists all other entries. */
const MANIFEST = 'manifest.json';

/** An entry that is not as the manifest says it. */
export interface Damage {
  entry: string;
  problem: 'differs' | 'missing' | 'not in the manifest' | 'unreadable';
}

/** What a bundle says of itself. */
export interface Inspection {
  summary: string | undefined;
  findings: readonly Finding[];
  errors: readonly Unread[];
  redactions: RedactionReport | undefined;
  containers: number;
  damage: readonly Damage[];
  /** Nothing that was asked for was missing when it was made, and nothing is now. */
  complete: boolean;
}

/** What has all of them was a bundle, whatever became of its manifest. */
const OF_EVERY_BUNDLE = ['SUMMARY.md', 'errors.json', 'findings.json', 'redactions.json'];

/** What is read to be shown; ours have kilobytes. */
const MOST_TEXT = 32 * 1024 * 1024;

/** Compares every entry with the manifest and reads what is meant for people. @throws ExpectedError when it is none, or nothing can be compared */
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
  const why = manifest === undefined ? `it holds no ${MANIFEST} that can be read` : `its ${MANIFEST} is of another kind`;
  throw OF_EVERY_BUNDLE.every((name) => holds(archive, name)) ? changed(file, why) : notOurs(file, why);
}

const holds = ({entries}: OpenArchive, wanted: string): boolean => entries.some(({name}) => name === wanted);

async function damageOf(archive: OpenArchive, listed: readonly Entry[]): Promise<Damage[]> {
  const there = new Set(archive.entries.map(({name}) => name));
  const known = new Set([MANIFEST, ...listed.map(({name}) => name)]);
  const damage: Damage[] = [];
  for (const entry of listed) {
    const problem = there.has(entry.name) ? await problemOf(archive, entry) : 'missing';
    if (problem) damage.push({entry: entry.name, problem});
  }
  const foreign = [...there].filter((name) => !known.has(name));
  return [...damage, ...foreign.map((entry): Damage => ({entry, problem: 'not in the manifest'}))];
}

async function problemOf(archive: OpenArchive, {name, bytes, sha256}: Entry): Promise<Damage['problem'] | undefined> {
  const hash = createHash('sha256');
  let read = 0;
  try {
    for await (const chunk of archive.read(name)) {
      hash.update(chunk);
      read += chunk.length;
    }
  } catch (error) {
    // One damaged entry is no reason to be silent about the others.
    if (error instanceof ExpectedError) return 'unreadable';
    throw error;
  }
  return read === bytes && hash.digest('hex') === sha256 ? undefined : 'differs';
}

async function textOf(archive: OpenArchive, name: string, file: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of archive.read(name)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MOST_TEXT) throw notOurs(file, `its ${name} is larger than any of ours`);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

const notOurs = (file: string, why: string): ExpectedError =>
  new ExpectedError(`${file} is no bundle of collect-logs: ${why}.`, {
    code: 'UNREADABLE_FILE',
    exit: ExitCode.usage,
    suggestions: ['Name a bundle that collect-logs wrote'],
  });

const changed = (file: string, why: string): ExpectedError =>
  new ExpectedError(`${file} is not as collect-logs wrote it: ${why}.`, {
    code: 'UNREADABLE_FILE',
    exit: ExitCode.findings,
    suggestions: ['Copy it again from where it was made, or collect anew'],
  });

/** What could not be read when the bundle was made, as errors.json holds it. */
export interface Unread {
  what: string;
  kind: string;
  message: string;
  isMinor?: boolean;
}

export interface Manifest {
  schemaVersion: 1;
  containers?: number;
  entries: readonly Entry[];
}

const hasTexts = (value: unknown, ...names: string[]): value is Fields =>
  isFields(value) && names.every((name) => typeof value[name] === 'string');
const isCounts = (value: unknown): boolean => isFields(value) && Object.values(value).every(Number.isInteger);

// A bundle comes from somebody else: what has another form is passed over.

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

export const isUnread = (value: unknown): value is Unread => hasTexts(value, 'what', 'kind', 'message');

export const isReport = (value: unknown): value is RedactionReport =>
  isFields(value) &&
  Number.isInteger(value['total']) &&
  isCounts(value['rules']) &&
  isFields(value['files']) &&
  Object.values(value['files']).every(isCounts) &&
  isCounts(value['knownValues']);
