import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {homedir, tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {HOST_TARGETS} from '../../../src/charts/host/host.ts';
import {FLEET_TARGETS} from '../../../src/extensions/fleet/engines.ts';
import {runBuilt} from '../../package/built.ts';
import {certificates} from '../../support/certificates.ts';
import {runIn} from '../../support/run-in.ts';

/** Every input is given as an absolute path, and all files are written to another directory, which is the working directory. */
function machine() {
  const home = mkdtempSync(join(tmpdir(), 'someone-'));
  onTestFinished(() => rmSync(home, {recursive: true, force: true}));
  for (const name of ['clusters', 'plugins', 'out']) mkdirSync(join(home, name));
  const at = (name: string): string => join(home, name);
  writeFileSync(at('company-ca.pem'), String(certificates['ca.pem']));
  writeFileSync(at('more.yaml'), 'podAnnotations: {team: a}\n');
  writeFileSync(
    at('answers.yaml'),
    `url: https://acme.scalr.io\nca-file: ${at('company-ca.pem')}\n`,
  );
  writeFileSync(at('clusters/eu-1.yaml'), 'kube-context: eu-1\n');
  writeFileSync(at('clusters/eu-2.yaml'), `values-file: [${at('more.yaml')}]\n`);
  const run = async (...argv: string[]): Promise<string> => {
    const {exit, stdout, stderr} = await runIn(at('out'), argv);
    expect(exit, stderr).toBe(0);
    return stdout;
  };
  /** The same in a process of its own. */
  const runProgram = (...argv: string[]): string => {
    const cwd = at('out');
    const {status, stdout, stderr} = runBuilt('scalr-agent', argv, {cwd, timeoutMs: 60_000});
    expect(status, stderr).toBe(0);
    return stdout;
  };
  /** Lines of the files with a path of this machine. */
  const leaks = (): string[] =>
    readdirSync(at('out'), {recursive: true, encoding: 'utf8'})
      .filter((file) => statSync(join(at('out'), file)).isFile())
      .flatMap((file) =>
        readFileSync(join(at('out'), file), 'utf8')
          .split('\n')
          .filter((line) => [basename(home), tmpdir(), homedir()].some((path) => isIn(line, path)))
          .map((line) => `${file}: ${line}`),
      );
  return {at, run, runProgram, leaks};
}

/** A home directory of / is in every path. */
const isIn = (line: string, path: string): boolean => path.length > 1 && line.includes(path);

const ADDRESS = ['--url', 'https://acme.scalr.io'];
/** A repository takes only relative paths. */
const placeOf = (target: string, at: (name: string) => string) =>
  target.startsWith('argocd')
    ? {git: ['--git-url', 'https://git.example.com/agents.git'], out: (name: string) => name}
    : {git: [], out: (name: string) => at(`out/${name}`)};

describe('no generated file contains a path of the machine that made it', () => {
  test.each(FLEET_TARGETS)('export %s, for one cluster and for several', async (target) => {
    const {at, run, leaks} = machine();
    const {git, out} = placeOf(target, at);
    const chart = ['--chart', 'agent-local', '--values-file', at('more.yaml')];
    const inputs = ['--ca-file', at('company-ca.pem'), ...chart];
    await run('export', target, ...ADDRESS, ...inputs, ...git, '--out', out('one'));
    const overlay = [
      '--answers',
      at('answers.yaml'),
      '--overlay',
      at('clusters'),
      '--chart',
      'agent-local',
    ];
    await run('export', target, ...overlay, ...git, '--out', out('several'));
    expect(leaks()).toEqual([]);
    expect(readFileSync(at('out/one/README.md'), 'utf8')).toContain('--ca-file company-ca.pem');
    expect(readFileSync(at('out/several/README.md'), 'utf8')).toContain(
      '--answers answers.yaml --overlay clusters',
    );
  });

  test.each(HOST_TARGETS)('export %s', async (target) => {
    const {at, run, leaks} = machine();
    await run(
      'export',
      target,
      ...ADDRESS,
      '--ca-file',
      at('company-ca.pem'),
      '--out',
      at('out/agent'),
    );
    expect(leaks()).toEqual([]);
  });

  test('export dockerfile', async () => {
    const {at, run, leaks} = machine();
    const inputs = ['--ca-file', at('company-ca.pem'), '--plugins', at('plugins')];
    await run(
      'export',
      'dockerfile',
      ...ADDRESS,
      '--chart',
      'agent-job',
      ...inputs,
      '--out',
      at('out/image'),
    );
    expect(leaks()).toEqual([]);
    expect(readFileSync(at('out/image/Dockerfile'), 'utf8')).toContain('COPY ["plugins",');
  });

  test('values, its schema and its standard output', () => {
    const {at, runProgram, leaks} = machine();
    const inputs = [
      ...ADDRESS,
      '--chart',
      'agent-local',
      '--ca-file',
      at('company-ca.pem'),
      '--values-file',
      at('more.yaml'),
    ];
    runProgram(
      'values',
      ...inputs,
      '--out',
      at('out/values.yaml'),
      '--schema',
      at('out/values.schema.json'),
    );
    const printed = runProgram('values', ...inputs, '--schema', at('printed.schema.json'));
    writeFileSync(at('out/printed.yaml'), printed);
    expect(leaks()).toEqual([]);
    expect(printed).toContain('--values-file more.yaml');
    expect(printed).toContain('$schema=printed.schema.json\n');
  });

  test('values of a chart in a directory', async () => {
    const {at, run, leaks} = machine();
    mkdirSync(at('agent-local'));
    writeFileSync(at('agent-local/Chart.yaml'), 'name: agent-local\nversion: 0.6.4\n');
    writeFileSync(at('agent-local/values.yaml'), '{}\n');
    writeFileSync(
      at('out/values.yaml'),
      await run('values', ...ADDRESS, '--chart-source', at('agent-local')),
    );
    expect(leaks()).toEqual([]);
    expect(readFileSync(at('out/values.yaml'), 'utf8')).not.toContain('--chart-source');
  });

  test('images for a machine without a route', async () => {
    const {at, run, leaks} = machine();
    await run(
      'images',
      '--chart',
      'agent-local',
      '--format',
      'oci-layout-script',
      '--out',
      at('out/images.sh'),
    );
    expect(leaks()).toEqual([]);
  });
});

test('generated files tell how they were made, not how to download a program', async () => {
  const {at, run} = machine();
  await run('values', ...ADDRESS, '--chart', 'agent-local', '--out', at('out/values.yaml'));
  for (const target of [...HOST_TARGETS, ...FLEET_TARGETS]) {
    const {git, out} = placeOf(target, at);
    const proxy = ['--https-proxy', 'http://proxy.example.com:3128', '--no-proxy', '.example.com'];
    await run('export', target, ...ADDRESS, ...proxy, ...git, '--out', out(target));
  }
  const texts = readdirSync(at('out'), {recursive: true, encoding: 'utf8'})
    .filter((file) => statSync(join(at('out'), file)).isFile())
    .map((file) => readFileSync(join(at('out'), file), 'utf8'));
  expect(texts.length).toBeGreaterThan(15);
  expect(
    texts.filter((text) =>
      /npx|npm (?:install|i|exec)\b|(?<!Scalr\/)scalr-agent-install(?! export systemd)/.test(text),
    ),
  ).toEqual([]);
  const ownLines = /^(?:\/\S+\n)+$/;
  expect(
    texts.filter(
      (text) => !ownLines.test(text) && !/generated by (?:scalr-agent|this command)/i.test(text),
    ),
  ).toEqual([]);
});
