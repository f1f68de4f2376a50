import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {root} from './commands.ts';

/** A page without its code blocks. */
export const textOf = (path: string): string => readFileSync(join(root, path), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');

/** The headings of a page, as GitHub makes addresses of them. */
export const headingsOf = (path: string): string[] =>
  [...textOf(path).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
