import {mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {delimiter, dirname, join, resolve} from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {NODE_RELEASES, nodeRelease} from '../support/node-releases.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const {version, engines} = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
  engines: {node: string};
};
const SETTINGS = ['--url', 'https://acme.scalr.io', '--chart', 'agent-job', '--cache', 'pvc'];

let folder: string;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'scalr-agent-packed-')));
  await execa('npm', ['pack', '--pack-destination', folder, '--loglevel=error'], {cwd: ROOT});
  const [tarball = ''] = readdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"private": true}');
  // What needs anything else than the tarball fails here.
  await execa(
    'npm',
    ['install', `./${tarball}`, '--offline', '--no-audit', '--no-fund', '--loglevel=error'],
    {cwd: folder},
  );
});
afterAll(() => rmSync(folder, {recursive: true, force: true}));

test('installs as a single package', () => {
  const {packages} = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: object;
  };
  expect(Object.keys(packages)).toEqual(['', 'node_modules/scalr-agent-install']);
});

test('tests the oldest Node.js version that the package promises', () => {
  expect(engines.node).toBe(`>=${NODE_RELEASES[0]?.replace(/\.0$/, '')}`);
});

describe.each(NODE_RELEASES)('on Node.js %s', (release) => {
  let node: string;
  beforeAll(async () => {
    node = await nodeRelease(release);
  });

  /** As a shell would, by name: no terminal, no helm, no kubectl, nothing of the developer's. */
  const run = async (bin: string, ...args: string[]) => {
    const path = [join(folder, 'node_modules', '.bin'), dirname(node)].join(delimiter);
    const {PATH: _, ...rest} = process.env;
    const env = {...rest, HOME: folder, PATH: path, Path: path};
    const {exitCode, stdout, stderr} = await execa(bin, args, {
      cwd: folder,
      env,
      extendEnv: false,
      stdin: 'ignore',
      reject: false,
    });
    return {exit: exitCode, stdout, stderr};
  };

  test.each([
    'scalr-agent',
    'scalr-agent-install',
  ])('%s prints its version and help', async (bin) => {
    const said = await run(bin, '--version');
    expect(said).toMatchObject({exit: 0, stderr: ''});
    expect(said.stdout).toContain(version);
    expect(said.stdout).toContain(`node-v${release}`);
    const help = await run(bin, '--help');
    expect(help).toMatchObject({exit: 0, stderr: ''});
    expect(help.stdout).toContain('USAGE');
  });

  test('values writes a file that validate accepts', async () => {
    expect(
      await run('scalr-agent', 'values', ...SETTINGS, '--out', 'values.yaml', '--yes'),
    ).toMatchObject({exit: 0});
    expect(readFileSync(join(folder, 'values.yaml'), 'utf8')).toContain('acme.scalr.io');
    expect(await run('scalr-agent', 'validate', 'values.yaml')).toMatchObject({exit: 0});
    const {exit, stdout} = await run('scalr-agent', 'validate', 'values.yaml', '--json');
    expect({exit, ...JSON.parse(stdout)}).toMatchObject({exit: 0, chart: 'agent-job', valid: true});
  });

  test('validate finds a mistake', async () => {
    writeFileSync(join(folder, 'wrong.yaml'), 'agent:\n  tokne: x\n');
    const {exit, stdout} = await run(
      'scalr-agent',
      'validate',
      'wrong.yaml',
      '--chart',
      'agent-job',
    );
    expect(exit).toBe(3);
    expect(stdout).toContain('agent.token');
  });

  test('suggests the right flag for a mistyped one', async () => {
    const {exit, stdout, stderr} = await run('scalr-agent', 'values', '--cahce', 'pvc');
    expect({exit, stdout}).toEqual({exit: 2, stdout: ''});
    expect(stderr).toContain('--cache');
  });

  test.each([
    ['status'],
    ['collect-logs'],
  ])('%s reports missing kubectl and helm with a next step', async (command) => {
    const {exit, stdout, stderr} = await run('scalr-agent', command);
    expect({exit, stdout}).toEqual({exit: 2, stdout: ''});
    expect(stderr).toMatch(/^Error: (kubectl|helm) not found on PATH/);
  });

  test.each([
    ['scalr-agent', 'install'],
    ['scalr-agent-install'],
  ])('%s %s asks nothing without a terminal', async (bin, ...args) => {
    const {exit, stdout, stderr} = await run(bin, ...args);
    expect({exit, stdout}).toEqual({exit: 2, stdout: ''});
    expect(stderr).toContain('--url');
  });
});
