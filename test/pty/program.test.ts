import {execFile, execFileSync, spawnSync} from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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
    const child = execFile(
      process.execPath,
      [PROGRAM, ...args],
      {cwd: folder, env: {...process.env, ...env}},
      (error, stdout, stderr) =>
        resolve({stdout, stderr, exit: error === null ? 0 : Number(error.code)}),
    );
    child.stdin?.end(input);
  });

describe('on a terminal', () => {
  beforeEach(() => writeFileSync(join(folder, 'values.yaml'), 'mine\n'));
  const line = [...LINE, '--out', 'values.yaml'];
  const file = () => readFileSync(join(folder, 'values.yaml'), 'utf8');

  test('replaces the file on y', async () => {
    expect(await onTerminal(line, [{see: /Replace it\?/, press: 'y\r'}], folder)).toMatchObject({
      exit: 0,
      left: 0,
    });
    expect(file()).toContain('acme.scalr.io');
  });

  test('takes 80 columns for a terminal without a size', async () => {
    const shell = 'stty rows 0 cols 0; exec "$@"';
    const steps = [{see: /Where will the agent run\?[\s\S]*Esc quit/, press: '\u0003'}];
    const {exit, screen} = await onTerminal(['install'], steps, folder, {shell});
    expect(exit, screen).toBe(130);
    const progress = await onTerminal(line, [{see: /Replace it\?/, press: 'y\r'}], folder, {shell});
    expect(progress.exit, progress.screen).toBe(0);
  });

  test('keeps the file on Enter, because no is the default', async () => {
    const {screen, exit} = await onTerminal(line, [{see: /Replace it\?/, press: '\r'}], folder);
    expect(screen).toContain('Nothing was changed.');
    expect(exit).toBe(1);
    expect(file()).toBe('mine\n');
  });

  test('changes nothing and exits with 130 on Ctrl-C at the question', async () => {
    const {screen, exit, left} = await onTerminal(
      line,
      [{see: /Replace it\?/, press: '\u0003'}],
      folder,
    );
    expect(screen).toContain('Canceled. Nothing was changed.');
    expect({exit, left}).toEqual({exit: 130, left: 0});
    expect(readdirSync(folder)).toEqual(['values.yaml']);
    expect(file()).toBe('mine\n');
  });

  test('asks for required settings, and again after an invalid answer', async () => {
    const steps = [
      {see: /Scalr URL/, press: 'ftp://acme.scalr.io\r'},
      {see: /does not start with https/, press: '\u0015https://acme.scalr.io\r'},
    ];
    const {screen, exit, left} = await onTerminal(
      ['values', '--chart', 'agent-local'],
      steps,
      folder,
    );
    expect({exit, left}, screen).toEqual({exit: 0, left: 0});
    expect(screen).toContain('url: "https://acme.scalr.io"');
  });

  test('refuses with --no-input instead of asking', async () => {
    const {screen, exit} = await onTerminal([...line, '--no-input'], [], folder);
    expect(screen).toContain('values.yaml already exists.');
    expect(exit).toBe(2);
  });
});

