import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {execa} from 'execa';
import {beforeEach, describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {root} from '../docs/commands.ts';
import {violations} from '../support/output-schema.ts';
import {fileOf, linesOf, recipe, type} from './recipe.ts';
import {BUILT, workshop} from './workshop.ts';

const page = recipe('docs/guide/ci.md');
const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {version: string};
const answers = fileOf(page, 'Answers file');
const [check = '', recommend = '', tell = ''] = linesOf(page, 'Validate every change');
let shop: Awaited<ReturnType<typeof workshop>>;

const read = (name: string): string => readFileSync(join(shop.cwd, name), 'utf8');

/** A repository with the answers and what was made of them. */
beforeEach(async () => {
  shop = await workshop(BUILT);
  shop.write('answers.yaml', answers);
  expect(
    await type('scalr-agent values --answers answers.yaml --out values.yaml', shop),
  ).toMatchObject({exitCode: 0});
  for (const args of [
    ['init', '--quiet'],
    ['add', '.'],
    ['-c', 'user.name=a', '-c', 'user.email=a', 'commit', '--quiet', '--message', 'a'],
  ]) {
    await execa('git', args, {cwd: shop.cwd});
  }
});

describe('every change', () => {
  test('passes with the files in Git', async () => {
    expect(await type(check, shop)).toMatchObject({exitCode: 0});
    expect(read('findings.xml')).toContain('<testsuite');
    expect(await type(recommend, shop)).toMatchObject({exitCode: 0, stdout: ''});
    expect(violations('recommend', read('recommendation.json'))).toEqual([]);
    expect(await type(tell, shop)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('values.yaml is valid'),
    });
  });

  test('fails when the answers were changed without their values', async () => {
    shop.write('answers.yaml', answers.replace('concurrency: 3', 'concurrency: 4'));
    const {exitCode, stdout} = await type(check, shop);
    expect({exitCode, stdout}).toEqual({
      exitCode: 1,
      stdout: expect.stringContaining('replicaCount'),
    });
  });

  test('lists all missing answers without a prompt', async () => {
    shop.write('answers.yaml', 'chart: agent-local\nconcurrency: many\n');
    const {exitCode, stderr} = await type(check, shop);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--url');
    expect(stderr).toContain('answers.yaml (line 2): concurrency');
  });

  test.each([
    [
      'a warning is told and lets the pipeline go on',
      'agent: {url: "https://acme.scalr.io", token: abc, tokenExistingSecret: {name: token}}\n',
      4,
    ],
    ['an error stops it with its own status', 'agent: {tokne: abc}\n', 3],
  ])('%s', async (_, text, status) => {
    shop.write(
      'values.yaml',
      `# Values of agent-local 0.6.5 (agent 1.4.0): only values that differ from the chart defaults.\n${text}`,
    );
    expect((await type('scalr-agent validate values.yaml --strict', shop)).exitCode).toBe(status);
    expect((await type(tell, shop)).exitCode).toBe(status === 4 ? 0 : status);
  });
});

const PATH_LINE = 'echo "$PWD/ci/node_modules/.bin" >> "$GITHUB_PATH"';

test('the workflow uses the commands of the page, and these tests run all of them', () => {
  const typed = stepsOfWorkflow().flatMap(({run}) => run ?? []);
  const shown = ['Validate every change', 'Deploy', 'Pin the program'].flatMap((heading) =>
    linesOf(page, heading).join('').split('\n'),
  );
  expect([...shown, PATH_LINE]).toEqual(expect.arrayContaining(typed));
  expect(linesOf(page, 'Validate every change')).toHaveLength(3);
});

test('the workflow gives the token to the commands that need it for the first install, and to no other', () => {
  const withToken = stepsOfWorkflow().filter(({env}) => env?.['SCALR_AGENT_TOKEN'] !== undefined);
  expect(withToken.map(({run = ''}) => run.split(' ')[1])).toEqual(['preflight', 'install']);
});

function stepsOfWorkflow() {
  const {jobs} = parse(fileOf(page, 'GitHub Actions workflow')) as {
    jobs: Record<string, {steps: {run?: string; env?: Record<string, string>}[]}>;
  };
  return Object.values(jobs).flatMap(({steps}) => steps);
}

test('a lockfile pins the program, and npm refuses other bytes', async () => {
  const outside = await workshop();
  const {cwd} = outside;
  const run = (text: string, env: Readonly<Record<string, string>> = {}) =>
    type(text, {cwd, env: {...outside.env, npm_config_ignore_scripts: 'true', ...env}});
  const {text: create = ''} =
    page.get('Pin the program')?.find(({language}) => language === 'console') ?? {};
  const [install = '', audit] = linesOf(page, 'Pin the program').join('').trim().split('\n');
  expect(audit).toBe('npm audit signatures --prefix ci');
  const archive = `scalr-agent-install-${version}.tgz`;
  const lock = create.replace('$ ', '').replace(/scalr-agent-install@\S+/, `./${archive}`);
  expect(await run(`npm pack '${root}' && mkdir ci && ${lock}`)).toMatchObject({exitCode: 0});
  expect(await run(install)).toMatchObject({exitCode: 0});
  await run(PATH_LINE, {GITHUB_PATH: 'path.txt'});
  const PATH = `${readFileSync(join(cwd, 'path.txt'), 'utf8').trim()}:${outside.env.PATH}`;
  expect(await run('scalr-agent --version', {PATH})).toMatchObject({
    stdout: expect.stringContaining(version),
  });
  await run(`printf x >> ${archive}`);
  // The cache has the former bytes.
  const env = {npm_config_cache: join(outside.folder, 'cache')};
  expect(await run(install, env)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('EINTEGRITY'),
  });
});

test('the short versions in the README are part of these tests', () => {
  const short = linesOf(recipe('README.md'), 'Recipes').flatMap((text) => text.trim().split('\n'));
  const run = [page, recipe('docs/guide/air-gapped.md'), recipe('docs/guide/docker.md')].flatMap(
    (each) => [...each.keys()].flatMap((heading) => linesOf(each, heading)),
  );
  const typed = run.join('\n').split('\n');
  expect(short.length).toBeGreaterThan(3);
  expect(
    short.filter((line) => !typed.some((each) => each.startsWith(line.replace(/ #.*/, '')))),
  ).toEqual([]);
});
