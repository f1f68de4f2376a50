import type {ClusterSelection} from '../../ground/command-line.ts';
import {ExpectedError, failed, RUN_VERBOSE} from '../../ground/errors.ts';
import type {ReadError, ReadErrorKind} from '../../ground/fact.ts';
import {anonymousText, isAnonymousRefusal, REJECTED_LOGIN, userIn} from '../../ground/identity.ts';
import {ADVICE, type ErrorAdvice} from '../../ground/known-failures.ts';
import {unreachableText} from '../../ground/unreachable.ts';
import {isWebPage, type WebPage, webPageIn, webPageText} from '../../ground/web-page.ts';

/** Status object of the API server for an error. */
interface Status {
  kind: 'Status';
  message?: string;
  reason?: string;
  code?: number;
  metadata?: {continue?: string};
  details?: {retryAfterSeconds?: number};
}

const KINDS: Readonly<Record<number, ReadErrorKind>> = {
  401: 'not-logged-in',
  403: 'forbidden',
  404: 'not-found',
  410: 'expired',
  429: 'busy',
  502: 'unreachable',
};

/** Messages of the API server and the kubelet for a container without a log. */
const NOT_STARTED =
  /is waiting to start|is not available|previous terminated container .* not found|no logs found|has not (been )?(created|started)/i;

/** What the headers of an error response say. */
interface ErrorHeaders {
  retryAfterMs?: number | undefined;
  contentType?: string | undefined;
  location?: string | undefined;
}

/** Meaning of an error response. `body` is a Kubernetes Status, or text of a proxy in between. */
export function apiErrorOf(
  status: number,
  body: unknown,
  {retryAfterMs, contentType, location}: ErrorHeaders = {},
): ReadError {
  if (typeof body === 'string' && (location !== undefined || isWebPage(body, contentType)))
    return webPageError({status, location, body});
  const reported =
    typeof body === 'object' && (body as Status | null)?.kind === 'Status'
      ? (body as Status)
      : undefined;
  const message = reported?.message ?? textOf(status, body);
  const seconds = reported?.details?.retryAfterSeconds;
  const wait = retryAfterMs ?? (seconds === undefined ? undefined : seconds * 1000);
  const next = reported?.metadata?.continue;
  return {
    kind:
      reported === undefined && status >= 500
        ? kindOfProxy(status, message)
        : kindOf(status, message),
    message,
    status,
    ...(wait === undefined ? {} : {retryAfterMs: wait}),
    ...(next ? {continueAt: next} : {}),
  };
}

/** The advice of kubectl proxy for a missing credential plugin has several lines. */
function textOf(status: number, body: unknown): string {
  const text = typeof body === 'string' ? body.trim() : '';
  const [line = ''] = CREDENTIALS.test(text) ? [text] : text.split('\n', 1);
  return line.slice(0, 500) || `the server returned status ${status}`;
}

/** A proxy or login page answered instead of the API server. */
export const webPageError = (page: WebPage): ReadError => ({
  kind: 'web-page',
  message: webPageText(page),
  ...(page.status === undefined ? {} : {status: page.status}),
});

function kindOf(status: number, message: string): ReadErrorKind {
  if (status === 400 && NOT_STARTED.test(message)) return 'not-started';
  if (status === 403 && isAnonymousRefusal(message)) return 'not-logged-in';
  return KINDS[status] ?? (status >= 500 ? 'server' : 'refused');
}

const CREDENTIALS = /getting credentials|logged in/i;

/** kubectl proxy responds in plain text if it cannot reach the API server. */
function kindOfProxy(status: number, message: string): ReadErrorKind {
  if (CREDENTIALS.test(message)) return 'not-logged-in';
  return /dial tcp|\bEOF\b|connection re(fused|set)|timeout|x509|tls:|no such host/i.test(message)
    ? 'unreachable'
    : kindOf(status, message);
}

const REASONS: Readonly<Record<string, number>> = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  Gone: 410,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
};

