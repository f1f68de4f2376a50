import {createHash} from 'node:crypto';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {afterAll, expect, test} from 'vitest';
import CollectLogs from '../../../src/commands/collect-logs.ts';
import Inspect from '../../../src/commands/inspect.ts';
import type {PreparedBundle} from '../../../src/extensions/bundle/collect/prepare.ts';
import {writeBundle} from '../../../src/extensions/bundle/write-bundle.ts';
import {NodeFiles} from '../../../src/ground/system/node-files.ts';
import type {ArchiveEntry} from '../../../src/ground/system/system.ts';
import {zipArchives} from '../../../src/ground/system/zip-archive.ts';
import {violations} from '../../support/output-schema.ts';
import {runCommand} from '../../support/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'inspect-'));
afterAll(() => rmSync(folder, {recursive: true}));

const NOON = new Date('2026-11-21T12:00:00Z');
let made = 0;
const fresh = (): string => join(folder, `${made++}.zip`);
const inspect = (file: string, ...more: string[]) => runCommand(Inspect, [file, ...more]);

const pod = {
  kind: 'Pod',
  metadata: {name: 'agent-1', uid: 'u'},
  status: {
    phase: 'Running',
    containerStatuses: [
      {
        name: 'agent',
        ready: false,
        restartCount: 9,
        state: {waiting: {reason: 'CrashLoopBackOff'}},
      },
    ],
  },
};
async function* log(): AsyncGenerator<Buffer> {
  yield Buffer.from('2026-11-21T08:00:00Z the agent says something\n');
}
const prepared: PreparedBundle = {
  name: 'scalr-agent',
  api: {stream: async () => ({chunks: log(), end: Promise.resolve(undefined)})},
  releases: [],
  scope: {objects: [pod], pods: [pod]},
  texts: () => [{name: 'version.json', text: '{}\n'}],
  logs: [
    {
      file: 'logs/agent-1/agent.log',
      pod: 'agent-1',
      container: 'agent',
      isPrevious: false,
      path: '/log',
    },
  ],
  knownSecrets: [],
  gaps: [
    {what: 'Role objects', error: {kind: 'forbidden', message: 'may not list them'}, isMinor: true},
  ],
};

async function bundle(file: string): Promise<string> {
  await writeBundle(
    prepared,
    {maxBytes: 1e6, level: 'standard', userTokens: []},
    {
      archive: await zipArchives.create(file),
      createArchive: () => zipArchives.create(file),
      template: '<!--first--><!--/first--><!--data-->',
      signal: new AbortController().signal,
      now: () => NOON,
      onProgress: () => undefined,
    },
  );
  return file;
}

/** An archive that its maker describes as they like. */
async function forged(
  entries: Readonly<Record<string, string>>,
  manifest?: (entries: readonly ArchiveEntry[]) => unknown,
): Promise<string> {
  const file = fresh();
  const archive = await zipArchives.create(file);
  for (const [name, text] of Object.entries(entries)) await archive.add(name, Buffer.from(text));
  await archive.close({
    manifest: (found) =>
      JSON.stringify(manifest ? manifest(found) : {schemaVersion: 1, entries: found}),
  });
  return file;
}

test('shows the summary of a bundle without a cluster', async () => {
  const {stdout, stderr, exit} = await inspect(await bundle(fresh()));
  expect(exit).toBe(0);
  expect(stderr).toBe('');
  expect(stdout).toContain('# Support bundle of namespace scalr-agent');
  expect(stdout).toContain('pod/agent-1 (CRASH_LOOP)');
});

test('prints verdict and findings as JSON', async () => {
  const file = await bundle(fresh());
  const {stdout, exit} = await inspect(file, '--json');
  expect(violations('inspect', stdout)).toEqual([]);
  expect(JSON.parse(stdout)).toMatchObject({
    schemaVersion: 1,
    file,
    valid: true,
    problems: [],
    verdict: '1 error, 0 warnings. Start with pod/agent-1 (CRASH_LOOP).',
    findings: [{code: 'CRASH_LOOP', subject: {object: 'pod/agent-1'}}],
  });
  expect(exit).toBe(0);
});

test('equal data results in an equal bundle', async () => {
  expect(readFileSync(await bundle(fresh()))).toEqual(readFileSync(await bundle(fresh())));
});

