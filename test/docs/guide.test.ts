import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {parse} from '@oclif/core/parser';
import {expect, test} from 'vitest';
import {explain} from '../../src/findings/catalog.ts';
import {linesOf, recipe, type} from '../recipes/recipe.ts';
import {BUILT, workshop} from '../recipes/workshop.ts';
import {certificates} from '../support/certificates.ts';
import {runIn} from '../support/run-in.ts';
import {commandIn, isTopic, root} from './commands.ts';

/** Commands that need no cluster. */
const OFFLINE = /^scalr-agent (values|validate|schema|recommend|images|export|migrate)\b/;
/** What a shell must do; everything else runs in this process. */
const IN_SHELL = /[|&<>$'"]/;
/** Pages with tests of their own in test/recipes. */
const RECIPES = ['ci.md', 'air-gapped.md', 'recipes.md'];

const pages = readdirSync(join(root, 'docs/guide'))
  .filter((page) => !RECIPES.includes(page))
  .map((page) => {
    const sections = recipe(`docs/guide/${page}`);
    const typed = [...sections.keys()]
      .flatMap((heading) => linesOf(sections, heading))
      .flatMap((text) =>
        text
          .trim()
          .replaceAll(/\\\n\s*/g, '')
          .split('\n'),
      )
      .filter((line) => !/^helm (get values|history|rollback) /.test(line));
    const inPipelines = [...sections.values()]
      .flat()
      .flatMap(({text}) => text.match(/(?<=^ *- )scalr-agent .*/gm) ?? []);
    return {page, sections, typed, lines: [...typed, ...inPipelines]};
  });

test('every guide opens with what it is for, and then shows a command', () => {
  const folder = join(root, 'docs/guide');
  const others = readdirSync(folder).filter(
    (page) => !/^# .*\n\n[A-Z`*[]/.test(readFileSync(join(folder, page), 'utf8')),
  );
  expect(others).toEqual([]);
  const silent = pages.filter(({typed}) => typed.length === 0).map(({page}) => page);
  expect(silent).toEqual([]);
});

test('explain knows every word of the table of symptoms', () => {
  const page = readFileSync(join(root, 'docs/guide/symptoms.md'), 'utf8');
  const cells = [...page.matchAll(/^\| (.*?) \| `scalr-agent/gm)].map(([, cell = '']) =>
    cell.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'),
  );
  expect(cells.length).toBeGreaterThan(9);
  // The others are sentences.
  const words = cells
    .filter((cell) => !/ (runs|stay|cannot|shows|has|waits) /.test(cell))
    .flatMap((cell) => cell.split(', '));
  expect(words.filter((word) => explain(word).length === 0)).toEqual([]);
});

test.each(pages)('every command of docs/guide/$page exists and accepts its flags', async ({
  lines,
}) => {
  for (const line of lines) {
    const {found, rest} = commandIn(line.split(' ').slice(1));
    if (found === undefined) throw new Error(`unknown command: ${line}`);
    const {flags, baseFlags, args} = found.command;
    await expect(
      parse([...rest], {flags: {...baseFlags, ...flags}, args}),
      line,
    ).resolves.toBeDefined();
  }
});

async function offline(line: string, shop: Awaited<ReturnType<typeof workshop>>) {
  if (!IN_SHELL.test(line)) return runIn(shop.cwd, line.split(' ').slice(1), shop.env);
  const {exitCode: exit, stderr} = await type(line, shop);
  return {exit, stderr};
}

test.each(pages)('offline commands of docs/guide/$page succeed', async ({typed}) => {
  const shop = await workshop(BUILT);
  shop.write('company-ca.pem', String(certificates['ca.pem']));
  shop.write('current.yaml', 'agent: {url: "https://acme.scalr.io"}\n');
  for (const line of typed.filter((each) => OFFLINE.test(each))) {
    const {exit, stderr} = await offline(line, shop);
    expect(exit, `${line}\n${stderr}`).toBe(0);
  }
});

const written = [
  'README.md',
  ...readdirSync(join(root, 'docs'), {recursive: true, encoding: 'utf8'}).map(
    (page) => `docs/${page}`,
  ),
];

test.each(
  written.filter((page) => page.endsWith('.md')),
)('every command that %s names in a sentence exists, with its flags', (page) => {
  const spans = readFileSync(join(root, page), 'utf8').matchAll(
    /`scalr-agent(?:-install)? ([a-z][^`\n]*)`/g,
  );
  const unknown = [...spans].flatMap(([span, text = '']) => {
    const words = text.split(' ');
    const {found} = commandIn(words);
    if (found === undefined) return isTopic(words) || words[0] === 'help' ? [] : [span];
    const flags = {...found.command.baseFlags, ...found.command.flags};
    const names = words.flatMap((word) => /^--(?:no-)?([a-z-]+)/.exec(word)?.[1] ?? []);
    return names
      .filter(
        (name) => flags[name] === undefined && flags[`no-${name}`] === undefined && name !== 'help',
      )
      .map((name) => `${span}: --${name}`);
  });
  expect(unknown).toEqual([]);
});
