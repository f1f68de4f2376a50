import {ExitCode, ExpectedError} from '../errors.ts';
import type {Archive, ClosedArchive, OpenArchive} from '../ports/archive.ts';
import {type World as CollectingWorld, collect} from './collect.ts';
import {allFindings} from './findings/all.ts';
import {Evidence} from './findings/evidence.ts';
import type {Finding} from './findings/finding.ts';
import {containersOf} from './log-items.ts';
import {jsonText} from './object-files.ts';
import {pooled} from './pool.ts';
import type {Prepared} from './prepare.ts';
import type {Gap} from './read-namespace.ts';
import {type RedactionReport, type Redactor, redactor} from './redaction/redactor.ts';
import {type Seed, type SeedSet, seedSet} from './redaction/seeds.ts';
import {survivorFinder} from './redaction/survivors.ts';
import {cleanFinding, cleanGap} from './summary/clean.ts';
import {cutLogs, redactionText, summaryText} from './summary/summary.ts';
import {versionsText} from './summary/versions.ts';

type World = Pick<CollectingWorld, 'api' | 'over'> & {
  archive: Archive;
  now(): Date;
  onProgress(done: number, all: number): void;
};

export interface Bundle extends Pick<ClosedArchive, 'bytes'> {
  containers: number;
  /** What was counted. */
  noun: 'container' | 'unit';
  findings: readonly Finding[];
  gaps: readonly Gap[];
  /** Logs without their middle, to fit into what they may have together. */
  cutLogs: number;
  redactions: RedactionReport;
}

/** What takes secrets out of one bundle, and what is searched for in it afterwards. */
export interface Redaction {
  redact: Redactor;
  seeds: SeedSet;
}

/** `before` went over a part of it when fewer secrets were known. */
export function redactionFor(values: readonly Seed[], before?: Redactor): Redaction {
  const seeds = seedSet(values);
  return {seeds, redact: redactor({seeds, ...(before ? {before} : {})})};
}

/** Writes what was prepared into the archive, without secrets, and closes it. @throws ExpectedError */
export async function writeBundle(prepared: Prepared, namespace: string, maxBytes: number, world: World): Promise<Bundle> {
  const {archive, now} = world;
  const {seeds, redact} = prepared.redaction ?? redactionFor(prepared.seeds);
  const texts = prepared.texts((name) => redact.file(name).hide);
  const onFile = (done: number): void => world.onProgress(done, texts.length + prepared.logs.length);
  const {logs, gaps: unread, moved} = await collect(texts, prepared.logs, maxBytes, {...world, redactor: redact, onFile});
  const found = allFindings(prepared, namespace, new Evidence(texts, moved, logs), logs, now());
  // Which answer came first shall not be seen.
  const missing = [...prepared.gaps, ...unread].toSorted((one, other) => one.what.localeCompare(other.what));
  const cleaner = (name: string) => (text: string) => redact.text(name, text);
  const findings = found.map((each) => cleanFinding(each, cleaner('findings.json')));
  const gaps = missing.map((each) => cleanGap(each, cleaner('errors.json')));
  const containers = containersOf(prepared.logs);
  const {noun = 'container'} = prepared;
  const ofSummary = cleaner('SUMMARY.md');
  const summary = summaryText({
    at: now(),
    about: ofSummary(prepared.about ?? `namespace ${namespace}`),
    releases: prepared.about
      ? undefined
      : prepared.releases.map((each) => ({...each, name: ofSummary(each.name), status: ofSummary(each.status)})),
    versions: versionsText(prepared).map(([name, version]) => [name, ofSummary(version)]),
    findings: found.map((each) => cleanFinding(each, ofSummary)),
    gaps: missing.map((each) => cleanGap(each, ofSummary)),
    logs: logs.map((log) => ({...log, file: ofSummary(log.file)})),
    files: texts.map(({name}) => name),
    containers,
    noun,
  });
  const redactions = redact.report();
  const {bytes} = await archive.close({
    last: [
      {name: 'findings.json', text: jsonText(findings)},
      {name: 'errors.json', text: jsonText(gaps.map(({what, trouble, isMinor}) => ({what, ...trouble, isMinor})))},
      {name: 'SUMMARY.md', text: `${summary}\n${redactionText(redactions)}`},
      {name: 'redactions.json', text: jsonText(redactions)},
    ],
    manifest: (entries) => jsonText({schemaVersion: 1, made: now().toISOString(), containers, entries}),
    check: (written) => refuseSurvivors(written, survivorFinder(seeds)),
  });
  return {bytes, containers, noun, findings, gaps, cutLogs: cutLogs(logs), redactions};
}

/** While one is read from the disk another is unpacked. */
const CHECKED_AT_ONCE = 4;

/** What was written is searched once more for everything that must not be in it. @throws ExpectedError */
async function refuseSurvivors(written: OpenArchive, find: ReturnType<typeof survivorFinder>): Promise<void> {
  const found: string[] = [];
  const inPlace = written.entries.toSorted((one, other) => one.at - other.at);
  await pooled(inPlace, CHECKED_AT_ONCE, async ({name}) => {
    const survivors = await find(written.read(name));
    found.push(...survivors.map(({kind, form, at}) => `${name}, byte ${at}: ${kind} (${form})`));
  });
  if (found.length === 0) return;
  throw new ExpectedError(`A secret was found in the bundle, which is deleted:\n${found.toSorted().slice(0, 10).join('\n')}`, {
    code: 'SECRET_IN_BUNDLE',
    exit: ExitCode.secretFound,
    suggestions: ['Report this, with these lines: no word of the secret is in them', 'Leave out what holds it: --container, --since'],
  });
}