test('lists changed, removed and added entries', async () => {
  const sha256 = createHash('sha256').update('before').digest('hex');
  const file = await forged(
    {'SUMMARY.md': '# Mine\n', 'same.txt': 'same', 'logs/a.log': 'after!', 'new.txt': 'n'},
    (found) => ({
      schemaVersion: 1,
      entries: [
        ...found.filter(({name}) => !['logs/a.log', 'new.txt'].includes(name)),
        {name: 'logs/a.log', bytes: 6, sha256},
        {name: 'gone.txt', bytes: 1, sha256},
      ],
    }),
  );
  const {stdout, stderr, exit} = await inspect(file);
  expect(exit).toBe(3);
  expect(stdout).toBe('# Mine\n');
  expect(stderr).toContain('logs/a.log: checksum mismatch');
  expect(stderr).toContain('gone.txt: missing');
  expect(stderr).toContain('new.txt: added later');
  expect(stderr).not.toContain('same.txt');
  const json = await inspect(file, '--json');
  expect(violations('inspect', json.stdout)).toEqual([]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    valid: false,
    problems: [{problem: 'differs'}, {problem: 'missing'}, {problem: 'not in the manifest'}],
  });
});

test('lists an entry with damaged bytes, and shows the rest', async () => {
  const noise = Array.from({length: 4000}, (_, index) =>
    createHash('md5').update(String(index)).digest('hex'),
  ).join('');
  const file = await forged({'a.log': noise, 'SUMMARY.md': '# Summary\n'});
  const bytes = readFileSync(file);
  bytes.fill(0xff, 5000, 5200);
  writeFileSync(file, bytes);
  const {stdout, stderr, exit} = await inspect(file);
  expect({stdout, exit}).toEqual({stdout: '# Summary\n', exit: 3});
  expect(stderr).toMatch(/a\.log: (damaged|checksum mismatch)/);
});

/** With `from` replaced wherever it stands, in a text of the same length. */
const replaced = (bytes: Buffer, from: string, to: string): Buffer =>
  Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1');

const OURS = {
  'SUMMARY.md': '# Mine\n',
  'errors.json': '[]',
  'findings.json': '[]',
  'redactions.json': '{}',
};

test.each([
  [
    'of which only the beginning was copied',
    async () => readFileSync(await bundle(fresh())).subarray(0, -100),
    /file is truncated\.\n/,
  ],
  [
    'of which hardly anything was copied',
    async () => readFileSync(await bundle(fresh())).subarray(0, 40),
    /as a support bundle/,
  ],
  [
    'with two files of one name',
    async () =>
      replaced(readFileSync(await forged({'a.log': '1', 'b.log': '2'})), 'b.log', 'a.log'),
    /duplicate entry a\.log/,
  ],
  [
    'without its manifest',
    async () => replaced(readFileSync(await bundle(fresh())), 'manifest.json', 'manifest.jsxn'),
    /manifest\.json is missing or unreadable/,
  ],
  [
    'whose manifest is another one',
    async () => readFileSync(await forged(OURS, () => ({schemaVersion: 1}))),
    /unknown format/,
  ],
])('reports a bundle %s as damaged or changed', async (_, bytes, words) => {
  const file = fresh();
  writeFileSync(file, await bytes());
  const {stdout, stderr, exit} = await inspect(file);
  expect({stdout, exit}).toEqual({stdout: '', exit: 3});
  expect(stderr).toMatch(words);
  expect(stderr).toContain(file);
  expect(stderr).not.toContain('..\n');
});

test('removes control characters from the summary', async () => {
  const {stdout} = await inspect(
    await forged({'SUMMARY.md': '# A\u001b]0;title\u0007\u001b[2J\u009b1m bundle\n'}),
  );
  expect(stdout).toBe('# A]0;title[2J1m bundle\n');
});

test('shows the findings when the summary is missing', async () => {
  const finding = {
    verdict: 'error',
    code: 'X',
    subject: {object: 'pod/a'},
    message: 'it is \u001b[31mill',
    remedies: [{text: 'Heal it'}],
  };
  const {stdout} = await inspect(
    await forged({'findings.json': JSON.stringify([finding, {verdict: 'fatal'}, 7])}),
  );
  expect(stdout).toContain('× X  pod/a: it is [31mill\n    → Heal it\n');
});

