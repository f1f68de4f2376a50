import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import type {Command} from '@oclif/core';

export const root = join(import.meta.dirname, '../..');

/** What people wrote. */
export const words = (template: string): string =>
  readFileSync(join(root, 'templates', template), 'utf8').trimEnd();

export interface Documented {
  /** As it is typed: pool list. */
  id: string;
  /** In src/commands, without its extension. */
  path: string;
  /** Name of its page and of its schema: pool-list. */
  file: string;
  command: Command.Class;
}

/** Whatever is in src/commands. */
export const commands: readonly Documented[] = await Promise.all(
  readdirSync(join(root, 'src/commands'), {recursive: true, encoding: 'utf8'})
    .filter((each) => each.endsWith('.ts'))
    .map((each) => each.replace(/\.ts$/, ''))
    .toSorted()
    .map(async (path) => {
      const {default: command} = (await import(join(root, 'src/commands', `${path}.ts`))) as {
        default: Command.Class;
      };
      return {id: path.replaceAll('/', ' '), path, file: path.replaceAll('/', '-'), command};
    }),
);

/** The command that these words begin with, and the rest of them. */
export function commandIn(words: readonly string[]): {
  found: Documented | undefined;
  rest: readonly string[];
} {
  const [found] = commands
    .filter(({id}) => words.slice(0, id.split(' ').length).join(' ') === id)
    .toSorted((one, other) => other.id.length - one.id.length);
  return {found, rest: found === undefined ? words : words.slice(found.id.split(' ').length)};
}

/** Commands have a command as their first word. */
export const isTopic = (words: readonly string[]): boolean =>
  words.length > 0 && commands.some(({id}) => id.startsWith(`${words.join(' ')} `));
