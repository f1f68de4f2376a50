import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, onTestFinished, test} from 'vitest';
import {built, ROOT, runBuilt} from './built.ts';

const VALUES_FILE = `${ROOT}test/golden/documents/agent-job-0.6.5-cache-pvc.yaml`;

/** Modules of Node.js that oclif loads, or that come with `process`; every other one costs milliseconds of each start. */
const OF_OCLIF = [
  'async_hooks',
  'child_process',
  'dgram',
  'fs/promises',
  'perf_hooks',
  'process',
  'readline',
  'readline/promises',
  'timers/promises',
  'tty',
  'worker_threads',
];

/** What waits for a question, a file to fix or migrate, a chart, or a change. */
const LATER =
  /node_modules\/(?:@inquirer\/(?!ansi)|ajv|execa|nanotar|write-file-atomic)|src\/wizard\/|src\/values\/migrate\/|src\/extensions\/account\/http/;

/** What a command loads: modules of Node.js that `node -e 0` does not load, folders of src, and packages. */
function loadedBy(args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'loaded-'));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  const at = (name: string): string => join(folder, name);
  writeFileSync(
    at('report.cjs'),
    `process.on('exit', () => require('fs').writeFileSync(process.env.REPORT, JSON.stringify(process.moduleLoadList)));`,
  );
  const modules = (run: () => unknown): string[] => {
    run();
    return (JSON.parse(readFileSync(at('modules.json'), 'utf8')) as string[]).flatMap((each) => {
      const name = /^NativeModule (?!internal\/)(.*)$/.exec(each)?.[1];
      return name === undefined ? [] : [name];
    });
  };
  const env = {HOME: folder, REPORT: at('modules.json'), NODE_V8_COVERAGE: at('coverage')};
  const flags = ['-r', at('report.cjs')];
  const node = modules(() => runBuilt('scalr-agent', ['--version'], {env, flags}));
  rmSync(at('coverage'), {recursive: true});
  const all = modules(() => runBuilt('scalr-agent', args, {env, flags}));
  return {modules: all.filter((each) => !node.includes(each)), inputs: inputsIn(at('coverage'))};
}

/** Source files in the bundled files that V8's coverage names. */
function inputsIn(coverage: string): string[] {
  const {outputs} = JSON.parse(readFileSync(built('dist/meta.json'), 'utf8')) as {
    outputs: Record<string, {inputs: Record<string, {bytesInOutput: number}>}>;
  };
  const urls = readdirSync(coverage).flatMap((file) =>
    (
      JSON.parse(readFileSync(join(coverage, file), 'utf8')) as {result: {url: string}[]}
    ).result.map(({url}) => url),
  );
  return urls
    .filter((url) => url.startsWith('file:'))
    .flatMap((url) => Object.entries(outputs[relative(ROOT, fileURLToPath(url))]?.inputs ?? {}))
    .flatMap(([path, {bytesInOutput}]) => (bytesInOutput > 0 ? [path] : []));
}

const CORE = ['answers', 'charts', 'cli', 'commands', 'ground', 'settings', 'ui', 'values'];
const CLUSTER = ['checks', 'cluster', 'extensions', 'operations'];

test.each([
  {args: ['values', '--url', 'https://acme.scalr.io'], modules: [], rooms: CORE},
  {args: ['validate', VALUES_FILE], modules: [], rooms: CORE},
  // Revisions of Helm are compressed.
  {
    args: ['status', '--kubectl', '/missing'],
    modules: ['stream/consumers', 'zlib'],
    rooms: [...CORE, ...CLUSTER],
  },
])('$args.0 loads no more than it needs', ({args, modules, rooms}) => {
  const loaded = loadedBy(args);
  expect(loaded.modules.filter((name) => ![...OF_OCLIF, ...modules].includes(name))).toEqual([]);
  const folders = loaded.inputs.flatMap((path) => /^src\/(\w+)\//.exec(path)?.[1] ?? []);
  expect([...new Set(folders)].toSorted()).toEqual(rooms.toSorted());
  expect(loaded.inputs.filter((path) => LATER.test(path))).toEqual([]);
});