test.each([
  [
    'another archive',
    async () => forged({'a.txt': 'a'}, () => ({version: 7})),
    /manifest\.json has an unknown format/,
  ],
  [
    'a manifest of another program',
    async () => forged({'a.txt': 'a'}, () => 'nothing'),
    /unknown format/,
  ],
  ['no archive', async () => import.meta.filename, /as a support bundle/],
  ['nothing', async () => join(folder, 'nowhere.zip'), /no such file/],
])('rejects %s', async (_, file, words) => {
  const {stdout, stderr, exit} = await inspect(await file());
  expect({stdout, exit}).toEqual({stdout: '', exit: 2});
  expect(stderr).toMatch(words);
  expect(stderr).not.toContain('..\n');
});

test('names the file when it is not a bundle', async () => {
  const file = await forged({'a.txt': 'a'}, () => 'nothing');
  expect((await inspect(file)).stderr).toContain(
    `${file} is not a support bundle: manifest.json has an unknown format.`,
  );
});

test('collect-logs --inspect names this command', async () => {
  const {stderr, exit} = await runCommand(CollectLogs, ['--inspect', 'bundle.zip']);
  expect(exit).toBe(2);
  expect(stderr).toContain('Unknown flag: --inspect.');
  expect(stderr).toContain('scalr-agent inspect FILE');
});

test('writes the page and the trace of a bundle, and never replaces a file', async () => {
  const file = await bundle(fresh());
  const page = join(folder, 'page.html');
  const trace = join(folder, 'trace.json');
  const {stderr, exit} = await runCommand(Inspect, [file, '--report', page, '--trace', trace], {
    files: new NodeFiles(),
  });
  expect({stderr, exit}).toEqual({stderr: `Wrote ${page}\nWrote ${trace}\n`, exit: 0});
  expect(readFileSync(page, 'utf8')).toMatch(
    /<h1>1 error, 0 warnings\. Start with pod\/agent-1 \(CRASH_LOOP\)\.<\/h1>.*id="index"/s,
  );
  expect(JSON.parse(readFileSync(trace, 'utf8'))).toMatchObject({
    displayTimeUnit: 'ms',
    traceEvents: expect.arrayContaining([
      {ph: 'M', name: 'process_name', pid: 1, tid: 0, args: {name: 'Releases'}},
    ]),
  });
  const again = await runCommand(Inspect, [file, '--report', page], {files: new NodeFiles()});
  expect(again.exit).toBe(2);
  expect(again.stderr).toContain('Use another file name with --report');
});

test.each([
  [true, /^Opened \S+\.html\n$/],
  [false, /^No browser found\. Open this file: \S+\.html\n$/],
])('--open writes a page and opens it (browser: %s)', async (isThere, words) => {
  const opened: string[] = [];
  const openInBrowser = async (path: string) => opened.push(path) > 0 && isThere;
  const {stderr} = await runCommand(Inspect, [await bundle(fresh()), '--open'], {
    files: new NodeFiles(),
    openInBrowser,
  });
  expect(stderr).toMatch(words);
  expect(readFileSync(opened[0] as string, 'utf8')).toContain('CRASH_LOOP');
  rmSync(dirname(opened[0] as string), {recursive: true});
});

test('a page is made anew from the files of a bundle', async () => {
  const file = await forged({
    'SUMMARY.md': '# Mine\n\n**Fine.**\n',
    'report.html': '<script>alert(1)</script>',
  });
  const page = fresh();
  await runCommand(Inspect, [file, '--report', page], {files: new NodeFiles()});
  const text = readFileSync(page, 'utf8');
  expect(text).toContain('<h1>Fine.</h1>');
  expect(text).not.toContain('alert');
});

test('--why names the rule and the row that decide about a line', async () => {
  const kept = await runCommand(Inspect, ['--why', 'DB_PASSWORD: null']);
  expect(kept.stdout).toBe('DB_PASSWORD: null\n  kept, as in: password: null\n');
  const {stdout} = await runCommand(Inspect, ['--why', 'DB_PASSWORD=Autumn2026!', '--json']);
  const document = JSON.parse(stdout);
  expect(violations('inspect', stdout)).toEqual([]);
  expect(document.redacted).toMatch(/^DB_PASSWORD=\[redacted:secret:\w{8}\]$/);
  expect(document.decisions).toEqual([{rule: 'key', example: 'password=denied'}]);
});
