import {ExitCode, type ExpectedError, type FailureCode, failed} from '../errors.ts';
import type {ReadError} from '../fact.ts';
import type {HostError} from './system.ts';

const CODES: Readonly<Partial<Record<ReadError['kind'], FailureCode>>> = {
  'not-found': 'AGENT_NOT_FOUND',
  forbidden: 'FORBIDDEN',
  aborted: 'TIMED_OUT',
};

/** Without this call, there is nothing to collect. */
export function refusal(
  what: string,
  {kind, message, isToolMissing, reason = message, remedy}: HostError,
  suggestions: readonly string[],
): ExpectedError {
  const text = `${what}: ${reason}.`;
  const steps = remedy === undefined ? suggestions : [remedy, ...suggestions];
  if (isToolMissing) return failed('TOOL_NOT_FOUND', text, steps);
  const code = CODES[kind] ?? 'TOOL_FAILED';
  // `collect-logs` and `status` exit with 1 when an agent is not found on this machine.
  const exit = code === 'TIMED_OUT' ? ExitCode.timedOut : ExitCode.failed;
  return failed(code, text, steps, {exit});
}
