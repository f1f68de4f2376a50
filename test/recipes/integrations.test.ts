import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {execa} from 'execa';
import {beforeEach, describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {root} from '../docs/commands.ts';
import {PROGRAM} from '../package/built.ts';
import {fileOf, recipe, type} from './recipe.ts';
import {workshop} from './workshop.ts';

const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {version: string};
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const page = recipe('docs/guide/ci.md');

/** npx with the built program, if it is asked for this version of the package. */
const NPX = {
  npx: `[ "$1 $2" = "--yes scalr-agent-install@\${EXPECTED:-${version}}" ] || { echo "unexpected: npx $*" >&2; exit 99; }
shift 2; exec '${process.execPath}' '${PROGRAM}' "$@"`,
};
const HEADER = '# Values of agent-local 0.6.5 (agent 1.4.0).\n';
const GOOD = `${HEADER}agent:\n  url: "https://acme.scalr.io"\n  tokenExistingSecret: {name: token}\n`;
const WRONG = GOOD.replace('url', 'urll');
const ANNOTATION =
  /^::error file=prod\/values\.yaml,line=3,col=3,title=UNKNOWN_KEY::agent\.urll: /m;

let shop: Awaited<ReturnType<typeof workshop>>;
const git = (...args: string[]) =>
  execa('git', ['-c', 'user.name=a', '-c', 'user.email=a', ...args], {cwd: shop.cwd});
async function commit(files: Readonly<Record<string, string>>): Promise<string> {
  for (const [name, text] of Object.entries(files)) {
    await execa('mkdir', ['-p', join(shop.cwd, name, '..')]);
    shop.write(name, text);
  }
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'a');
  return (await git('rev-parse', 'HEAD')).stdout;
}

beforeEach(async () => {
  shop = await workshop(NPX);
  await git('init', '--quiet');
});

describe('action.yml', () => {
  interface Action {
    inputs: Record<string, {default?: string; required?: boolean}>;
    runs: {steps: {run: string; env: Record<string, string>}[]};
  }
  const {inputs, runs} = parse(read('action.yml')) as Action;
  const [step] = runs.steps as [Action['runs']['steps'][0]];

  /** Runs the step with these inputs, in a clone of the pull request as actions/checkout makes it. */
  async function act(given: Readonly<Record<string, string>>, base = '') {
    const clone = join(shop.folder, 'clone');
    await execa('git', ['clone', '--quiet', '--depth=1', `file://${shop.cwd}`, clone]);
    const values = Object.entries(step.env).map(([name, text]) => {
      const input = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(text)?.[1];
      expect(input !== undefined || name === 'BASE', text).toBe(true);
      return [name, input === undefined ? base : (given[input] ?? inputs[input]?.default ?? '')];
    });
    const env = {...shop.env, GITHUB_ACTION_PATH: root, ...Object.fromEntries(values)};
    return execa('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run], {
      cwd: clone,
      env,
      reject: false,
    });
  }
  const files = '**/values.yaml';

  test('uses no input inside of its script', () => {
    expect(runs.steps).toHaveLength(1);
    expect(step.run).not.toContain('${{');
    expect(Object.keys(inputs)).toEqual(['files', 'chart', 'chart-version', 'strict', 'version']);
  });

  test('annotates the lines of changed files only', async () => {
    const base = await commit({'old/values.yaml': WRONG, 'prod/values.yaml': GOOD});
    await git('config', 'uploadpack.allowAnySHA1InWant', 'true');
    await commit({'prod/values.yaml': WRONG});
    const {stdout, exitCode} = await act({files}, base);
    expect(stdout).toMatch(ANNOTATION);
    expect(stdout).not.toContain('old/');
    expect(exitCode).toBe(3);
  });

  test('validates all files outside of a pull request', async () => {
    await commit({'a b/values.yaml': WRONG, 'prod/eu/values.yaml': WRONG, 'values.yaml': WRONG});
    const wrong = async (files: string): Promise<(string | undefined)[]> => {
      await execa('rm', ['-rf', join(shop.folder, 'clone')]);
      const {stdout} = await act({files});
      return [...stdout.matchAll(/^::error file=([^,]*)/gm)].map(([, name]) => name);
    };
    expect(await wrong('**/values.yaml\n')).toEqual([
      'a b/values.yaml',
      'prod/eu/values.yaml',
      'values.yaml',
    ]);
    expect(await wrong('*/values.yaml')).toEqual(['a b/values.yaml']);
  });

  test('validates the whole repository without patterns', async () => {
    await commit({'a/values.yaml': WRONG, 'b/values.yaml': 'replicaCount: 1\n'});
    const {stdout, exitCode} = await act({});
    expect(stdout).toMatch(/^::error file=a\/values\.yaml/m);
    expect(stdout).not.toContain('b/values.yaml');
    expect(exitCode).toBe(3);
  });

  test('succeeds if no values file was changed', async () => {
    const base = await commit({'prod/values.yaml': WRONG, 'README.md': 'a'});
    await git('config', 'uploadpack.allowAnySHA1InWant', 'true');
    await commit({'README.md': 'b'});
    expect(await act({files}, base)).toMatchObject({
      exitCode: 0,
      stdout: 'No values files to validate.',
    });
  });

  test('passes chart, version and strictness on', async () => {
    await commit({
      'prod/values.yaml':
        'agent: {url: "https://acme.scalr.io", token: abc, tokenExistingSecret: {name: token}}\n',
    });
    const chart = {chart: 'agent-local', 'chart-version': '0.6.4'};
    expect(await act({files, ...chart})).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('::warning file=prod/values.yaml'),
    });
    await execa('rm', ['-rf', join(shop.folder, 'clone')]);
    expect(await act({files, ...chart, strict: 'true'})).toMatchObject({exitCode: 4});
  });

  test('takes another version of the package', async () => {
    await commit({'prod/values.yaml': GOOD});
    expect(await act({files, version: '9.9.9'})).toMatchObject({
      exitCode: 99,
      stderr: expect.stringContaining('scalr-agent-install@9.9.9'),
    });
  });

  test('is used by the guide with inputs that exist', () => {
    const {jobs} = parse(fileOf(page, 'GitHub pull requests')) as {
      jobs: Record<string, {steps: {uses: string; with?: object}[]}>;
    };
    const used = Object.values(jobs).flatMap(({steps}) =>
      steps.filter(({uses}) => uses.startsWith('Scalr/scalr-agent-install@')),
    );
    expect(used).toHaveLength(1);
    expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(used[0]?.with ?? {})));
  });
});

