import type {ApiError, LogStream} from '../../src/ports/log-stream.ts';

/** The whole of a log that could be opened, and how it ended. */
export async function readLog(opened: LogStream | {trouble: ApiError}): Promise<{text: string; trouble: ApiError | undefined}> {
  if (opened.trouble) throw new Error(opened.trouble.message);
  let text = '';
  for await (const chunk of opened.chunks) text += chunk;
  return {text, trouble: await opened.end};
}
