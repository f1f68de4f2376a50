import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {PROGRAM, ROOT} from '../test/package/built.ts';
import {untilFirstQuestion} from './bench/first-question.ts';

/** `npm run budget`: fails if the package is larger, or a command loads more files, than budget.json allows. */
interface Budget {
  packedKilobytes: number;
  unpackedKilobytes: number;
  files: Readonly<Record<string, number>>;
}

type Environment = Readonly<Record<string, string>>;

const inPipe =
  (...args: readonly string[]) =>
  (env: Environment): void => {
    const {status, stderr} = spawnSync(process.execPath, [PROGRAM, ...args], {
      cwd: ROOT,
      env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
  };

const COMMANDS: Readonly<Record<string, (env: Environment) => unknown>> = {
  '--version': inPipe('--version'),
  '--help': inPipe('--help'),
  values: inPipe('values', '--url', 'https://acme.scalr.io'),
  'validate FILE': inPipe('validate', 'test/golden/documents/agent-job-0.6.5-cache-pvc.yaml'),
  'first question': untilFirstQuestion,
};

/** Files of the package that a command loads: each takes time to be found, read and compiled. */
async function filesOf(run: (env: Environment) => unknown): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  try {
    await run({HOME: folder, NODE_V8_COVERAGE: join(folder, 'coverage')});
    const reports = readdirSync(join(folder, 'coverage')).map((file) =>
      readFileSync(join(folder, 'coverage', file), 'utf8'),
    );
    const urls = reports.flatMap((report) =>
      (JSON.parse(report) as {result: {url: string}[]}).result.map(({url}) => url),
    );
    return new Set(urls.filter((url) => url.startsWith('file:'))).size;
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}

const {packedKilobytes, unpackedKilobytes, files} = JSON.parse(
  readFileSync(join(ROOT, 'budget.json'), 'utf8'),
) as Budget;
const pack = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'];
const [{size, unpackedSize}] = JSON.parse(execFileSync('npm', pack, {cwd: ROOT, encoding: 'utf8'}));
const rows = [
  {name: 'packed', unit: 'kB', is: Math.ceil(size / 1000), allowed: packedKilobytes},
  {name: 'unpacked', unit: 'kB', is: Math.ceil(unpackedSize / 1000), allowed: unpackedKilobytes},
];
for (const [name, run] of Object.entries(COMMANDS))
  rows.push({name, unit: 'files', is: await filesOf(run), allowed: files[name] ?? 0});
for (const {name, unit, is, allowed} of rows) {
  process.stdout.write(
    `${name.padEnd(16)} ${is} of ${allowed} ${unit}${is > allowed ? ' - too many' : ''}\n`,
  );
  if (is > allowed) process.exitCode = 1;
}
