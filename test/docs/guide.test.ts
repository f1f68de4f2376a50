import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {parse} from '@oclif/core/parser';
import {expect, test} from 'vitest';
import {linesOf, recipe, type} from '../recipes/recipe.ts';
import {BUILT, workshop} from '../recipes/workshop.ts';
import {certificates} from '../support/certificates.ts';
import {commandIn, root} from './commands.ts';

/** Commands that need no cluster. */
const OFFLINE = /^scalr-agent (values|validate|schema|recommend|images|export|migrate)\b/;
/** Pages with tests of their own in test/recipes. */
const RECIPES = ['ci.md', 'air-gapped.md'];

const pages = readdirSync(join(root, 'docs/guide'))
  .filter((page) => !RECIPES.includes(page))
  .map((page) => {
    const sections = recipe(`docs/guide/${page}`);
    const typed = [...sections.keys()].flatMap((heading) => linesOf(sections, heading)).map((text) => text.trim());
    const inPipelines = [...sections.values()].flat().flatMap(({text}) => text.match(/(?<=^ *- )scalr-agent .*/gm) ?? []);
    return {page, sections, typed, lines: [...typed, ...inPipelines]};
  });

test.each(pages)('docs/guide/$page begins with a command', ({sections}) => {
  expect(linesOf(sections, '')[0]).toMatch(/^scalr-agent /);
});

test.each(pages)('every command of docs/guide/$page exists and accepts its flags', async ({lines}) => {
  for (const line of lines) {
    const {found, rest} = commandIn(line.split(' ').slice(1));
    if (found === undefined) throw new Error(`unknown command: ${line}`);
    const {flags, baseFlags, args} = found.command;
    await expect(parse([...rest], {flags: {...baseFlags, ...flags}, args}), line).resolves.toBeDefined();
  }
});

test.each(pages)('offline commands of docs/guide/$page succeed', async ({typed}) => {
  const shop = await workshop(BUILT);
  shop.write('company-ca.pem', String(certificates['ca.pem']));
  for (const line of typed.filter((each) => OFFLINE.test(each))) {
    const {exitCode, stderr} = await type(line, shop);
    expect(exitCode, `${line}\n${stderr}`).toBe(0);
  }
});
