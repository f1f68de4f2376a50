/**
 * Why a request failed. `not-started`: the container has no log yet; `busy`: the server is overloaded; `server`: an internal server error;
 * `stalled`: no data for too long; `truncated`: the response ended early; `aborted`: the request was cancelled or timed out.
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
  | 'aborted';

export interface ApiError {
  kind: ApiErrorKind;
  /** The message of the API server, if any. */
  message: string;
  /** HTTP status, if any. */
  status?: number;
  /** Delay that the server requests before the next request. */
  retryAfterMs?: number;
  /** Token to continue an expired list. */
  continueAt?: string;
  /** The cause, if the tool could not be started. */
  cause?: Error;
}

/** A log while it is read. */
export interface LogStream {
  /** Never throws; `end` resolves to the reason if the log is incomplete. The source is closed when the reader stops. */
  chunks: AsyncIterable<Buffer>;
  /** Why the log is incomplete; undefined if it is complete. Resolves after `chunks`. */
  end: Promise<ApiError | undefined>;
  trouble?: undefined;
}
