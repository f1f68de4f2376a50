import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {execa} from 'execa';
import {beforeEach, describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {violations} from '../support/output-schema.ts';
import {fileOf, linesOf, recipe, type} from './recipe.ts';
import {BUILT, workshop} from './workshop.ts';

const page = recipe('docs/recipes/ci.md');
const answers = fileOf(page, 'The answers');
const [check = '', recommend = '', tell = ''] = linesOf(page, 'On every change');
let shop: Awaited<ReturnType<typeof workshop>>;

const read = (name: string): string => readFileSync(join(shop.cwd, name), 'utf8');

/** A repository with the answers and what was made of them. */
beforeEach(async () => {
  shop = await workshop(BUILT);
  shop.write('answers.yaml', answers);
  expect(await type('scalr-agent values --answers answers.yaml --out values.yaml', shop)).toMatchObject({exitCode: 0});
  for (const args of [
    ['init', '--quiet'],
    ['add', '.'],
    ['-c', 'user.name=a', '-c', 'user.email=a', 'commit', '--quiet', '--message', 'a'],
  ]) {
    await execa('git', args, {cwd: shop.cwd});
  }
});

describe('on every change', () => {
  test('what is in Git passes', async () => {
    expect(await type(check, shop)).toMatchObject({exitCode: 0});
    expect(read('findings.xml')).toContain('<testsuite');
    expect(await type(recommend, shop)).toMatchObject({exitCode: 0, stdout: ''});
    expect(violations('recommend', read('recommendation.json'))).toEqual([]);
    expect(await type(tell, shop)).toMatchObject({exitCode: 0, stdout: expect.stringContaining('values.yaml is right')});
  });

  test('answers that were changed without their values do not', async () => {
    shop.write('answers.yaml', answers.replace('concurrency: 3', 'concurrency: 4'));
    const {exitCode, stdout} = await type(check, shop);
    expect({exitCode, stdout}).toEqual({exitCode: 1, stdout: expect.stringContaining('replicaCount')});
  });

  test('answers that are missing are all named, and nothing is asked', async () => {
    shop.write('answers.yaml', 'chart: agent-local\nconcurrency: many\n');
    const {exitCode, stderr} = await type(check, shop);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--url');
    expect(stderr).toContain('--concurrency');
  });

  test.each([
    [
      'a warning is told and lets the pipeline go on',
      'agent: {url: "https://acme.scalr.io", token: abc, tokenExistingSecret: {name: token}}\n',
      4,
    ],
    ['an error stops it with its own status', 'agent: {tokne: abc}\n', 3],
  ])('%s', async (_, text, status) => {
    shop.write('values.yaml', `# Values of agent-local 0.6.5 (agent 1.4.0), only what differs from its defaults.\n${text}`);
    expect((await type('scalr-agent validate values.yaml --strict', shop)).exitCode).toBe(status);
    expect((await type(tell, shop)).exitCode).toBe(status === 4 ? 0 : status);
  });
});

test('the workflow types what the page shows, and every line of it is run by these tests', () => {
  const workflow = parse(fileOf(page, 'As a workflow of GitHub')) as {jobs: Record<string, {steps: {run?: string}[]}>};
  const typed = Object.values(workflow.jobs).flatMap(({steps}) => steps.flatMap(({run}) => run ?? []));
  const shown = ['On every change', 'The deployment'].flatMap((heading) => linesOf(page, heading).join('').split('\n'));
  expect([...shown, 'npm install --global scalr-agent-install']).toEqual(expect.arrayContaining(typed));
  expect(linesOf(page, 'On every change')).toHaveLength(3);
});

test('the short forms in the README are what these tests run', () => {
  const short = linesOf(recipe('README.md'), 'Recipes').flatMap((text) => text.trim().split('\n'));
  const run = [page, recipe('docs/recipes/air-gapped.md')].flatMap((each) => [...each.keys()].flatMap((heading) => linesOf(each, heading)));
  const typed = run.join('\n').split('\n');
  expect(short.length).toBeGreaterThan(3);
  expect(short.filter((line) => !typed.some((each) => each.startsWith(line.replace(/ #.*/, ''))))).toEqual([]);
});
