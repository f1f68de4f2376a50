import {createHash} from 'node:crypto';
import {isOfTimeline, timelineOf, traceOf} from '../../../report/timeline-data.ts';
import {ExpectedError, failed} from '../../ground/errors.ts';
import {type Evidence, type ObjectFinding, VERDICT_ORDER} from '../../ground/finding.ts';
import {type Fields, isFields, jsonIn} from '../../ground/json.ts';
import {readAtMost} from '../../ground/line-streams.ts';
import type {ArchiveEntry, OpenArchive} from '../../ground/system/system.ts';

/** Lists all other entries. */
const MANIFEST = 'manifest.json';

/** An entry that does not match the manifest. */
export interface DamagedEntry {
  code: 'BUNDLE_DAMAGED';
  entry: string;
  problem: 'differs' | 'missing' | 'not in the manifest' | 'unreadable';
}

export interface Inspection {
  summary: string | undefined;
  findings: readonly ObjectFinding[];
  damage: readonly DamagedEntry[];
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
    if (damage.some(({entry, problem}) => entry === name && problem !== 'differs'))
      return undefined;
    return holds(archive, name) ? textOf(archive, name, file) : undefined;
  };
  const findings = jsonIn((await text('findings.json')) ?? '');
  return {
    summary: await text('SUMMARY.md'),
    findings: Array.isArray(findings) ? findings.filter(isFinding) : [],
    damage,
  };
}

/** The timeline of a bundle as Trace Event JSON, without files that cannot be read. @throws ExpectedError */
export async function traceText(
  archive: OpenArchive,
  {damage}: Pick<Inspection, 'damage'>,
): Promise<string> {
  const unreadable = new Set(
    damage.filter(({problem}) => problem === 'unreadable').map(({entry}) => entry),
  );
  const texts = new Map<string, string>();
  for (const {name} of archive.entries) {
    if (isOfTimeline(name) && !unreadable.has(name))
      texts.set(name, await textOf(archive, name, name));
  }
  return `${JSON.stringify(traceOf(timelineOf(texts)))}\n`;
}

async function manifestOf(archive: OpenArchive, file: string): Promise<Manifest> {
  const manifest = holds(archive, MANIFEST)
    ? jsonIn(await textOf(archive, MANIFEST, file))
    : undefined;
  if (isManifest(manifest)) return manifest;
  const why =
    manifest === undefined
      ? `${MANIFEST} is missing or unreadable`
      : `${MANIFEST} has an unknown format`;
  throw OF_EVERY_BUNDLE.every((name) => holds(archive, name))
    ? changed(file, why)
    : notOurs(file, why);
}

const holds = ({entries}: OpenArchive, desired: string): boolean =>
  entries.some(({name}) => name === desired);

async function damageOf(
  archive: OpenArchive,
  listed: readonly ArchiveEntry[],
): Promise<DamagedEntry[]> {
  const there = new Set(archive.entries.map(({name}) => name));
  const known = new Set([MANIFEST, ...listed.map(({name}) => name)]);
  const damage: DamagedEntry[] = [];
  for (const entry of listed) {
    const problem = there.has(entry.name) ? await problemOf(archive, entry) : 'missing';
    if (problem) damage.push(damaged(entry.name, problem));
  }
  const foreign = [...there].filter((name) => !known.has(name));
  return [...damage, ...foreign.map((entry) => damaged(entry, 'not in the manifest'))];
}

const damaged = (entry: string, problem: DamagedEntry['problem']): DamagedEntry => ({
  code: 'BUNDLE_DAMAGED',
  entry,
  problem,
});

async function problemOf(
  archive: OpenArchive,
  {name, bytes, sha256}: ArchiveEntry,
): Promise<DamagedEntry['problem'] | undefined> {
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

const notOurs = (file: string, why: string): ExpectedError =>
  failed('UNREADABLE_FILE', `${file} is not a support bundle: ${why}.`, [
    'Use a bundle written by collect-logs',
  ]);

const changed = (file: string, why: string): ExpectedError =>
  failed('BUNDLE_DAMAGED', `${file} is damaged or was changed: ${why}.`, [
    'Copy the bundle again, or collect a new one',
  ]);

interface Manifest {
  schemaVersion: 1;
  entries: readonly ArchiveEntry[];
}

const hasTexts = (value: unknown, ...names: string[]): value is Fields =>
  isFields(value) && names.every((name) => typeof value[name] === 'string');

// A bundle is untrusted input: entries with an unknown format are ignored.

export const isManifest = (value: unknown): value is Manifest =>
  isFields(value) &&
  value['schemaVersion'] === 1 &&
  Array.isArray(value['entries']) &&
  value['entries'].every(
    (entry) => hasTexts(entry, 'name', 'sha256') && Number.isSafeInteger(entry['bytes']),
  );

export const isFinding = (value: unknown): value is ObjectFinding =>
  hasTexts(value, 'code', 'message') &&
  VERDICT_ORDER.some((verdict) => verdict === value['verdict']) &&
  hasTexts(value['subject'], 'object') &&
  Array.isArray(value['remedies']) &&
  value['remedies'].every((remedy) => hasTexts(remedy, 'text')) &&
  (value['evidence'] === undefined || isEvidence(value['evidence']));

const isEvidence = (value: unknown): value is Evidence =>
  hasTexts(value, 'file') && (value['line'] === undefined || Number.isSafeInteger(value['line']));
