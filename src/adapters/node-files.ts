import {readFile, stat, writeFile} from 'node:fs/promises';
import writeFileAtomic from 'write-file-atomic';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {Files} from '../ports/files.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a directory',
  ENOTDIR: 'part of the path is not a directory',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Names what the system refused; anything else is a bug and goes on as it is. */
const failed = (verb: 'read' | 'write', path: string, cause: unknown): unknown => {
  const {code, message} = cause as NodeJS.ErrnoException;
  if (code === undefined || cause instanceof ExpectedError) return cause;
  return new ExpectedError(`Cannot ${verb} ${path}: ${REASONS[code] ?? message}.`, {
    code: verb === 'read' ? 'UNREADABLE_FILE' : 'UNWRITABLE_FILE',
    exit: verb === 'read' ? ExitCode.usage : ExitCode.failed,
    suggestions: verb === 'read' ? ['Check the path and its permissions'] : ['Choose another place with --out'],
    cause,
  });
};

/** The real disk. */
export const nodeFiles: Files = {
  async read(path) {
    try {
      return await readFile(path);
    } catch (error) {
      throw failed('read', path, error);
    }
  },

  async readStdin() {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  },

  async kindOf(path) {
    try {
      const found = await stat(path);
      if (found.isDirectory()) return 'directory';
      return found.isFile() ? 'file' : 'stream';
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'nothing';
      throw failed('write', path, error);
    }
  },

  async write(path, text, {isPrivate}) {
    try {
      // A rename over /dev/stdout would replace the device.
      if ((await this.kindOf(path)) === 'stream') await writeFile(path, text);
      else await writeFileAtomic(path, text, isPrivate ? {mode: 0o600} : {});
    } catch (error) {
      throw failed('write', path, error);
    }
  },
};
