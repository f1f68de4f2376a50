import {type ObjectFinding, objectFinding} from '../../ground/finding.ts';
import {jsonText} from '../../ground/json.ts';
import type {Secret} from '../../ground/secret.ts';
import type {Archive, ClosedArchive} from '../../ground/system/system.ts';

import {closeChecked, fileNames} from './checked-archive.ts';
import {cleanGap, type Gap, gapDocument} from './collect/gap.ts';
import {logContainers} from './collect/log-items.ts';
import type {PreparedBundle} from './collect/prepare.ts';
import {writeBundleFiles} from './collect/write-files.ts';
import {allFindings} from './findings.ts';
import {BundlePositions} from './positions.ts';
import {knownSecretSet} from './redact/known-values.ts';
import {leakFinder} from './redact/leak-check.ts';
import {type RedactionReport, type Redactor, redactor} from './redact/redactor.ts';
import type {RedactLevel} from './redact/scanner.ts';
import {
  type BundleContents,
  cleanFinding,
  cutFinding,
  cutLogs,
  redactionText,
  summaryText,
  ticketText,
} from './report.ts';
import {firstScreenHtml, PagedArchive} from './report-page.ts';

export interface WriteOptions {
  /** Total size of all logs. */
  maxBytes: number;
  level: RedactLevel;
  /** Tokens of the user for the API of Scalr, which a bundle never contains. */
  userTokens: readonly Secret[];
}

interface WriteDeps {
  archive: Archive;
  /** Another archive for the same file, if the final check finds a secret. */
  createArchive(): Promise<Archive>;
  /** Of the page. */
  template: string;
  /** Stops reading; what was read is written. */
  signal: AbortSignal;
  now(): Date;
  onProgress(done: number, all: number): void;
}

export interface Bundle extends Pick<ClosedArchive, 'bytes'> {
  containers: number;
  /** Counted objects. */
  noun: 'container' | 'unit';
  findings: readonly ObjectFinding[];
  gaps: readonly Gap[];
  /** Number of logs that were cut in the middle. */
  cutLogs: number;
  redactions: RedactionReport;
  /** Files in which the final check found a secret: they were masked or left out. */
  withheld: readonly string[];
}

/** Writes the redacted parts to the archive, and closes it. @throws ExpectedError */
export async function writeBundle(
  prepared: PreparedBundle,
  {maxBytes, level, userTokens}: WriteOptions,
  deps: WriteDeps,
): Promise<Bundle> {
  const knownSecrets = knownSecretSet([
    ...prepared.knownSecrets,
    ...userTokens.map((value) => ({kind: 'user-token', value})),
  ]);
  const redact = redactor({knownSecrets, level});
  const archive = new PagedArchive(deps.archive, deps.template);
  const contents = await writeContents(prepared, {archive, redact, maxBytes}, deps);
  const own = ownFiles(prepared, contents, redact);
  const containers = logContainers(prepared.logs);
  const {bytes, withheld} = await closeChecked(archive, {
    find: leakFinder(knownSecrets.known),
    createArchive: async () => new PagedArchive(await deps.createArchive(), deps.template),
    manifest: (entries) =>
      jsonText({schemaVersion: 1, made: deps.now().toISOString(), containers, entries}),
    ownFiles: own.texts,
    firstScreen: ({'SUMMARY.md': summary = ''}) =>
      firstScreenHtml({summary, findings: own.findings}),
  });
  return {
    bytes,
    containers,
    noun: prepared.noun ?? 'container',
    findings: own.findings,
    gaps: own.gaps,
    cutLogs: cutLogs(contents.logs).length,
    redactions: own.redactions,
    withheld,
  };
}

/** Where parts of a bundle are written, and what redacts them. */
interface Output {
  archive: PagedArchive;
  redact: Redactor;
  maxBytes: number;
}

/** Writes the redacted objects and logs. Returns what was found in them and what is missing. */
async function writeContents(
  prepared: PreparedBundle,
  {archive, redact, maxBytes}: Output,
  {signal, now, onProgress}: WriteDeps,
): Promise<BundleContents> {
  const nameOf = fileNames(cleaner(redact, 'manifest.json'));
  const fileOf: Redactor['file'] = (name) => redact.file(nameOf(name));
  const texts = prepared.texts((name) => fileOf(name).hide);
  const all = texts.length + prepared.logs.length;
  const {logs, gaps, moved} = await writeBundleFiles(
    {texts, logs: prepared.logs, api: prepared.api, maxBytes},
    {
      archive: {add: (name, source) => archive.add(nameOf(name), source)},
      redactor: {file: fileOf},
      signal,
      onFile: (done) => onProgress(done, all),
    },
  );
  const found = allFindings(prepared, new BundlePositions(texts, moved, logs), logs, now());
  return {
    at: now(),
    found: found.map(({evidence, ...finding}) => ({
      ...finding,
      evidence: evidence && {...evidence, file: nameOf(evidence.file)},
    })),
    // Sorted, because the order of responses varies.
    missing: [...prepared.gaps, ...gaps].toSorted((one, other) =>
      one.what.localeCompare(other.what),
    ),
    logs: logs.map((log) => ({...log, file: nameOf(log.file)})),
    files: texts.map(({name}) => name),
  };
}

/** Redacts a text as a part of a file. */
const cleaner =
  (redact: Redactor, name: string) =>
  (text: string): string =>
    redact.text(name, text);

/** The files of the program itself. */
interface OwnFiles {
  findings: readonly ObjectFinding[];
  gaps: readonly Gap[];
  redactions: RedactionReport;
  /** Content by name; the final check may withhold other files. */
  texts(withheld: readonly string[]): Readonly<Record<string, string>>;
}

function ownFiles(prepared: PreparedBundle, contents: BundleContents, redact: Redactor): OwnFiles {
  const {found, missing} = contents;
  const findings = found.map((each) => cleanFinding(each, cleaner(redact, 'findings.json')));
  const gaps = missing.map((each) => cleanGap(each, cleaner(redact, 'errors.json')));
  const summary = summaryText(prepared, contents, cleaner(redact, 'SUMMARY.md'));
  const ticket = ticketText(prepared, found, cleaner(redact, 'TICKET.md'));
  const report = redact.report();
  const notSearched = report.notSearched.map(cleaner(redact, 'redactions.json'));
  const redactions = {...report, notSearched};
  const errors = [
    ...gaps.map(gapDocument),
    ...cutLogs(contents.logs).map((log) => ({...cutFinding(log), kind: 'cut', at: log.cutAfter})),
  ];
  const withheldError = (file: string) =>
    objectFinding('warning', file, 'SECRET_IN_BUNDLE', {
      message: 'the final check found a secret, which was masked, or the file was left out',
      remedy: '',
    });
  return {
    findings,
    gaps,
    redactions,
    texts: (withheld) => ({
      'TICKET.md': ticket,
      'findings.json': jsonText(findings),
      'errors.json': jsonText([...errors, ...withheld.map(withheldError)]),
      'SUMMARY.md': `${summary(withheld)}\n${redactionText(redactions)}`,
      'redactions.json': jsonText(redactions),
    }),
  };
}
