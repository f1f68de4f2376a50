import {readFileSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import {parse} from 'yaml';
import {ExitCode} from '../../src/ground/errors.ts';
import {root, words} from './commands.ts';

interface Meaning {
  means: string;
  here?: Readonly<Record<string, string>>;
  only?: Readonly<Record<string, string>>;
}

export const MEANINGS = Object.entries(parse(words('exit-codes.yaml')) as Record<string, Meaning>);

/** The rows of docs/exit-codes.md. */
export const exitRows = (): string[][] =>
  MEANINGS.map(([code, {means, here, only}]) => {
    const more = Object.entries(only ?? here ?? {}).map(([id, text]) =>
      text === '' ? `\`${id}\`` : `\`${id}\`: ${text}`,
    );
    return [code, more.length === 0 ? means : `${means} (${more.join('; ')})`];
  });

/** The rows of the page of one command. */
export const exitRowsOf = (id: string): string[][] =>
  MEANINGS.filter(([, {only}]) => only === undefined || only[id] !== undefined).map(
    ([code, {means, here, only}]) => {
      const own = (only ?? here)?.[id] ?? '';
      return [code, own === '' ? means : `${means}: ${own}`];
    },
  );

const IMPORT = /(?:^(?:import|export) (?!type )[\s\S]*?from|import\()\s*'(\.[^']+\.ts)'/gm;

/** The file and all it imports, sooner or later. */
function reachedFrom(file: string, seen = new Map<string, string>()): Map<string, string> {
  if (seen.has(file)) return seen;
  const text = readFileSync(file, 'utf8');
  seen.set(file, text);
  for (const [, path = ''] of text.matchAll(IMPORT))
    reachedFrom(resolve(dirname(file), path), seen);
  return seen;
}

const statusesIn = (text: string): string[] =>
  [...text.matchAll(/\bExitCode\.(\w+)/g)].map(([, name]) =>
    String(ExitCode[name as keyof typeof ExitCode]),
  );

/** The exit statuses that the code of a command names: its own file, and all that it can reach. */
export function statusesOf(id: string): {own: string[]; reached: string[]} {
  const file = join(root, 'src/commands', `${id.replaceAll(' ', '/')}.ts`);
  const texts = reachedFrom(file);
  return {
    own: statusesIn(texts.get(file) as string),
    reached: [...texts.values()].flatMap(statusesIn),
  };
}

/** Exit codes that a text names: "Exits with 0 when …, 1 when …", "exit code 7". */
export const statusesNamed = (text: string): string[] => [
  ...[...text.matchAll(/exit codes? (\d+)/gi)].map(([, code]) => code as string),
  ...[...text.matchAll(/exits with [^.]*/gi)].flatMap(
    ([sentence]) => sentence.match(/\b\d+(?= (?:when|if))/g) ?? [],
  ),
];
