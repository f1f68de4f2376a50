import type {LogStream, Trouble} from '../../src/ports/cluster-api.ts';

/** The whole of a log that could be opened, and how it ended. */
export async function readLog(opened: LogStream | {trouble: Trouble}): Promise<{text: string; trouble: Trouble | undefined}> {
  if (opened.trouble) throw new Error(opened.trouble.message);
  let text = '';
  for await (const chunk of opened.chunks) text += chunk;
  return {text, trouble: await opened.end};
}
