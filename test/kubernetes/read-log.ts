import type {ReadError} from '../../src/ground/read-error.ts';
import type {LogStream} from '../../src/ports/host-tools.ts';

/** The whole of a log that could be opened, and how it ended. */
export async function readLog(opened: LogStream | {trouble: ReadError}): Promise<{text: string; trouble: ReadError | undefined}> {
  if (opened.trouble) throw new Error(opened.trouble.message);
  let text = '';
  for await (const chunk of opened.chunks) text += chunk;
  return {text, trouble: await opened.end};
}
