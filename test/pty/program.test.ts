import {execFile, execFileSync, spawnSync} from 'node:child_process';
import {cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {PROGRAM, ROOT} from '../package/built.ts';
import {onTerminal} from './terminal.ts';

const LINE = ['values', '--url', 'https://acme.scalr.io', '--chart', 'agent-local'];
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
});

/** Runs the built program without a terminal. */
const run = (args: readonly string[], input = '', env: Readonly<Record<string, string>> = {}) =>
  new Promise<{stdout: string; stderr: string; exit: number}>((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, ...args], {cwd: folder, env: {...process.env, ...env}}, (error, stdout, stderr) =>
      resolve({stdout, stderr, exit: error === null ? 0 : Number(error.code)}),
    );
    child.stdin?.end(input);
  });

describe('on a terminal', () => {
  beforeEach(() => writeFileSync(join(folder, 'values.yaml'), 'mine\n'));
  const line = [...LINE, '--out', 'values.yaml'];
  const file = () => readFileSync(join(folder, 'values.yaml'), 'utf8');

  test('y replaces the file', async () => {
    expect(await onTerminal(line, [{see: /Replace it\?/, press: 'y\r'}], folder)).toMatchObject({exit: 0, left: 0});
    expect(file()).toContain('acme.scalr.io');
  });

  test('Enter keeps it, because no is the default', async () => {
    const {screen, exit} = await onTerminal(line, [{see: /Replace it\?/, press: '\r'}], folder);
    expect(screen).toContain('Nothing was changed.');
    expect(exit).toBe(1);
    expect(file()).toBe('mine\n');
  });

  test('Ctrl-C at the question changes nothing and ends with 130', async () => {
    const {screen, exit, left} = await onTerminal(line, [{see: /Replace it\?/, press: '\u0003'}], folder);
    expect(screen).toContain('Cancelled. Nothing was changed.');
    expect({exit, left}).toEqual({exit: 130, left: 0});
    expect(readdirSync(folder)).toEqual(['values.yaml']);
    expect(file()).toBe('mine\n');
  });

  test('what nothing works without is asked for, and what cannot be meant is asked again', async () => {
    const steps = [
      {see: /Address of the Scalr account/, press: 'acme.scalr.io\r'},
      {see: /has no scheme/, press: '\u0015https://acme.scalr.io\r'},
    ];
    const {screen, exit, left} = await onTerminal(['values', '--chart', 'agent-local'], steps, folder);
    expect({exit, left}, screen).toEqual({exit: 0, left: 0});
    expect(screen).toContain('url: "https://acme.scalr.io"');
  });

  test('--no-input refuses instead of asking', async () => {
    const {screen, exit} = await onTerminal([...line, '--no-input'], [], folder);
    expect(screen).toContain('values.yaml exists.');
    expect(exit).toBe(2);
  });
});

