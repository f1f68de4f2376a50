import {type ExpectedError, type FailureCode, failed} from '../errors.ts';
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
  return failed(CODES[kind] ?? 'TOOL_FAILED', text, steps);
}