describe('.pre-commit-hooks.yaml', () => {
  const [hook] = parse(read('.pre-commit-hooks.yaml')) as [
    {id: string; entry: string; args: string[]; types_or: string[]; language: string},
  ];

  test.each([
    [GOOD, 0, '1 checked'],
    [WRONG, 3, 'UNKNOWN_KEY'],
  ])('checks what is about an agent, without file names', async (text, exitCode, shown) => {
    await commit({
      'prod/values.yaml': text,
      'app/values.yaml': 'replicaCount: 1\n',
      'main.tf': 'resource "helm_release" "a" {\n  chart = "scalr/agent-local"\n}\n',
      '.gitignore': 'ignored\n',
    });
    shop.write('ignored', WRONG);
    expect(hook).toMatchObject({language: 'script', pass_filenames: false});
    const found = await type(`'${join(root, hook.entry)}' ${hook.args.join(' ')}`, shop);
    expect(found).toMatchObject({exitCode, stdout: expect.stringContaining(shown)});
    expect(found.stdout).toContain('main.tf not checked: ');
  });

  test('is the hook of the guide', () => {
    const {repos} = parse(fileOf(page, 'pre-commit')) as {repos: {hooks: {id: string}[]}[]};
    expect(repos[0]?.hooks[0]?.id).toBe(hook.id);
  });
});

describe('integrations/gitlab.yml', () => {
  const {variables, 'validate-scalr-agent-values': job} = parse(
    read('integrations/gitlab.yml'),
  ) as {
    variables: Record<string, string>;
    'validate-scalr-agent-values': {
      script: string[];
      after_script: string[];
      artifacts: {reports: {junit: string}};
    };
  };
  const env = (): Record<string, string> => ({
    ...shop.env,
    ...variables,
  });

  test('writes a report of all files, and fails on errors', async () => {
    await commit({'a/values.yaml': GOOD, 'prod/values.yaml': WRONG});
    const given = {
      ...env(),
      SCALR_VALUES_FILES: '*/values.yaml',
      SCALR_VALUES_FLAGS: '--strict --chart agent-local',
    };
    expect(await type(job.script.join('\n'), {...shop, env: given})).toMatchObject({exitCode: 3});
    const {stdout} = await type(job.after_script.join('\n'), shop);
    expect(stdout).toContain('<testsuite name="prod/values.yaml" tests="1" failures="1"');
    expect(job.artifacts.reports.junit).toBe('scalr-agent-values.xml');
  });

  test('succeeds for valid values', async () => {
    shop.write('values.yaml', GOOD);
    expect(await type(job.script.join('\n'), {...shop, env: env()})).toMatchObject({exitCode: 0});
  });

  test('has the variables that the guide sets', () => {
    const set = parse(fileOf(page, 'GitLab merge requests')) as {variables: object};
    expect(Object.keys(variables)).toEqual(expect.arrayContaining(Object.keys(set.variables)));
  });
});

test('examples and files for pipelines name the version of this package', () => {
  const files = [
    'action.yml',
    '.pre-commit-hooks.yaml',
    ...['integrations/gitlab.yml', 'integrations/validate.sh'],
    ...['docs/guide/ci.md', 'docs/guide/gitlab-ci.md'],
  ];
  const installs = /(?:npm (?:install|i) .*|npx .*|VALIDATOR: )scalr-agent-install\S*/g;
  const releases = /(?:scalr-agent-install[@/]v|rev: v)[\d.]+/gi;
  const unpinned = files.flatMap((file) => {
    const text = read(file);
    const wrong = [
      ...[...text.matchAll(installs)].filter(
        ([found]) => !found.endsWith(`@${version}`) && !found.endsWith('@$version"'),
      ),
      ...[...text.matchAll(releases)].filter(([found]) => !found.endsWith(`v${version}`)),
    ];
    return wrong.map(([found]) => `${file}: ${found}`);
  });
  expect(unpinned).toEqual([]);
});