describe('in a pipe', () => {
  test('prints the result on standard output, the same as the file it writes', async () => {
    const {stdout, exit} = await run(LINE);
    expect(exit).toBe(0);
    await run([...LINE, '--out', 'values.yaml']);
    expect(readFileSync(join(folder, 'values.yaml'), 'utf8')).toBe(stdout);
  });

  test('makes a file with free text readable by its owner only', async () => {
    await run([...LINE, '--extra-env', 'A=b', '--out', 'values.yaml']);
    expect(statSync(join(folder, 'values.yaml')).mode & 0o777).toBe(0o600);
  });

  test('writes into a device instead of replacing it', async () => {
    expect((await run([...LINE, '--out', '/dev/null', '--yes'])).exit).toBe(0);
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  test('treats another name of standard output as standard output', async () => {
    const {stdout} = await run([...LINE, '--out', '/dev/stdout', '--json']);
    expect(JSON.parse(stdout).chart).toBe('agent-local');
  });

  test('reports a broken symbolic link instead of replacing it', async () => {
    symlinkSync('nowhere.yaml', join(folder, 'values.yaml'));
    const {stderr, exit} = await run([...LINE, '--out', 'values.yaml']);
    expect(stderr).toContain('values.yaml is a broken symbolic link.');
    expect(exit).toBe(1);
  });

  test('refuses a file that is too large before it fills the memory', async () => {
    const {stderr, exit} = await run([...LINE, '--ca-file', '/dev/zero']);
    expect(stderr).toContain('larger than 2 MiB');
    expect(exit).toBe(2);
  });

  test('succeeds when the reader closes the pipe early', async () => {
    const script = `"$0" "$1" ${LINE.join(' ')} --quiet | head -c 1; echo "\${PIPESTATUS[0]}"`;
    const stdout = execFileSync('bash', ['-c', script, process.execPath, PROGRAM], {
      encoding: 'utf8',
    });
    expect(stdout).toBe('#0\n');
  });

  test.skipIf(!existsSync('/dev/full'))(
    'fails when the disk behind standard output is full',
    () => {
      const {status, stderr} = spawnSync(
        'bash',
        ['-c', `"$0" "$1" ${LINE.join(' ')} > /dev/full`, process.execPath, PROGRAM],
        {
          encoding: 'utf8',
        },
      );
      expect(stderr).toContain('Cannot write to standard output: ENOSPC.');
      expect(status).toBe(1);
    },
  );

  test('reads the address from a token on standard input, however late it arrives', async () => {
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
  ])('prints one document for %j --json with the code %s', async (args, code) => {
    const {stdout, exit} = await run([...args, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({schemaVersion: 1, error: {code, exit: 2}});
    expect(exit).toBe(2);
  });

  test('completes the words that PowerShell passes in a variable, and omits what does not match', async () => {
    const {stdout} = await run(['__complete', 'powershell'], '', {
      SCALR_AGENT_WORDS: 'install\n--chart\nagent-job\n--cache=p',
    });
    expect(stdout).toBe('values\n--cache=\npvc\t\n');
  });

  test('reports a directory that cannot be written to, and leaves nothing behind', async () => {
    const {stderr, exit} = await run([...LINE, '--out', 'missing/values.yaml']);
    expect(stderr).toContain('Cannot write missing/values.yaml: no such file or directory.');
    expect(exit).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('lists every group of settings in the help', async () => {
    const {stdout} = await run(['values', '--help']);
    for (const group of ['AGENT', 'NETWORK', 'TLS', 'STORAGE', 'PLACEMENT', 'GLOBAL'])
      expect(stdout).toContain(`${group} FLAGS`);
  });
});

describe('the package alone', () => {
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(folder, 'dist/bin/scalr-agent.js'), ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
  beforeEach(() => {
    cpSync(join(ROOT, 'dist'), join(folder, 'dist'), {recursive: true});
    cpSync(join(ROOT, 'templates/completion'), join(folder, 'templates/completion'), {
      recursive: true,
    });
    for (const file of ['package.json', 'oclif.manifest.json'])
      cpSync(join(ROOT, file), join(folder, file));
    writeFileSync(join(folder, 'values.yaml'), 'agent:\n  token: <token>\n');
  });

  test.each([
    [['--version'], 0, /^scalr-agent-install\/\d+\.\d+\.\d+ /],
    [
      ['--help'],
      0,
      /SET UP\n {2}install [\s\S]*\n {2}recommend [\s\S]*\n {2}preflight [\s\S]*\n {2}status [\s\S]*\n {2}collect-logs [\s\S]*\n {2}values [\s\S]*\n {2}validate [\s\S]*\n {2}completion /,
    ],
    [['--help'], 0, /^(?!.*__complete)/s],
    [['completion', 'bash'], 0, / complete -F \S+ scalr-agent scalr-agent-install\n/],
    [
      ['__complete', 'fish', 'completion', 'f'],
      0,
      /^values\n\nbash\t\nzsh\t\nfish\t\npowershell\t\n$/,
    ],
    [['recommend', '--help'], 0, /USAGE\n {2}\$ scalr-agent recommend/],
    [['install', '--help'], 0, /--dry-run/],
    [['valeus'], 2, /Did you mean values\?/],
    [['validate', '--nonsense'], 2, /Unknown flag: --nonsense\./],
    [['validate', 'values.yaml', '--chart', 'agent-job'], 3, /PLACEHOLDER/],
    [
      ['validate', 'values.yaml', '--chart', 'agent-job', '--format', 'sarif'],
      3,
      /"ruleId": "PLACEHOLDER"/,
    ],
    [['validate', 'values.yaml', '--chart', 'agent-job', '--fix'], 3, /Nothing was changed/],
    [[...LINE, '--ca-file', 'values.yaml'], 2, /is neither PEM nor DER/],
    [[...LINE, '--out', 'other.yaml', '--json'], 0, /"chart": "agent-local"/],
  ])('runs %j without any other package', (args, exit, says) => {
    const {status, stdout, stderr} = run(...args);
    expect(stdout + stderr).toMatch(says);
    expect(stderr).not.toContain('BUG');
    expect(status).toBe(exit);
  });

  test('completes on Tab with the command on the line, without other commands and the code that starts them', () => {
    const dist = join(folder, 'dist');
    const files = readdirSync(dist, {recursive: true, encoding: 'utf8'});
    for (const name of files)
      if (/^commands\/(?!values).*\.js$|(^|\/)start\b/.test(name)) rmSync(join(dist, name));
    expect(run(...LINE).status).toBe(1);
    expect(run('__complete', 'fish', 'values', '--log-format', '').stdout).toBe(
      'values\n\njson\t\nplain\t\ndev\t\n',
    );
    expect(run('__complete', 'fish', 'values', '--chart-version', '').stdout).toContain(
      '\n0.6.5\t',
    );
  });
});

describe('validate --fix on a terminal', () => {
  const wrong = 'agent:\r\n  tokenExistingSecrt: {name: t} # mine\r\n';
  const right = wrong.replace('Secrt', 'Secret');
  const line = ['validate', 'values.yaml', '--chart', 'agent-job', '--fix'];
  const file = () => readFileSync(join(folder, 'values.yaml'), 'utf8');
  const question = /Write this change to values\.yaml\?/;
  beforeEach(() => writeFileSync(join(folder, 'values.yaml'), wrong, {mode: 0o640}));

  test('shows and writes the changes on y, and keeps the permissions of the file', async () => {
    const {screen, exit, left} = await onTerminal(line, [{see: question, press: 'y\r'}], folder);
    expect({exit, left}).toEqual({exit: 0, left: 0});
    expect(screen).toContain('+  tokenExistingSecret: {name: t} # mine');
    expect(screen).toContain('values.yaml: 1 fixed');
    expect(file()).toBe(right);
    expect(statSync(join(folder, 'values.yaml')).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder)).toEqual(['values.yaml']);
  });

  test('keeps the file on Enter, because no is the default, and reports the mistake', async () => {
    const {screen, exit} = await onTerminal(line, [{see: question, press: '\r'}], folder);
    expect(screen).toContain('Nothing was changed.');
    expect(screen).toContain('UNKNOWN_KEY');
    expect(exit).toBe(3);
    expect(file()).toBe(wrong);
  });

  test('leaves the file untouched and exits with 130 on Ctrl-C at the question', async () => {
    const {screen, exit, left} = await onTerminal(line, [{see: question, press: '\u0003'}], folder);
    expect(screen).toContain('Canceled. Nothing was changed.');
    expect({exit, left}).toEqual({exit: 130, left: 0});
    expect(readdirSync(folder)).toEqual(['values.yaml']);
    expect(file()).toBe(wrong);
  });

  test('writes with --yes in a pipe, also through a link', async () => {
    symlinkSync('values.yaml', join(folder, 'link.yaml'));
    const {stderr, exit} = await run([
      'validate',
      'link.yaml',
      '--chart',
      'agent-job',
      '--fix',
      '--yes',
    ]);
    expect(stderr).toContain('Wrote link.yaml.');
    expect(exit).toBe(0);
    expect(file()).toBe(right);
    expect(lstatSync(join(folder, 'link.yaml')).isSymbolicLink()).toBe(true);
  });

  test('checks standard input, and refuses to rewrite a pipe', async () => {
    expect((await run(['validate', '-', '--chart', 'agent-job'], wrong)).stdout).toContain(
      '-:2:3 error',
    );
    const script = `"$0" "$1" validate <(cat values.yaml) --chart agent-job --fix`;
    const {status, stderr} = spawnSync('bash', ['-c', script, process.execPath, PROGRAM], {
      encoding: 'utf8',
      cwd: folder,
    });
    expect(stderr).toContain('--fix requires a file, and /dev/fd/');
    expect(status).toBe(2);
  });
});
