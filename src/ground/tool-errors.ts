import {type Call, callName, clusterOf} from './call.ts';
import type {ProcessResult} from './command-line.ts';
import {ExpectedError, failed, maskSecrets, RUN_VERBOSE} from './errors.ts';
import {isAnonymousRefusal} from './identity.ts';
import {jsonIn, noJson} from './json.ts';
import {FORBIDDEN, knownFailure, RETRYABLE} from './known-failures.ts';
import {webPageIn} from './web-page.ts';

/** RBAC, or another authorizer, lacks a permission of the user. Admission policies print `is forbidden` too. */
export const isRbacDenial = (message: string): boolean =>
  /\bforbidden: User "[^"]*" cannot\b/.test(message) && !isAnonymousRefusal(message);

export const isForbidden = ({stderr}: ProcessResult): boolean =>
  FORBIDDEN.test(stderr) && !isAnonymousRefusal(stderr) && webPageIn(stderr) === undefined;

/** Someone else has written the object between the read and the write of the call, which reads it again when it is repeated. */
export const isConflict = ({stderr}: ProcessResult): boolean =>
  /the object has been modified|^Error from server \((?:Conflict|AlreadyExists)\): (?!Apply failed|.*field manager)/m.test(
    stderr,
  );

/** A retry of the same call can succeed. */
export const isRetryable = ({stderr}: ProcessResult): boolean => RETRYABLE.test(stderr);

/** Errors that can be temporary. */
export const isTransient = ({code}: ExpectedError): boolean =>
  code === 'CLUSTER_UNREACHABLE' || code === 'TOOL_FAILED';

/** A failed call of a tool. */
export class ToolFailure extends ExpectedError {
  readonly outcome: ProcessResult;
  /** Its next steps are about this failure. */
  readonly isKnown: boolean;
  /** What went wrong, without the call. */
  readonly reason: string;

  constructor(
    message: string,
    details: ConstructorParameters<typeof ExpectedError>[1],
    {outcome, isKnown, reason}: Pick<ToolFailure, 'outcome' | 'isKnown' | 'reason'>,
  ) {
    super(message, details);
    this.outcome = outcome;
    this.isKnown = isKnown;
    this.reason = reason;
  }
}

/** Converts a failed call to an error with next steps. */
export function toolFailure(call: Call, outcome: ProcessResult): ToolFailure {
  const {stderr, exitCode} = outcome;
  const known = knownFailure(call, stderr);
  const reason = reasonIn(stderr)?.replace(/^error:\s*/i, '') ?? `exit code ${exitCode}`;
  const text = known?.text?.(stderr);
  return new ToolFailure(
    text === undefined ? `${callName(call)} failed: ${reason}` : `${text}.`,
    {
      code: known?.code ?? 'TOOL_FAILED',
      suggestions: known?.suggestions(clusterOf(call), stderr, call) ?? [RUN_VERBOSE],
      cause: new Error(stderr),
    },
    {
      outcome,
      isKnown: known !== undefined,
      reason: text === undefined ? maskSecrets(reason) : `${text}.`,
    },
  );
}

function reasonIn(stderr: string): string | undefined {
  const lines = stderr
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s*(warning|W\d{4})/i.test(line));
  // Helm can print hints after the error.
  const first = lines.findIndex((line) => /^\s*error/i.test(line));
  const [headline, ...rest] = lines.slice(Math.max(0, first)).map((line) => line.trimEnd());
  if (headline !== undefined && UNINSTALL.test(headline))
    return `${headline.trim()}${deletionError(stderr)}`;
  // The lines after it quote the object, which can contain secrets.
  const cause = /error when (applying patch|retrieving current configuration of):$/.test(
    headline ?? '',
  )
    ? /^(?:from server )?for: "[^"]*": (.*)$/m.exec(stderr)?.[1]
    : undefined;
  if (cause !== undefined || !headline?.endsWith(':'))
    return cause ?? headline?.replace(VALIDATION, '').trim();
  // Details are on the following lines.
  const end = rest.findIndex((line) => !/^\s|^[*-] /.test(line));
  const listed = rest.slice(0, end < 0 ? undefined : end).map((line) => line.trim());
  return [headline.trim(), ...listed].join(listed.length === 1 ? ' ' : '\n');
}

/** Advice of kubectl for its own flag. */
const VALIDATION =
  /; if you choose to ignore these errors, turn validation off with --validate=false$/;

const UNINSTALL = /^Error: failed to delete release: /;

/** Helm tells only its debug log why an object was not deleted, Helm 4 with escaped quotes. */
function deletionError(stderr: string): string {
  const [, plain, escaped] =
    /uninstall: Failed to delete release(?:: \[(.*)\]|" error="\[(.*)\]")$/m.exec(stderr) ?? [];
  const error = plain ?? escaped?.replaceAll('\\"', '"');
  return error === undefined ? '' : `: ${error}`;
}

/** Parses JSON output of a tool. @throws ExpectedError if it is not JSON, for example because the tool is a wrapper script */
export function jsonFrom<T>(call: Call, stdout: string): T {
  const {tool} = call;
  const value = jsonIn(stdout);
  if (value !== undefined) return value as T;
  throw failed('TOOL_FAILED', `${callName(call)} failed: ${noJson(tool, stdout.trim())}`, [
    `If ${tool} is a wrapper script, set the path of the program itself with --${tool}`,
    RUN_VERBOSE,
  ]);
}
