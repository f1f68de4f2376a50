import {ExpectedError} from '../errors.ts';
import {helmVersion} from '../helm/helm.ts';
import {clientVersion} from '../kubernetes/kubectl.ts';
import type {Place} from '../ports/place.ts';
import type {Call, Outcome, Processes} from '../ports/processes.ts';
import {abortReason, withTimeout} from '../ports/signals.ts';
import {isForbidden} from '../ports/tool-failure.ts';
import type {Gap} from './read-namespace.ts';

/** Reads with helm and kubectl; whatever befalls a call is an outcome. */
export type Tools = Pick<Processes, 'run'>;

/** Helm has no limit of its own for a request. */
const CALL_MS = 30_000;
/** As shells say it. */
const NOT_THERE = 127;

/** Tools that may be missing and do not answer for ever: the bundle is made without what they would have said. */
export const patientTools = (processes: Processes, over: AbortSignal): Tools => ({
  run: (call) =>
    withTimeout(CALL_MS, over, async (signal): Promise<Outcome> => {
      try {
        return await processes.run(call, {over: signal});
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        return {exitCode: NOT_THERE, stdout: '', stderr: error.message};
      }
    }),
});

/** What a tool did not say. A modest account may not read what helm keeps, and loses little by it. */
export function toolGap(what: string, outcome: Outcome, over: AbortSignal): Gap {
  const message = over.aborted ? abortReason(over) : (outcome.stderr.trim().split('\n').at(-1) ?? '');
  const kind = over.aborted ? 'over' : /no answer in time/.test(message) ? 'stalled' : isForbidden(outcome) ? 'forbidden' : 'refused';
  return {what, trouble: {kind, message}, isMinor: kind === 'forbidden'};
}

export interface ToolVersions {
  /** Null where a tool did not say. */
  versions: Readonly<Record<string, string | null>>;
  gaps: readonly Gap[];
}

/** What wrote the bundle, and with what. */
export async function readTools(place: Place, tools: Tools, over: AbortSignal): Promise<ToolVersions> {
  const gaps: Gap[] = [];
  const version = async (call: Call): Promise<string | null> => {
    const outcome = await tools.run(call);
    const [found = null] = /v?\d+\.\d+\.\d+[\w.+-]*/.exec(outcome.stdout) ?? [];
    if (outcome.exitCode !== 0) gaps.push(toolGap(`version of ${call.tool}`, outcome, over));
    return found;
  };
  const [helm, kubectl] = await Promise.all([version(helmVersion), version(clientVersion(place))]);
  return {versions: {helm, kubectl, node: process.version, system: `${process.platform} ${process.arch}`}, gaps};
}
