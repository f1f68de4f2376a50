import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import type {Command} from '@oclif/core';

export const root = join(import.meta.dirname, '../..');

/** What people wrote. */
export const words = (template: string): string => readFileSync(join(root, 'templates', template), 'utf8').trimEnd();

export interface Documented {
  id: string;
  command: Command.Class;
}

/** Whatever is in src/commands. */
export const commands: readonly Documented[] = await Promise.all(
  readdirSync(join(root, 'src/commands'))
    .toSorted()
    .map(async (file) => {
      const {default: command} = (await import(join(root, 'src/commands', file))) as {default: Command.Class};
      return {id: file.replace(/\.ts$/, ''), command};
    }),
);
