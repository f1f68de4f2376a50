import {logContainers} from '../bundle/collect/log-items.ts';
import type {PreparedBundle} from '../bundle/collect/prepare.ts';
import type {Gap} from '../bundle/collect/read-namespace.ts';
import type {DamagedEntry} from '../bundle/inspect.ts';
import {inspectBundle} from '../bundle/inspect.ts';
import type {Bundle, Collected} from '../bundle/write-bundle.ts';
import {signalExitCode} from '../bundle/write-bundle.ts';
import {ExitCode} from '../ground/errors.ts';
import {accessText, bundleText, damageText, inspectionText, missingText, wantedText, withheldText} from '../ui/bundle.ts';
import type {CommandContext} from './operate.ts';
export interface CollectResult {
  /** Absent with --dry-run. */
  file?: string;
  bytes?: number;
  containers: number;
  errors: readonly {what: string; kind: string; message: string}[];
  /** Files in which the final check found a secret: they were masked or left out. */
  withheld?: Bundle['withheld'];
  redactions?: Bundle['redactions'];
  findings?: Bundle['findings'];
  /** With --inspect: entries that do not match the manifest. */
  damage?: readonly DamagedEntry[];
  /** True if all requested parts were collected and Secrets were searched. Optional parts that your Kubernetes user cannot read do not count. */
  complete: boolean;
}

/** What a dry run would collect. */
export function showWanted({texts, logs, gaps}: PreparedBundle, {isJson, show}: CommandContext): CollectResult {
  if (!isJson) show(wantedText([...texts(() => () => '').map(({name}) => name), ...logs.map(({file}) => file)]));
  return {containers: logContainers(logs), errors: gaps.map(errorOf), complete: gaps.every(({isMinor}) => isMinor)};
}

/** A bundle that was written. */
export function showCollected(
  {file, bundle, interrupt, access}: Exclude<Collected, {wanted: PreparedBundle}>,
  {app, isJson, screen, say, exitWith}: CommandContext,
): CollectResult {
  const {bytes, containers, redactions, findings, gaps, withheld} = bundle;
  const serious = gaps.filter(({isMinor}) => !isMinor);
  const complete = serious.length === 0 && withheld.length === 0 && !interrupt.aborted;
  const incomplete = missingText(serious, screen) + withheldText(withheld, screen) + accessText(access, screen);
  say(bundleText({file, ...bundle}, screen) + accessText(access, screen), incomplete);
  if (!complete) exitWith(interrupt.aborted ? signalExitCode(interrupt) : ExitCode.incomplete);
  if (!isJson) app.stdout(`${file}\n`);
  return {file, bytes, containers, errors: gaps.map(errorOf), withheld, redactions, findings, complete};
}

/** Verifies a bundle. @throws ExpectedError */
export async function showInspection(
  file: string,
  {app, isJson, screen, resultScreen, show, exitWith}: CommandContext,
): Promise<CollectResult> {
  const archive = await app.archives.open(file);
  try {
    const {summary, errors, redactions, ...inspection} = await inspectBundle(archive, file);
    const {damage, findings, containers, complete} = inspection;
    if (!isJson) show(inspectionText({summary, findings}, resultScreen));
    if (damage.length > 0) {
      app.stderr(damageText(file, damage, screen));
      exitWith(ExitCode.findings);
    }
    const known = errors.map(({what, kind, message}) => ({what, kind, message}));
    return {file, containers, errors: known, ...(redactions ? {redactions} : {}), findings, damage, complete};
  } finally {
    archive.close();
  }
}

const errorOf = ({what, error: {kind, message}}: Gap) => ({what, kind, message});
