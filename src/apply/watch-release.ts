import {registered} from '../diagnose/agent-log.ts';
import type {Cause} from '../diagnose/cause.ts';
import {explain, isReady, type Progress, progress} from '../diagnose/explain.ts';
import {ExpectedError} from '../errors.ts';
import {firstOf} from '../ports/first-of.ts';
import type {ReleaseName} from '../ports/helm.ts';
import {isPassing} from '../ports/tool-failure.ts';
import {within} from '../ports/within.ts';
import type {PollDeps} from './poll-deps.ts';
import {NOTHING, readSnapshot} from './read-snapshot.ts';

export const EVERY_MS = 1500;
/** A ready agent that says nothing of itself is believed after this time. */
const SILENCE_MS = 15_000;
/** Nobody need know of trouble that is over sooner. */
const LASTING_MS = 3000;
/** Many kinds are read, and each may be waited for. */
const LONGEST_LOOK_MS = 30_000;

export interface Watched {
  state: 'ready' | 'hopeless' | 'timed-out' | 'interrupted';
  /** What the agent's own log says, where it could be read. */
  agent: 'registered' | 'unknown';
  causes: readonly Cause[];
}

interface World extends PollDeps {
  timeoutMs: number;
  onProgress(lines: readonly Progress[], causes: readonly Cause[]): void;
}

/** Looks at a release until it is ready, cannot become ready, or time is over. Helm's own wait is not relied on. */
export async function watchRelease(name: ReleaseName, world: World): Promise<Watched> {
  const {now, interrupts, onProgress} = world;
  const over = firstOf(interrupts.asked, AbortSignal.timeout(world.timeoutMs));
  let [seen, seenAt] = [NOTHING, now()];
  let failed: ExpectedError | undefined;
  let readySince: number | undefined;
  for (;;) {
    const found = await within(LONGEST_LOOK_MS, over, (soon) => readSnapshot(name, world.processes, soon)).catch(trouble);
    const at = now();
    if (!(found instanceof ExpectedError)) [seen, seenAt, failed] = [found, at, undefined];
    // A look that ran out of time says less than the one before.
    else failed = over.aborted ? (failed ?? found) : found;
    const lasting = at.getTime() - seenAt.getTime() >= LASTING_MS ? failed : undefined;
    if (lasting !== undefined && !isPassing(lasting)) throw lasting;
    const {snapshot, gaps} = seen;
    const causes = [...explain(snapshot, seenAt), ...gaps, ...(lasting === undefined ? [] : [unanswered(lasting)])];
    onProgress(progress(snapshot), causes);
    const agent = registered(snapshot, seenAt) === true ? 'registered' : 'unknown';
    if (found === seen) {
      readySince = isReady(snapshot, at) ? (readySince ?? at.getTime()) : undefined;
      if (readySince !== undefined && (agent === 'registered' || at.getTime() - readySince >= SILENCE_MS))
        return {state: 'ready', agent, causes};
      if (causes.some(({isHopeless}) => isHopeless)) return {state: 'hopeless', agent, causes};
    }
    if (over.aborted) return {state: interrupts.asked.aborted ? 'interrupted' : 'timed-out', agent, causes};
    await world.sleep(EVERY_MS, over);
  }
}

function trouble(error: unknown): ExpectedError {
  if (error instanceof ExpectedError) return error;
  throw error;
}

/** The API server says nothing, or nothing of use. */
const unanswered = ({code, message, suggestions}: ExpectedError): Cause => ({
  object: 'API server',
  code,
  reason: message,
  remedy: suggestions[0] ?? 'Try: kubectl cluster-info',
  isHopeless: false,
});
