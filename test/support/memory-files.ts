import {ExpectedError} from '../../src/ground/errors.ts';
import type {Files} from '../../src/ground/system/system.ts';

/** Files in memory, with a record of all writes; reading an unknown file fails. */
export function memoryFiles(content: Readonly<Record<string, string | Buffer>> = {}, stdin = '') {
  const disk: Record<string, string | Buffer> = {...content};
  const removed: string[] = [];
  const written: {path: string; text: string; isPrivate: boolean}[] = [];
  const files: Files & {written: typeof written; removed: string[]} = {
    written,
    removed,
    async read(path) {
      const found = disk[path];
      if (found !== undefined) return Buffer.from(found);
      throw new ExpectedError(`Cannot read ${path}: no such file or directory.`, {
        code: 'UNREADABLE_FILE',
        suggestions: ['Check the path and its permissions'],
      });
    },
    readStdin: async () => Buffer.from(stdin),
    kindOf: async (path) =>
      path.endsWith('.sock') ? 'stream' : disk[path] === undefined ? 'nothing' : 'file',
    async write(path, text, {isPrivate}) {
      written.push({path, text, isPrivate});
      disk[path] = text;
    },
    list: async () => [],
    async remove(path) {
      removed.push(path);
      delete disk[path];
    },
  };
  return files;
}
