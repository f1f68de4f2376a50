/**
 * Why a request failed. `not-started`: the container has no log yet; `busy`: the server is overloaded; `server`: an internal server error;
 * `stalled`: no data for too long; `truncated`: the response ended early; `aborted`: the request was cancelled or timed out.
 */
export type ReadErrorKind =
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

export interface ReadError {
  kind: ReadErrorKind;
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
