import type {ReadError} from '../ground/read-error.ts';

/** A log while it is read. */
export interface LogStream {
  /** Never throws; `end` resolves to the reason if the log is incomplete. The source is closed when the reader stops. */
  chunks: AsyncIterable<Buffer>;
  /** Why the log is incomplete; undefined if it is complete. Resolves after `chunks`. */
  end: Promise<ReadError | undefined>;
  trouble?: undefined;
}