export function apiErrorInText(stderr: string): ReadError {
  const page = webPageIn(stderr);
  if (page !== undefined) return webPageError(page);
  const lines = stderr.split('\n').map((line) => line.trim());
  const line =
    lines.find((each) => /^error(?! in configuration)|unable to read/i.test(each)) ??
    lines.find((each) => each !== '') ??
    'kubectl returned no output';
  const [, reason, message = ''] = /^Error from server(?: \((\w+)\))?: (.*)$/.exec(line) ?? [];
  const status = reason === undefined ? undefined : REASONS[reason];
  if (status !== undefined) return apiErrorOf(status, message);
  const text = message || line.replace(/^error:\s*/i, '');
  if (/Unauthorized|must be logged in|getting credentials/i.test(text))
    return {kind: 'not-logged-in', message: text};
  if (/too many requests/i.test(text)) return {kind: 'busy', message: text};
  if (/unexpected EOF|connection reset|stream error|http2:/i.test(text))
    return {kind: 'truncated', message: text};
  if (/Client\.Timeout|deadline exceeded|timed out waiting for a response/i.test(text))
    return {kind: 'stalled', message: text};
  return {kind: line.startsWith('Error from server') ? 'server' : 'unreachable', message: text};
}

const CODES: Readonly<Partial<Record<ReadErrorKind, ErrorAdvice>>> = {
  'web-page': ADVICE.webPage,
  unreachable: ADVICE.unreachable,
  'not-logged-in': ADVICE.notLoggedIn,
  forbidden: ADVICE.forbidden,
  busy: ADVICE.retryable,
  server: ADVICE.retryable,
  stalled: ADVICE.retryable,
  truncated: ADVICE.retryable,
  aborted: ADVICE.retryable,
};
const REASON_OF: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(REASONS).map(([reason, status]) => [status, reason]),
);

/** A failed request with the message of the equivalent kubectl command. */
export function apiFailure(
  error: ReadError,
  cluster: ClusterSelection,
  command = 'get',
): ExpectedError {
  if (error.cause instanceof ExpectedError) return error.cause;
  const advice = CODES[error.kind];
  const {code = 'TOOL_FAILED'} = advice ?? {};
  const suggestions = error.steps ?? advice?.suggestions(cluster, error.message) ?? [RUN_VERBOSE];
  const line = errorLine(error);
  const message = isSentence(error) ? `${line}.` : `kubectl ${command} failed: ${line}`;
  return failed(code, message, suggestions, {
    cause: new Error(error.message),
  });
}

/** The text says by itself what failed. */
const isSentence = ({kind, message, steps}: ReadError): boolean =>
  steps !== undefined ||
  kind === 'unreachable' ||
  kind === 'web-page' ||
  (kind === 'not-logged-in' && !message.includes('getting credentials'));

/** The result. @throws ExpectedError if it could not be read */
export function requireAnswer<T extends {error?: ReadError | undefined}>(
  result: T,
  cluster: ClusterSelection,
  command = 'get',
): Exclude<T, {error: ReadError}> {
  if (result.error) throw apiFailure(result.error, cluster, command);
  return result as Exclude<T, {error: ReadError}>;
}

export function errorLine(error: ReadError): string {
  const {kind, message, status, cause, steps} = error;
  if (cause || steps || kind === 'web-page') return message;
  if (kind === 'stalled' || kind === 'aborted') return 'timed out waiting for a response';
  if (kind === 'not-logged-in') return loginText(message);
  if (kind === 'unreachable') return unreachableText(message);
  if (status === undefined) return message;
  const reason = REASON_OF[status];
  return `Error from server${reason === undefined ? '' : ` (${reason})`}: ${message}`;
}

/** The one text for a rejected login; a login plugin that failed keeps its own. */
function loginText(message: string): string {
  if (isAnonymousRefusal(message)) return anonymousText(userIn(message));
  return message.includes('getting credentials') ? message : REJECTED_LOGIN;
}
