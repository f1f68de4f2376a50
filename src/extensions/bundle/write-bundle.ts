import type {Finding} from '../../checks/diagnose/finding.ts';
import type {ApiReader} from '../../cluster/kubernetes/client.ts';
import {untilAborted} from '../../ground/async.ts';
import {ExitCode, ExpectedError, failed} from '../../ground/errors.ts';
import type {Secret} from '../../ground/secret.ts';
import type {Archive, Archives, ClosedArchive, Files} from '../../ground/system/system.ts';
import {jsonText} from '../../ground/tree.ts';
import {closeChecked, fileNames} from './checked-archive.ts';
import {logContainers} from './collect/log-items.ts';
import type {PreparedBundle} from './collect/prepare.ts';
import {type ReadDeps, readLogs} from './collect/read-logs.ts';
import type {Gap} from './collect/read-objects.ts';
import {allFindings} from './findings.ts';
import {BundlePositions} from './positions.ts';
import {knownSecretSet} from './redact/known-values.ts';
import {leakFinder} from './redact/leak-check.ts';
import {type RedactionReport, redactor} from './redact/redactor.ts';
import type {RedactLevel} from './redact/scanner.ts';
import {cleanFinding, cleanGap, cutLogs, redactionText, summaryText, ticketText} from './report.ts';
import {firstScreenHtml, PagedArchive} from './report-page.ts';

export interface SaveOptions {
  /** Output file; the default name contains namespace and time. */
  out?: string | undefined;
  /** Total size of all logs. */
  maxBytes: number;
  level: RedactLevel;
  /** Tokens of the user for the API of Scalr, which a bundle never contains. */
  userTokens: readonly Secret[];
}

export interface SaveDeps {
  archives: Pick<Archives, 'create'>;
  files: Pick<Files, 'kindOf'>;
  now(): Date;
  onProgress(done: number, all: number): void;
  /** The template of the page. */
  template(): Promise<string>;
}

export interface BundleReading {
  api: Pick<ApiReader, 'stream'>;
  /** Stops reading; the data so far is kept. */
  signal: AbortSignal;
  /** Stops at once; nothing is kept. */
  forceQuit: AbortSignal;
}

/** Files of a dry run; or the bundle, the signal that may have stopped it early, and how to grant missing read access. */
export type Collected =
  | {desired: PreparedBundle}
  | {file: string; bundle: Bundle; interrupt: AbortSignal; access?: string | undefined};

export interface Bundle extends Pick<ClosedArchive, 'bytes'> {
  containers: number;
  /** Counted objects. */
  noun: 'container' | 'unit';
  findings: readonly Finding[];
  gaps: readonly Gap[];
  /** Number of logs that were cut in the middle. */
  cutLogs: number;
  redactions: RedactionReport;
  /** Files in which the final check found a secret: they were masked or left out. */
  withheld: readonly string[];
}

/** Fails early if the bundle could not be saved later; leaves no files behind. @throws ExpectedError */
export async function refuseUnwritable(
  name: string,
  {out}: SaveOptions,
  {archives, files, now}: SaveDeps,
): Promise<void> {
  const file = out ?? fileFor(name, now());
  await refuseExisting(file, files);
  await (await archives.create(file)).abort();
}

/** Writes the bundle to a new file, completely or not at all. @throws ExpectedError */
export async function saveBundle(
  prepared: PreparedBundle,
  name: string,
  {out, ...options}: SaveOptions,
  {archives, files, now, onProgress, template}: SaveDeps,
  {api, signal, forceQuit}: BundleReading,
): Promise<{file: string; bundle: Bundle}> {
  if (forceQuit.aborted) throw bundleInterrupted(forceQuit);
  const file = out ?? fileFor(name, now());
  await refuseExisting(file, files);
  const archive = await archives.create(file);
  try {
    const createArchive = () => archives.create(file);
    const deps = {archive, createArchive, template: await template(), now, onProgress, api, signal};
    const bundle = await untilAborted(writeBundle(prepared, name, options, deps), forceQuit);
    if (bundle === undefined) throw bundleInterrupted(forceQuit);
    return {file, bundle};
  } catch (error) {
    await archive.abort();
    throw error;
  }
}

const fileFor = (name: string, now: Date): string =>
  `scalr-agent-${name}-${now.toISOString().replace(/\.\d+|[:-]/g, '')}.zip`;

/** Never replaces a file. @throws ExpectedError */
export async function refuseExisting(
  file: string,
  files: SaveDeps['files'],
  flag = '--out',
): Promise<void> {
  if ((await files.kindOf(file)) === 'nothing') return;
  throw new ExpectedError(`${file} exists.`, {
    code: 'FILE_EXISTS',
    suggestions: [`Use another file name with ${flag}`],
    options: [{add: `${flag} FILE`, when: 'Write to another file'}],
  });
}

