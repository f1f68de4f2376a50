import type {Readable} from 'node:stream';
import type {ApiError, LogStream} from '../ports/log-stream.ts';
import type {Answer} from './client.ts';
import type {IdleTimeout} from './idle-timeout.ts';

/** An answer is held as a whole; a page of a list stays far below. */
const LARGEST_ANSWER = 32 * 1024 * 1024;

interface Afterwards {
  /** The source came to its end by itself; whether that was the end of the answer. */
  verdict?: () => Promise<ApiError | undefined>;
  /** Called however it ended. */
  release?: () => void;
}

/** What comes out of a source, and how that ended. */
export function logFrom(source: Readable, timeout: IdleTimeout, {verdict, release}: Afterwards = {}): LogStream {
  let settle: (trouble: ApiError | undefined) => void = () => undefined;
  const end = new Promise<ApiError | undefined>((resolve) => {
    settle = resolve;
  });
  const leave = (trouble: ApiError | undefined): void => {
    timeout.release();
    release?.();
    settle(trouble);
  };
  // A log that nobody reads has to end too.
  timeout.endWith((why) => {
    source.destroy(why);
    leave(timeout.trouble);
  });
  async function* read(): AsyncGenerator<Buffer> {
    let trouble: ApiError | undefined;
    try {
      timeout.start();
      for await (const chunk of source) {
        timeout.stop();
        yield chunk;
        timeout.start();
      }
      trouble = await verdict?.();
    } catch (error) {
      trouble = timeout.explain(error, 'truncated');
    } finally {
      leave(trouble);
    }
  }
  return {chunks: read(), end};
}

/** An answer that is wanted as a whole. */
export async function answerFrom(
  status: number,
  {chunks, end}: LogStream,
  {date, isText = false}: {date?: Date | undefined; isText?: boolean} = {},
): Promise<Answer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > LARGEST_ANSWER) return {trouble: {kind: 'too-large', message: `the answer is larger than ${LARGEST_ANSWER >> 20} MiB`}};
    parts.push(chunk);
  }
  const trouble = await end;
  if (trouble) return {trouble};
  const text = Buffer.concat(parts).toString('utf8');
  return {status, body: isText ? text : parsed(text), ...(date ? {date} : {})};
}

/** JSON cannot be told from the content type: the API server calls logs plain text and some plain text JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
