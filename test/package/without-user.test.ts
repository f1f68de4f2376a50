import {spawnSync} from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, describe, expect, test} from 'vitest';
import {CHART_REPOSITORY} from '../../src/ground/command-line.ts';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {serveCharts} from '../support/made-up-charts.ts';
import {type Bin, built, ROOT} from './built.ts';

/** A user ID without an entry in /etc/passwd, in the root group, as OpenShift and `docker run --user` start containers. */
const AS_USER = ['--reuid', '12345', '--regid', '0', '--clear-groups', 'env', '-i'];

const canBecomeUser =
  process.getuid?.() === 0 &&
  spawnSync('setpriv', [
    ...AS_USER,
    process.execPath,
    '-e',
    `fs.readFileSync('${built('package.json')}')`,
  ]).status === 0;

const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
// Nobody else may enter it.
const closed = mkdtempSync(join(tmpdir(), 'scalr-agent-closed-'));
chmodSync(closed, 0o700);
chmodSync(folder, 0o755);
afterAll(() => {
  for (const each of [folder, closed]) rmSync(each, {recursive: true, force: true});
});

const run = (args: readonly string[], home: string | undefined, bin: Bin = 'scalr-agent') =>
  execa(
    'setpriv',
    [
      ...AS_USER,
      `PATH=${process.env['PATH']}`,
      ...(home === undefined ? [] : [`HOME=${home}`]),
      process.execPath,
      built(`dist/bin/${bin}.js`),
      ...args,
    ],
    {cwd: folder, reject: false, stdin: 'ignore', timeout: 60_000},
  );

/** What a cheap call of each command ends with: OK or the code of an error. */
const CALLS: Readonly<Record<string, readonly [string, string]>> = {
  'collect-logs': ['--kubectl /nowhere', 'TOOL_NOT_FOUND'],
  completion: ['bash', 'OK'],
  debug: ['on --kubectl /nowhere', 'TOOL_NOT_FOUND'],
  export: ['docker --url https://acme.scalr.io --dry-run', 'OK'],
  images: ['--chart agent-local', 'OK'],
  inspect: ['missing.zip', 'UNREADABLE_FILE'],
  install: ['--url https://acme.scalr.io --kubectl /nowhere', 'TOOL_NOT_FOUND'],
  migrate: ['missing.yaml', 'UNREADABLE_FILE'],
  network: ['--url https://acme.scalr.io --chart agent-local', 'OK'],
  'pool create': ['runs', 'NO_CREDENTIAL'],
  'pool delete': ['runs', 'NO_CREDENTIAL'],
  'pool link': ['runs --account-default', 'NO_CREDENTIAL'],
  'pool list': ['', 'NO_CREDENTIAL'],
  'pool show': ['runs', 'NO_CREDENTIAL'],
  'pool token create': ['runs', 'NO_CREDENTIAL'],
  'pool token list': ['runs', 'NO_CREDENTIAL'],
  'pool token revoke': ['runs at-1', 'NO_CREDENTIAL'],
  'pool unlink': ['runs --account-default', 'NO_CREDENTIAL'],
  preflight: ['--chart agent-local --timeout 1s --kubectl /nowhere', 'OK'],
  explain: ['OOMKilled', 'OK'],
  recommend: ['', 'OK'],
  'rotate-token': ['--kubectl /nowhere', 'TOOL_NOT_FOUND'],
  schema: ['--chart agent-local', 'OK'],
  status: ['--kubectl /nowhere', 'TOOL_NOT_FOUND'],
  uninstall: ['--kubectl /nowhere', 'TOOL_NOT_FOUND'],
  upgrade: ['--kubectl /nowhere', 'TOOL_NOT_FOUND'],
  validate: ['missing.yaml', 'UNREADABLE_FILE'],
  values: ['--url https://acme.scalr.io --chart agent-local', 'OK'],
};

const HOMES = [
  ['without HOME', undefined],
  ['with a HOME that cannot be written', '/'],
  ['with the HOME of another user', closed],
  ['with a HOME that is no directory', '/dev/null'],
] as const;

test('calls every command', () => {
  const {commands} = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8')) as {
    commands: Record<string, unknown>;
  };
  expect(Object.keys(CALLS).toSorted()).toEqual(
    Object.keys(commands)
      .map((id) => id.replaceAll(':', ' '))
      .toSorted(),
  );
});

describe.skipIf(!canBecomeUser)('a user ID without an entry in /etc/passwd', () => {
  test.each(Object.entries(CALLS))('runs %s', async (command, [args, expected]) => {
    const words = [...command.split(' '), ...args.split(' ').filter(Boolean), '--json'];
    for (const [, home] of HOMES) {
      const {stdout, stderr} = await run(words, home);
      expect(stderr).not.toMatch(/^\s+at |node:internal|SystemError/m);
      const {error = {code: 'OK'}} = JSON.parse(stdout) as {error?: {code: string}};
      expect(error, `${words.join(' ')} with HOME=${home}\n${stdout}`).toMatchObject({
        code: expected,
      });
    }
  });

  test.each(Object.keys(CALLS))('prints the help of %s', async (command) => {
    const {stdout, exitCode} = await run([...command.split(' '), '--help'], undefined);
    expect(stdout).toContain(`$ scalr-agent ${command}`);
    expect(exitCode).toBe(0);
  });

  test.each(HOMES)('starts the other program %s', async (_, home) => {
    const line = ['--kubectl', '/nowhere', '--url', 'https://acme.scalr.io', '--json'];
    const {stdout} = await run(line, home, 'scalr-agent-install');
    expect(JSON.parse(stdout)).toMatchObject({error: {code: 'TOOL_NOT_FOUND', exit: 2}});
    expect((await run(['--help'], home, 'scalr-agent-install')).exitCode).toBe(0);
  });

  test('downloads a chart with the helm of the user', async () => {
    const [{path: helm} = {path: 'helm'}] = await findHelm();
    const own = join(folder, 'helm');
    copyFileSync(helm, own);
    const chart = await directoryOf({chart: 'agent-local', version: '0.6.5'}, folder);
    await execa(own, ['package', chart, '--version', '0.9.9'], {cwd: folder});
    const {address, close} = await serveCharts(own, folder);
    const tool = join(folder, 'helm-with-repository');
    const replace = `for each; do shift; [ "$each" = ${CHART_REPOSITORY} ] && each=${address}; set -- "$@" "$each"; done`;
    writeFileSync(tool, `#!/bin/sh\n${replace}\nexec ${own} "$@"\n`, {mode: 0o755});
    const line = ['images', '--helm', tool, '--chart', 'agent-local', '--chart-version', '0.9.9'];
    for (const [, home] of HOMES) {
      const {stdout, stderr} = await run([...line, '--json'], home);
      expect(JSON.parse(stdout), stderr).toMatchObject({chartVersion: '0.9.9'});
    }
    close();
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('scalr-agent-helm-'))).toEqual(
      [],
    );
  });

  test.each(HOMES)('completes words %s', async (_, home) => {
    const {stdout, exitCode} = await run(['__complete', 'fish', 'install', '--cache='], home);
    expect(stdout).toMatch(/^pvc\t/m);
    expect(exitCode).toBe(0);
  });
});
