import type {Environment} from '../answers/sources.ts';

/** A path as a shell reads it: ~ is the home directory, quotes and backslashes are removed. */
export function typedPath(text: string, {HOME: home}: Environment): string {
  const plain = /^(["'])(.*)\1$/.exec(text)?.[2] ?? text.replaceAll(/\\(?=[ '"\\~])/g, '');
  return home === undefined ? plain : plain.replace(/^~(?=\/|$)/, home);
}
