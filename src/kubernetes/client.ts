import type {ApiError, LogStream} from '../ports/log-stream.ts';

/** JSON as it was parsed, any other text as a string. `date` is the clock of the server, where it sends it. */
export type Answer = {status: number; body: unknown; date?: Date; trouble?: undefined} | {trouble: ApiError};

export interface RequestOptions {
  /** Ends the request at once, retries too. */
  over: AbortSignal;
  /** Milliseconds that the server may be silent; time in which nobody reads does not count. */
  idleMs?: number;
}

export interface GetOptions extends RequestOptions {
  /** Media types to ask for; a server or a kubectl that does not know them answers with plain JSON. */
  accept?: string;
  /** The body is text even if it looks like JSON. */
  isText?: boolean;
}

/** Reads of the API server of one cluster. Every failure is an answer; requests never throw. */
export interface ApiReader {
  /** `path` as the API server knows it, escaped, with its query. */
  get(path: string, options: GetOptions): Promise<Answer>;
  /** For large answers, which are never held as a whole; with `follows` for logs that have no end. */
  stream(path: string, options: RequestOptions & {follows?: boolean}): Promise<LogStream | {trouble: ApiError}>;
  /** Requests under way end as `over`; neither process nor socket stays. May be called twice. */
  close(): Promise<void>;
}

/** Starts with the first request. */
export interface KubernetesClient extends ApiReader {
  /** @throws ExpectedError when there is no kubectl, or the kubeconfig names no such cluster */
  connect(over: AbortSignal): Promise<void>;
  /** For reviews of access and of the account, which change nothing. */
  post(path: string, body: object, options: RequestOptions): Promise<Answer>;
}
