import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {root} from './commands.ts';
import {headingsOf, textOf} from './headings.ts';

test('every link between the pages leads somewhere', () => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...readdirSync(join(root, 'docs'), {recursive: true, encoding: 'utf8'}).map(
      (path) => `docs/${path}`,
    ),
  ];
  const broken = pages.filter((path) => path.endsWith('.md')).flatMap(brokenLinks);
  expect(broken).toEqual([]);
});

test('every heading of docs/charts that a comment names is there', () => {
  const sources = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), {recursive: true, encoding: 'utf8'}).map(
      (path) => `${folder}/${path}`,
    ),
  );
  const broken = sources
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => [
      ...readFileSync(join(root, path), 'utf8').matchAll(
        /(docs\/charts\/[\w-]+\.md), "([^"\n]+)"/g,
      ),
    ])
    .filter(
      ([, page = '', heading = '']) =>
        !readFileSync(join(root, page), 'utf8').includes(`\n## ${heading}\n`),
    )
    .map(([named]) => named);
  expect(broken).toEqual([]);
});

/** Links to files that are not there, or to headings that are not in them. */
function brokenLinks(page: string): string[] {
  const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  return links.flatMap(([link, path = '', heading]) => {
    const target = path === '' ? page : join(page, '..', path);
    if (!existsSync(join(root, target))) return [`${page}: ${link}`];
    return heading === undefined || headingsOf(target).includes(heading)
      ? []
      : [`${page}: ${link}`];
  });
}
