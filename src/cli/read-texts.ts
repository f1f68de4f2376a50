import {pooled} from '../ground/async.ts';
import {type ExpectedError, onFailure} from '../ground/errors.ts';
import type {Files} from '../ground/system/system.ts';
import {throwAll} from './local-inputs.ts';

/** Limit of open files. */
const OPEN_FILES = 16;

/** Reads every file; reads standard input (-) only once. @throws ExpectedError that lists every unreadable file */
export async function readTexts(
  names: readonly string[],
  files: Pick<Files, 'read' | 'readStdin'>,
): Promise<{file: string; text: string}[]> {
  const failures: ExpectedError[] = [];
  const texts = new Map<string, string>();
  await pooled([...new Set(names)], OPEN_FILES, async (name) => {
    const content = await (name === '-' ? files.readStdin() : files.read(name)).catch(
      onFailure((failure) => void failures.push(failure)),
    );
    texts.set(name, String(content));
  });
  throwAll(failures);
  return names.map((file) => ({file, text: texts.get(file) as string}));
}
