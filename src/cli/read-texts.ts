import {pooled} from '../ground/async.ts';
import {ExpectedError} from '../ground/errors.ts';
import type {Files} from '../ground/system/system.ts';

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
    try {
      const content = await (name === '-' ? files.readStdin() : files.read(name));
      texts.set(name, content.toString('utf8'));
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      failures.push(error);
    }
  });
  const [first, ...others] = failures;
  if (first === undefined) return names.map((file) => ({file, text: texts.get(file) as string}));
  if (others.length === 0) throw first;
  throw new ExpectedError(failures.map(({message}) => message).join('\n'), {
    ...first,
    suggestions: [...new Set(failures.flatMap(({suggestions}) => suggestions))],
  });
}
