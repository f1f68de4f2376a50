import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {root} from './commands.ts';

/** A page without its code blocks. */
export const textOf = (path: string): string =>
  readFileSync(join(root, path), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');

/** The headings of a page, as GitHub makes addresses of them. */
export const headingsOf = (path: string): string[] =>
  [...textOf(path).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => addressOf(text));

const addressOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

/** A section with those below it, or the whole page, without the generated tables of keys; undefined if it does not exist. */
export function sectionOf(path: string, heading: string | undefined): string | undefined {
  if (!existsSync(join(root, path))) return undefined;
  const text = readFileSync(join(root, path), 'utf8').replaceAll(
    /<!-- reach -->[\s\S]*?<!-- reachstop -->/g,
    '',
  );
  if (heading === undefined) return text;
  const sections = text.split(/^(?=#+ )/m);
  const first = sections.findIndex(
    (section) => addressOf(section.split('\n')[0]?.replace(/^#+ /, '') ?? '') === heading,
  );
  if (first < 0) return undefined;
  const depth = (section: string | undefined): number => /^#+/.exec(section ?? '')?.[0].length ?? 0;
  const next = sections.findIndex(
    (section, index) => index > first && depth(section) <= depth(sections[first]),
  );
  return sections.slice(first, next < 0 ? undefined : next).join('');
}
