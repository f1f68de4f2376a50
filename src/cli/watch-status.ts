import {watchStatus} from '../checks/status/read-status.ts';
import type {ReleaseStatus} from '../checks/status/status.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {anySignal} from '../ground/async.ts';
import {ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {ExitCode, type ExpectedError, failed} from '../ground/errors.ts';
import {durationText} from '../ground/text.ts';
import {StatusReporter} from '../ui/status-changes.ts';
import {runsFact} from '../ui/status-facts.ts';
import {statusDocument} from '../ui/status-list.ts';
import type {CommandContext} from './operate.ts';
import type {StatusRequest} from './status-release.ts';

/** What a watch can wait for. */
export const WATCH_GOALS = ['ready', 'drained'] as const;

export type WatchGoal = (typeof WATCH_GOALS)[number];

/** A query takes no longer, however long the watch waits. */
const QUERY_MS = 30_000;

/** What prints a status and each later change. */
interface StatusPrinter {
  status(status: ReleaseStatus): void;
  error(error: ExpectedError): void;
}

/**
 * Prints changes until it is interrupted; as JSON, one document per line. With a goal, it ends when the goal is reached, and `timeoutMs` limits the
 * wait. @throws ExpectedError
 */
export async function printStatusChanges(
  {name, files, desired}: StatusRequest,
  goal: WatchGoal | undefined,
  access: ClusterAccess,
  context: CommandContext,
): Promise<undefined> {
  const {app, timeoutMs, exitWith} = context;
  const interrupts = app.handleInterrupts();
  const {interrupt} = interrupts;
  const printer = (context.isJson ? jsonPrinter : textPrinter)(name, files, context);
  try {
    const isReached = await watchStatus(name, desired, {
      ...access,
      end: goal ? anySignal(interrupt, AbortSignal.timeout(timeoutMs)) : interrupt,
      now: app.now,
      sleep: app.sleep,
      timeoutMs: Math.min(timeoutMs, QUERY_MS),
      onStatus: (status) => {
        printer.status(status);
        return goal !== undefined && isAt(goal, status);
      },
      onError: printer.error,
    });
    if (isReached) return undefined;
  } finally {
    interrupts.release();
  }
  if (!interrupt.aborted) throw notReached(goal, name, timeoutMs);
  exitWith(interrupt.reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted);
  return undefined;
}

/** @throws ExpectedError if it can never be known */
function isAt(goal: WatchGoal, status: ReleaseStatus): boolean {
  if (goal === 'ready') return status.state === 'ready';
  if (status.runs === undefined)
    throw failed('UNSUPPORTED_SETTING', `--until drained: runs are ${runsFact(status)}.`, [
      'Show the runs of the agent pool in Scalr',
    ]);
  return status.runs.length === 0;
}

const notReached = (
  goal: WatchGoal | undefined,
  name: ReleaseName,
  timeoutMs: number,
): ExpectedError =>
  failed(
    'TIMED_OUT',
    `Release ${name.release} is not ${goal} after ${durationText(timeoutMs)} (--timeout).`,
    [`Show the causes: ${ownCommand('status', name)}`],
  );

function textPrinter(
  name: ReleaseName,
  files: readonly string[],
  {app: {now}, show, resultScreen}: CommandContext,
): StatusPrinter {
  const changes = new StatusReporter(show, resultScreen);
  return {
    status: (status) => changes.status({name, status, files, now: now()}),
    error: (error) => changes.error(error, now()),
  };
}

function jsonPrinter(
  name: ReleaseName,
  files: readonly string[],
  {app, say}: CommandContext,
): StatusPrinter {
  let last = '';
  return {
    status(status) {
      const line = `${JSON.stringify({schemaVersion: 1, ...statusDocument(name, status, files)})}\n`;
      if (line !== last) app.stdout(line);
      last = line;
    },
    error: ({message}) => say(`${message}\n`),
  };
}
