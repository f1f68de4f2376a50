import type {Readable} from 'node:stream';
import type {Answer, LogStream, Trouble} from '../ports/cluster-api.ts';
import type {Vigil} from './vigil.ts';

/** An answer is held as a whole; a page of a list stays far below. */
const LARGEST_ANSWER = 32 * 1024 * 1024;

interface Afterwards {
  /** The source came to its end by itself; whether that was the end of the answer. */
  verdict?: () => Promise<Trouble | undefined>;
  /** However it ended. */
  release?: () => void;
}

/** What comes out of a source under a vigil, and how that ended. */
export function logFrom(source: Readable, vigil: Vigil, {verdict, release}: Afterwards = {}): LogStream {
  let settle: (trouble: Trouble | undefined) => void = () => undefined;
  const end = new Promise<Trouble | undefined>((resolve) => {
    settle = resolve;
  });
  const leave = (trouble: Trouble | undefined): void => {
    vigil.release();
    release?.();
    settle(trouble);
  };
  // Also one that nobody reads comes to an end.
  vigil.endWith((why) => {
    source.destroy(why);
    leave(vigil.trouble);
  });
  async function* read(): AsyncGenerator<Buffer> {
    let trouble: Trouble | undefined;
    try {
      vigil.wait();
      for await (const chunk of source) {
        vigil.heard();
        yield chunk;
        vigil.wait();
      }
      trouble = await verdict?.();
    } catch (error) {
      trouble = vigil.explain(error, 'truncated');
    } finally {
      leave(trouble);
    }
  }
  return {chunks: read(), end};
}

/** An answer that is wanted as a whole. */
export async function answerFrom(status: number, {chunks, end}: LogStream, date?: Date): Promise<Answer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > LARGEST_ANSWER) return {trouble: {kind: 'too-large', message: `the answer is larger than ${LARGEST_ANSWER >> 20} MiB`}};
    parts.push(chunk);
  }
  const trouble = await end;
  return trouble ? {trouble} : {status, body: parsed(Buffer.concat(parts).toString('utf8')), ...(date ? {date} : {})};
}

/** What is JSON cannot be told from its type: the API server calls logs plain text and some plain text JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
