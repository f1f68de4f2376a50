import type {Environment} from '../answers/sources.ts';
import type {Files} from '../ground/system/system.ts';

/** A path as a shell reads it: ~ is the home directory, quotes and backslashes are removed. */
export function typedPath(text: string, {HOME: home}: Environment): string {
  const plain = /^(["'])(.*)\1$/.exec(text)?.[2] ?? text.replaceAll(/\\(?=[ '"\\~])/g, '');
  return home === undefined ? plain : plain.replace(/^~(?=\/|$)/, home);
}

/** Paths that start with the typed text. */
export async function completePath(
  text: string,
  files: Pick<Files, 'list'>,
  env: Environment,
): Promise<readonly string[]> {
  const start = text.slice(0, text.lastIndexOf('/') + 1);
  const names = await files.list(typedPath(start, env) || '.');
  return names.map((name) => `${start}${name}`).filter((path) => path.startsWith(text));
}