describe('in a pipe', () => {
  test('the result is on standard output and the file it writes is the same', async () => {
    const {stdout, exit} = await run(LINE);
    expect(exit).toBe(0);
    await run([...LINE, '--out', 'values.yaml']);
    expect(readFileSync(join(folder, 'values.yaml'), 'utf8')).toBe(stdout);
  });

  test('a file with free text in it is readable by its owner alone', async () => {
    await run([...LINE, '--extra-env', 'A=b', '--out', 'values.yaml']);
    expect(statSync(join(folder, 'values.yaml')).mode & 0o777).toBe(0o600);
  });

  test('a device is written into, not replaced', async () => {
    expect((await run([...LINE, '--out', '/dev/null', '--yes'])).exit).toBe(0);
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  test('standard output under another name is standard output', async () => {
    const {stdout} = await run([...LINE, '--out', '/dev/stdout', '--json']);
    expect(JSON.parse(stdout).chart).toBe('agent-local');
  });

  test('a link to nothing is named, not replaced', async () => {
    symlinkSync('nowhere.yaml', join(folder, 'values.yaml'));
    const {stderr, exit} = await run([...LINE, '--out', 'values.yaml']);
    expect(stderr).toContain('values.yaml is a link to nothing.');
    expect(exit).toBe(2);
  });

  test('a file that is far too large is refused before it fills the memory', async () => {
    const {stderr, exit} = await run([...LINE, '--ca-file', '/dev/zero']);
    expect(stderr).toContain('larger than 2 MiB');
    expect(exit).toBe(2);
  });

  test('a reader that has seen enough is no failure', async () => {
    const script = `"$0" "$1" ${LINE.join(' ')} --quiet | head -c 1; echo "\${PIPESTATUS[0]}"`;
    const stdout = execFileSync('bash', ['-c', script, process.execPath, PROGRAM], {encoding: 'utf8'});
    expect(stdout).toBe('#0\n');
  });

  test.skipIf(!existsSync('/dev/full'))('a full disk behind standard output is a failure', () => {
    const {status, stderr} = spawnSync('bash', ['-c', `"$0" "$1" ${LINE.join(' ')} > /dev/full`, process.execPath, PROGRAM], {
      encoding: 'utf8',
    });
    expect(stderr).toContain('Cannot write to standard output: ENOSPC.');
    expect(status).toBe(1);
  });

  test('a token on standard input answers for the address, however late it comes', async () => {
    const token = `e30.${Buffer.from('{"host":"late.scalr.io"}').toString('base64url')}.c2ln`;
    const {stdout, stderr, exit} = await run(['values', '--token-file', '-'], `${token}\n`);
    expect(exit).toBe(0);
    expect(stdout).toContain('https://late.scalr.io');
    expect(stdout + stderr).not.toContain(token);
  });

  test.each([
    [['valeus'], 'UNKNOWN_COMMAND'],
    [['values', '--nonsense', 'hunter2'], 'UNKNOWN_FLAG'],
    [['values', 'hunter2'], 'USAGE'],
    [['values', '--debug=false'], 'USAGE'],
    [['values'], 'MISSING_SETTING'],
  ])('%j --json is one document with the code %s', async (args, code) => {
    const {stdout, exit} = await run([...args, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({schemaVersion: 1, error: {code, exit: 2}});
    expect(exit).toBe(2);
  });

  test('PowerShell hands over its words in a variable, and what does not fit is left out', async () => {
    const {stdout} = await run(['__complete', 'powershell'], '', {SCALR_AGENT_WORDS: 'install\n--chart\nagent-job\n--cache=p'});
    expect(stdout).toBe('values\n--cache=\npvc\t\n');
  });

  test('a directory that cannot be written to is named, and nothing is left behind', async () => {
    const {stderr, exit} = await run([...LINE, '--out', 'missing/values.yaml']);
    expect(stderr).toContain('Cannot write missing/values.yaml: there is no such file or directory.');
    expect(exit).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('help names every group of settings', async () => {
    const {stdout} = await run(['values', '--help']);
    for (const group of ['AGENT', 'NETWORK', 'TLS', 'STORAGE', 'PLACEMENT', 'GLOBAL']) expect(stdout).toContain(`${group} FLAGS`);
  });
});

describe('the package alone', () => {
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(folder, 'dist/bin/scalr-agent.js'), ...args], {cwd: folder, encoding: 'utf8'});
  beforeEach(() => {
    cpSync(join(ROOT, 'dist'), join(folder, 'dist'), {recursive: true});
    cpSync(join(ROOT, 'templates/completion'), join(folder, 'templates/completion'), {recursive: true});
    for (const file of ['package.json', 'oclif.manifest.json']) cpSync(join(ROOT, file), join(folder, file));
    writeFileSync(join(folder, 'values.yaml'), 'agent:\n  token: <token>\n');
  });

  test.each([
    [['--version'], 0, /^scalr-agent-install\/\d+\.\d+\.\d+ /],
    [
      ['--help'],
      0,
      /COMMANDS\n {2}collect-logs [\s\S]*\n {2}completion [\s\S]*\n {2}install [\s\S]*\n {2}preflight [\s\S]*\n {2}recommend [\s\S]*\n {2}status [\s\S]*\n {2}validate [\s\S]*\n {2}values /,
    ],
    [['--help'], 0, /^(?!.*__complete)/s],
    [['completion', 'bash'], 0, / complete -F \S+ scalr-agent scalr-agent-install\n/],
    [['__complete', 'fish', 'completion', 'f'], 0, /^values\n\nbash\t\nzsh\t\nfish\t\npowershell\t\n$/],
    [['recommend', '--help'], 0, /USAGE\n {2}\$ scalr-agent recommend/],
    [['install', '--help'], 0, /--dry-run/],
    [['valeus'], 2, /Did you mean values\?/],
    [['validate', '--nonsense'], 2, /There is no flag --nonsense\./],
    [['validate', 'values.yaml', '--chart', 'agent-job'], 3, /PLACEHOLDER/],
    [['validate', 'values.yaml', '--chart', 'agent-job', '--format', 'sarif'], 3, /"ruleId": "PLACEHOLDER"/],
    [['validate', 'values.yaml', '--chart', 'agent-job', '--fix'], 3, /Nothing was changed/],
    [[...LINE, '--ca-file', 'values.yaml'], 2, /is neither PEM nor DER/],
    [[...LINE, '--out', 'other.yaml', '--json'], 0, /"chart": "agent-local"/],
  ])('%j needs nothing beside itself', (args, exit, says) => {
    const {status, stdout, stderr} = run(...args);
    expect(stdout + stderr).toMatch(says);
    expect(stderr).not.toContain('BUG');
    expect(status).toBe(exit);
  });

  test('a press of Tab needs neither the commands nor what starts them', () => {
    const dist = join(folder, 'dist');
    const files = readdirSync(dist, {recursive: true, encoding: 'utf8'});
    for (const name of files) if (/^commands\/|(^|\/)start\b/.test(name)) rmSync(join(dist, name));
    expect(run(...LINE).status).toBe(1);
    expect(run('__complete', 'fish', 'values', '--log-format', '').stdout).toBe('values\n\njson\t\nplain\t\ndev\t\n');
    expect(run('__complete', 'fish', 'values', '--chart-version', '').stdout).toContain('\n0.6.5\t');
  });
});

describe('validate --fix on a terminal', () => {
  const wrong = 'agent:\r\n  tokenExistingSecrt: {name: t} # mine\r\n';
  const right = wrong.replace('Secrt', 'Secret');
  const line = ['validate', 'values.yaml', '--chart', 'agent-job', '--fix'];
  const file = () => readFileSync(join(folder, 'values.yaml'), 'utf8');
  const question = /Write this change to values\.yaml\?/;
  beforeEach(() => writeFileSync(join(folder, 'values.yaml'), wrong, {mode: 0o640}));

  test('y writes it, after showing it, and keeps its permissions', async () => {
    const {screen, exit, left} = await onTerminal(line, [{see: question, press: 'y\r'}], folder);
    expect({exit, left}).toEqual({exit: 0, left: 0});
    expect(screen).toContain('+  tokenExistingSecret: {name: t} # mine');
    expect(screen).toContain('values.yaml: 1 fixed');
    expect(file()).toBe(right);
    expect(statSync(join(folder, 'values.yaml')).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder)).toEqual(['values.yaml']);
  });

  test('Enter keeps it, because no is the default, and the mistake is reported', async () => {
    const {screen, exit} = await onTerminal(line, [{see: question, press: '\r'}], folder);
    expect(screen).toContain('Nothing was changed.');
    expect(screen).toContain('UNKNOWN_KEY');
    expect(exit).toBe(3);
    expect(file()).toBe(wrong);
  });

  test('Ctrl-C at the question leaves the file untouched and ends with 130', async () => {
    const {screen, exit, left} = await onTerminal(line, [{see: question, press: '\u0003'}], folder);
    expect(screen).toContain('Cancelled. Nothing was changed.');
    expect({exit, left}).toEqual({exit: 130, left: 0});
    expect(readdirSync(folder)).toEqual(['values.yaml']);
    expect(file()).toBe(wrong);
  });

  test('in a pipe --yes writes, through a link too', async () => {
    symlinkSync('values.yaml', join(folder, 'link.yaml'));
    const {stderr, exit} = await run(['validate', 'link.yaml', '--chart', 'agent-job', '--fix', '--yes']);
    expect(stderr).toContain('Wrote link.yaml.');
    expect(exit).toBe(0);
    expect(file()).toBe(right);
    expect(lstatSync(join(folder, 'link.yaml')).isSymbolicLink()).toBe(true);
  });

  test('standard input is checked, and a pipe is not rewritten', async () => {
    expect((await run(['validate', '-', '--chart', 'agent-job'], wrong)).stdout).toContain('-:2:3 error');
    const script = `"$0" "$1" validate <(cat values.yaml) --chart agent-job --fix`;
    const {status, stderr} = spawnSync('bash', ['-c', script, process.execPath, PROGRAM], {encoding: 'utf8', cwd: folder});
    expect(stderr).toContain('--fix rewrites files, and /dev/fd/');
    expect(status).toBe(2);
  });
});
