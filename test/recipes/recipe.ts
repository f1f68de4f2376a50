import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {execa} from 'execa';
import {root} from '../docs/commands.ts';

interface Block {
  language: string;
  text: string;
}

/** The fenced blocks of a page, by the heading they stand under. */
export function recipe(page: string): ReadonlyMap<string, readonly Block[]> {
  const sections = readFileSync(join(root, page), 'utf8').split(/^(?=## )/m);
  return new Map(
    sections.map((section) => {
      const [, heading = ''] = /^## (.*)/.exec(section) ?? [];
      const blocks = [...section.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)];
      return [
        heading,
        blocks.map(([, indent, language = '', text = '']) => ({
          language,
          text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
        })),
      ];
    }),
  );
}

/** What has to be typed below a heading. */
export const linesOf = (sections: ReturnType<typeof recipe>, heading: string): string[] =>
  (sections.get(heading) ?? []).filter(({language}) => language === 'sh').map(({text}) => text);

/** The file that a page shows below a heading. */
export function fileOf(sections: ReturnType<typeof recipe>, heading: string): string {
  const found = sections.get(heading)?.find(({language}) => language === 'yaml');
  if (found === undefined) throw new Error(`There is no file below ${heading}.`);
  return found.text;
}

interface Shell {
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** A command that the shell runs under. */
  under?: readonly string[];
}

/** Types the lines into a shell that stops at the first failure, as those of pipelines do. */
export async function type(text: string, {cwd, env, under = []}: Shell) {
  const [command = '', ...args] = [...under, 'sh', '-eu', '-c', text];
  const {exitCode, stdout, stderr} = await execa(command, args, {
    cwd,
    env,
    reject: false,
    stdin: 'ignore',
  });
  return {exitCode, stdout, stderr};
}
