import type {ReadError} from '../../../src/ground/fact.ts';
import type {LogStream} from '../../../src/ground/system/system.ts';

/** The whole of a log that could be opened, and how it ended. */
export async function readLog(
  opened: LogStream | {error: ReadError},
): Promise<{text: string; error: ReadError | undefined}> {
  if (opened.error) throw new Error(opened.error.message);
  let text = '';
  for await (const chunk of opened.chunks) text += chunk;
  return {text, error: await opened.end};
}
