import type {ApiRequest} from '../ground/command-line.ts';
import type {ReadError} from '../ground/fact.ts';
import type {LogStream} from '../ports/processes.ts';

/** Parsed JSON, or other content as a string. `date` is the clock of the server, if it sends one. */
export type ApiResult = {status: number; body: unknown; date?: Date; error?: undefined} | {error: ReadError};

export interface RequestOptions {
  /** Aborts the request and its retries. */
  signal: AbortSignal;
  /** Milliseconds without data from the server; time without a reader does not count. */
  idleMs?: number;
}

export interface GetOptions extends RequestOptions {
  /** Requested media types; a server or kubectl without support for them responds with plain JSON. */
  accept?: string;
  /** The body is text even if it looks like JSON. */
  isText?: boolean;
}

/** Reads from the API server of one cluster. Requests never throw; errors are part of the result. */
export interface ApiReader {
  /** `path` is the escaped API path with its query. */
  get(path: string, options: GetOptions): Promise<ApiResult>;
  /** For large responses, which are never held in memory as a whole; with `follows`, for logs without an end. */
  stream(path: string, options: RequestOptions & {follows?: boolean}): Promise<LogStream | {error: ReadError}>;
  /** Open requests end as `signal`; no process or socket remains. Can be called twice. */
  close(): Promise<void>;
}

/** Starts with the first request. */
export interface KubernetesClient extends ApiReader {
  /** @throws ExpectedError if kubectl or the cluster in the kubeconfig is missing */
  connect(signal: AbortSignal): Promise<void>;
  /** For access reviews and self subject reviews, which change nothing. */
  post(path: string, body: object, options: RequestOptions): Promise<ApiResult>;
  /** For changes. Undefined if no proxy can run, so that only kubectl itself can make them. @throws ExpectedError like connect */
  send(request: ApiRequest, options: RequestOptions): Promise<ApiResult | undefined>;
}
