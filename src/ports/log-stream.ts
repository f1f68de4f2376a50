/**
 * Why a request has no answer, or not all of it. `not-started` is a container without a log as yet, `busy` a server that asked to be
 * left alone, `server` its own failure, `stalled` one that said nothing for too long, `truncated` an answer that broke off, `over`
 * that nobody wants it any more.
 */
export type ApiErrorKind =
  | 'not-logged-in'
  | 'forbidden'
  | 'not-found'
  | 'expired'
  | 'not-started'
  | 'refused'
  | 'busy'
  | 'server'
  | 'unreachable'
  | 'stalled'
  | 'truncated'
  | 'too-large'
  | 'over';

export interface ApiError {
  kind: ApiErrorKind;
  /** The message of the API server where it sent one. */
  message: string;
  /** HTTP status, where there was one. */
  status?: number;
  /** How long the server asks to wait before the next request. */
  retryAfterMs?: number;
  /** Token to continue a list that expired. */
  continueAt?: string;
  /** The failure behind it, where the tool itself did not start. */
  cause?: Error;
}

/** A log that is being read. */
export interface LogStream {
  /** Never throws: it ends, and `end` says whether that was the end of the log. Its source is closed when nobody reads on. */
  chunks: AsyncIterable<Buffer>;
  /** Why it ended early; undefined when all of it came. Resolves once `chunks` has ended. */
  end: Promise<ApiError | undefined>;
  trouble?: undefined;
}
