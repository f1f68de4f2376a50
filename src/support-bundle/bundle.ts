import {ExitCode, ExpectedError} from '../errors.ts';
import type {Archive, ClosedArchive, OpenArchive} from '../ports/archive.ts';
import {type World as CollectingWorld, collect} from './collect.ts';
import {type Finding, findingsIn} from './findings.ts';
import {containersOf} from './log-items.ts';
import {jsonText} from './object-files.ts';
import {pooled} from './pool.ts';
import type {Prepared} from './prepare.ts';
import type {Gap} from './read-namespace.ts';
import {type RedactionReport, type Redactor, redactor} from './redaction/redactor.ts';
import {type Seed, type SeedSet, seedSet} from './redaction/seeds.ts';
import {survivorFinder} from './redaction/survivors.ts';
import {summaryText} from './summary.ts';

type World = Pick<CollectingWorld, 'api' | 'over'> & {
  archive: Archive;
  now(): Date;
  onProgress(done: number, all: number): void;
};

export interface Bundle extends Pick<ClosedArchive, 'bytes'> {
  containers: number;
  findings: readonly Finding[];
  gaps: readonly Gap[];
  redactions: RedactionReport;
}

/** What takes secrets out of one bundle, and what is searched for in it afterwards. */
export interface Redaction {
  redact: Redactor;
  seeds: SeedSet;
}

export function redactionFor(values: readonly Seed[]): Redaction {
  const seeds = seedSet(values);
  return {seeds, redact: redactor({seeds})};
}

/** Writes what was prepared into the archive, without secrets, and closes it. @throws ExpectedError */
export async function writeBundle(prepared: Prepared, namespace: string, maxBytes: number, world: World): Promise<Bundle> {
  const {archive, now} = world;
  const {seeds, redact} = prepared.redaction ?? redactionFor(prepared.seeds);
  const texts = prepared.texts(redact.file('objects').hide);
  const files = texts.length + prepared.logs.length;
  const onFile = (done: number): void => world.onProgress(done, files);
  const {logs, gaps: unread} = await collect(texts, prepared.logs, maxBytes, {...world, redactor: redact, onFile});
  const gaps = [...prepared.gaps, ...unread];
  const found = findingsIn({
    objects: prepared.scope.objects,
    logs,
    releases: prepared.releases.map(({name, chart, version, values}) => ({name, target: {chart, version}, values})),
    now: now(),
  });
  const findings = [...found, ...(prepared.findings?.(logs, now()) ?? [])];
  const containers = containersOf(prepared.logs);
  const clean = (name: string, text: string) => ({name, text: redact.text(name, text)});
  const told = [
    clean('findings.json', jsonText(findings)),
    clean('errors.json', jsonText(gaps.map(({what, trouble, isMinor}) => ({what, ...trouble, isMinor})))),
  ];
  const redactions = redact.report();
  const summary = summaryText({
    at: now(),
    about: prepared.about ?? `namespace ${namespace}`,
    releases: prepared.about ? undefined : prepared.releases,
    findings,
    gaps,
    redactions,
    logs,
    containers,
  });
  const {bytes} = await archive.close({
    last: [...told, clean('SUMMARY.md', summary), {name: 'redactions.json', text: jsonText(redactions)}],
    manifest: (entries) => jsonText({schemaVersion: 1, made: now().toISOString(), containers, entries}),
    check: (written) => refuseSurvivors(written, survivorFinder(seeds)),
  });
  return {bytes, containers, findings, gaps, redactions};
}

/** While one is read from the disk another is unpacked. */
const CHECKED_AT_ONCE = 4;

/** What was written is searched once more for everything that must not be in it. @throws ExpectedError */
async function refuseSurvivors(written: OpenArchive, find: ReturnType<typeof survivorFinder>): Promise<void> {
  const found: string[] = [];
  await pooled(written.entries, CHECKED_AT_ONCE, async ({name}) => {
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
