import type {Trouble, TroubleKind} from './cluster-api.ts';

/** An object of Kubernetes that says what went wrong. */
interface Status {
  kind: 'Status';
  message?: string;
  reason?: string;
  code?: number;
  metadata?: {continue?: string};
  details?: {retryAfterSeconds?: number};
}

const KINDS: Readonly<Record<number, TroubleKind>> = {
  401: 'not-logged-in',
  403: 'forbidden',
  404: 'not-found',
  410: 'expired',
  429: 'busy',
  502: 'unreachable',
};

/** As the API server and kubelets say it of a container that has nothing to show. */
const NOT_STARTED =
  /is waiting to start|is not available|previous terminated container .* not found|no logs found|has not (been )?(created|started)/i;

/** What an answer other than success means. `body` is a Status of Kubernetes, or the text of somebody on the way. */
export function troubleOf(status: number, body: unknown, retryAfterMs?: number): Trouble {
  const said = isStatus(body) ? body : undefined;
  const message = said?.message ?? (typeof body === 'string' && body.trim() !== '' ? firstLine(body) : `the server answered ${status}`);
  const seconds = said?.details?.retryAfterSeconds;
  const wait = retryAfterMs ?? (seconds === undefined ? undefined : seconds * 1000);
  const next = said?.metadata?.continue;
  return {
    kind: said === undefined && status >= 500 ? kindOnTheWay(status, message) : kindOf(status, message),
    message,
    status,
    ...(wait === undefined ? {} : {retryAfterMs: wait}),
    ...(next ? {continueAt: next} : {}),
  };
}

function kindOf(status: number, message: string): TroubleKind {
  if (status === 400 && NOT_STARTED.test(message)) return 'not-started';
  return KINDS[status] ?? (status >= 500 ? 'server' : 'refused');
}

/** kubectl proxy says in plain text why it did not get as far as the API server. */
function kindOnTheWay(status: number, message: string): TroubleKind {
  if (/getting credentials|logged in/i.test(message)) return 'not-logged-in';
  return /dial tcp|\bEOF\b|connection re(fused|set)|timeout|x509|tls:|no such host/i.test(message)
    ? 'unreachable'
    : kindOf(status, message);
}

const isStatus = (body: unknown): body is Status => typeof body === 'object' && (body as Status | null)?.kind === 'Status';

const firstLine = (text: string): string => text.trim().split('\n', 1)[0]?.slice(0, 500) ?? '';

/** The value of a Retry-After header: seconds, or a date. */
export function retryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}

const REASONS: Readonly<Record<string, number>> = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  Expired: 410,
  Gone: 410,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
};

/** What kubectl prints of an answer other than success. */
export function troubleInWords(stderr: string): Trouble {
  const lines = stderr.split('\n').map((line) => line.trim());
  const line = lines.find((each) => /^error/i.test(each)) ?? lines.find((each) => each !== '') ?? 'kubectl said nothing';
  const [, reason, message = ''] = /^Error from server(?: \((\w+)\))?: (.*)$/.exec(line) ?? [];
  const status = reason === undefined ? undefined : REASONS[reason];
  if (status !== undefined) return troubleOf(status, message);
  const words = message || line.replace(/^error:\s*/i, '');
  if (/Unauthorized|must be logged in|getting credentials/i.test(words)) return {kind: 'not-logged-in', message: words};
  if (/too many requests/i.test(words)) return {kind: 'busy', message: words};
  if (/unexpected EOF|connection reset|stream error|http2:/i.test(words)) return {kind: 'truncated', message: words};
  if (/Client\.Timeout|deadline exceeded|no answer in time/i.test(words)) return {kind: 'stalled', message: words};
  return {kind: line.startsWith('Error from server') ? 'server' : 'unreachable', message: words};
}