/** Exit code after this signal. */
export const signalExitCode = ({reason}: AbortSignal): ExitCode =>
  reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted;

export const bundleInterrupted = (by: AbortSignal): ExpectedError =>
  failed(
    'INTERRUPTED',
    'Interrupted. No bundle was written.',
    [
      'Run the same command again',
      'To keep a partial bundle, press Ctrl-C only once while logs are read',
    ],
    {exit: signalExitCode(by)},
  );

type WriteDeps = Pick<ReadDeps, 'api' | 'signal'> &
  Pick<SaveDeps, 'now' | 'onProgress'> & {
    archive: Archive;
    /** Of the page. */
    template: string;
    /** Another archive for the same file, if the final check finds a secret. */
    createArchive(): Promise<Archive>;
  };

/** Writes the redacted parts to the archive, and closes it. @throws ExpectedError */
export async function writeBundle(
  prepared: PreparedBundle,
  namespace: string,
  {maxBytes, level, userTokens}: Omit<SaveOptions, 'out'>,
  deps: WriteDeps,
): Promise<Bundle> {
  const {template, now} = deps;
  const archive = new PagedArchive(deps.archive, template);
  const knownSecrets = knownSecretSet([
    ...prepared.knownSecrets,
    ...userTokens.map((value) => ({kind: 'user-token', value})),
  ]);
  const redact = redactor({knownSecrets, level});
  const cleaner = (name: string) => (text: string) => redact.text(name, text);
  const nameOf = fileNames(cleaner('manifest.json'));
  const named: ReadDeps['redactor'] = {
    file: (name) => redact.file(nameOf(name)),
    text: (name, text) => redact.text(nameOf(name), text),
  };
  const texts = prepared.texts((name) => named.file(name).hide);
  const onFile = (done: number): void => deps.onProgress(done, texts.length + prepared.logs.length);
  const {
    logs,
    gaps: unread,
    moved,
  } = await readLogs(texts, prepared.logs, maxBytes, {
    ...deps,
    archive: {add: (name, source) => archive.add(nameOf(name), source)},
    redactor: named,
    onFile,
  });
  const found = allFindings(
    prepared,
    namespace,
    new BundlePositions(texts, moved, logs),
    logs,
    now(),
  ).map((finding) => ({
    ...finding,
    ...(finding.file === undefined ? {} : {file: nameOf(finding.file)}),
  }));
  // Sorted, because the order of responses varies.
  const missing = [...prepared.gaps, ...unread].toSorted((one, other) =>
    one.what.localeCompare(other.what),
  );
  const findings = found.map((each) => cleanFinding(each, cleaner('findings.json')));
  const gaps = missing.map((each) => cleanGap(each, cleaner('errors.json')));
  const namedLogs = logs.map((log) => ({...log, file: nameOf(log.file)}));
  const contents = {at: now(), found, missing, logs: namedLogs, files: texts.map(({name}) => name)};
  const summary = summaryText(prepared, contents, namespace, cleaner('SUMMARY.md'));
  const containers = logContainers(prepared.logs);
  const ticket = ticketText(prepared, found, cleaner('TICKET.md'));
  const report = redact.report();
  const redactions = {...report, notSearched: report.notSearched.map(cleaner('redactions.json'))};
  const {bytes, withheld} = await closeChecked(archive, {
    find: leakFinder(knownSecrets.known),
    createArchive: async () => new PagedArchive(await deps.createArchive(), template),
    manifest: (entries) =>
      jsonText({schemaVersion: 1, made: now().toISOString(), containers, entries}),
    ownFiles: (withheld) => ({
      'TICKET.md': ticket,
      'findings.json': jsonText(findings),
      'errors.json': jsonText([
        ...gaps.map(({what, error, at, isMinor}) => ({what, ...error, at, isMinor})),
        ...withheld.map((what) => ({what, kind: 'withheld', message: 'a secret was found in it'})),
      ]),
      'SUMMARY.md': `${summary(withheld)}\n${redactionText(redactions)}`,
      'redactions.json': jsonText(redactions),
    }),
    firstScreen: ({'SUMMARY.md': text = ''}) => firstScreenHtml({summary: text, findings}),
  });
  return {
    bytes,
    containers,
    noun: prepared.noun ?? 'container',
    findings,
    gaps,
    cutLogs: cutLogs(logs).length,
    redactions,
    withheld,
  };
}
