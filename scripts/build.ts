import {execFileSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {relative, resolve} from 'node:path';
import {Plugin} from '@oclif/core';
import {type BuildOptions, build, type Metafile} from 'esbuild';
import {type ChunkingContext, type OutputChunk, type RolldownOutput, rolldown} from 'rolldown';
import {licensesOf} from './licenses.ts';
import {compressed, reportPage} from './report-page.ts';
import {templateFiles} from './template-files.ts';

const sourcesIn = (folder: string): string[] =>
  readdirSync(folder, {recursive: true, encoding: 'utf8'})
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file}`);

/** What only commands that talk to a cluster, a machine or an account need, or imports that. */
function isOfClusters(id: string, context: ChunkingContext, seen = new Set<string>()): boolean {
  if (/\/src\/(cluster|checks|operations|extensions)\//.test(id)) return true;
  if (seen.has(id)) return false;
  seen.add(id);
  const {importedIds = []} = context.getModuleInfo(id) ?? {};
  return importedIds.some((each) => isOfClusters(each, context, seen));
}

/** What is together in one file. A command loads all of a file, so it holds what most of them need. */
const GROUPS = [
  {name: 'first', test: /\/src\/cli\/launch\.ts$/, priority: 2},
  {name: 'title', test: /\/src\/cli\/early-title\.ts$/, priority: 2},
  {
    debugName: 'base',
    name: (id: string, context: ChunkingContext) => (isOfClusters(id, context) ? null : 'base'),
    minShareCount: 10,
    priority: 1,
  },
  {
    debugName: 'cluster',
    name: (id: string, context: ChunkingContext) => (isOfClusters(id, context) ? 'cluster' : null),
    minShareCount: 9,
  },
  {name: 'wizard', test: /\/src\/wizard\/|\/node_modules\/@inquirer\//},
];

/** `npm run build`: bundles the program into dist, and writes down what is known of its commands before they run. */
for (const path of ['dist', 'oclif.manifest.json']) rmSync(path, {recursive: true, force: true});
const program = await buildProgram();
await buildStarters();
const page = await reportPage();
writeFileSync('dist/report.html.br', compressed(page.html));
await writeLicenses(program, page.metafile);
await writeManifest();
writeHelp();

/** As few files as possible for each start: opening one takes as long as running ten thousand lines. */
async function buildProgram(): Promise<Metafile> {
  const entries = ['src/cli/launch.ts', 'src/cli/help.ts', ...sourcesIn('src/commands')];
  const bundle = await rolldown({
    input: Object.fromEntries(
      entries.map((path) => [path.slice('src/'.length, -'.ts'.length), path]),
    ),
    platform: 'node',
    // Dynamic imports delay what is not yet loaded; some commands load the same files at once.
    checks: {ineffectiveDynamicImport: false},
    plugins: [templateFiles],
    // Its ES modules, of which only what is used comes along.
    resolve: {alias: {yaml: resolve('node_modules/yaml/browser/dist/index.js')}},
    // oclif wants it only where it runs TypeScript.
    external: ['typescript'],
    transform: {
      target: 'node20.17',
      // What CommonJS packages expect to be there.
      define: {__filename: 'import.meta.filename', __dirname: 'import.meta.dirname'},
    },
  });
  const {output} = await bundle.write({
    dir: 'dist',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name]-[hash].js',
    codeSplitting: {groups: GROUPS},
  });
  return metafileOf(output);
}

/** In the form of esbuild, which the bill of materials reads. */
function metafileOf(output: RolldownOutput['output']): Metafile {
  const metafile: Metafile = {inputs: {}, outputs: {}};
  for (const chunk of output.filter((each): each is OutputChunk => each.type === 'chunk')) {
    const {fileName, code, modules} = chunk;
    const inputs: Record<string, {bytesInOutput: number}> = {};
    for (const [id, {renderedLength}] of Object.entries(modules)) {
      const path = relative('.', id).replaceAll('\\', '/');
      // What rolldown itself adds.
      if (id.startsWith('\0')) continue;
      inputs[path] = {bytesInOutput: renderedLength};
      metafile.inputs[path] = {bytes: renderedLength, imports: []};
    }
    const bytes = Buffer.byteLength(code);
    metafile.outputs[`dist/${fileName}`] = {bytes, inputs, imports: [], exports: []};
  }
  return metafile;
}

/** The programs of `bin`, which say on old versions of Node.js that they are too old. */
async function buildStarters(): Promise<void> {
  const {engines} = JSON.parse(readFileSync('package.json', 'utf8')) as {engines: {node: string}};
  const options: BuildOptions = {
    entryPoints: sourcesIn('src/bin'),
    outbase: 'src',
    outdir: 'dist',
    bundle: true,
    format: 'esm',
    platform: 'node',
    minify: true,
    logLevel: 'warning',
    target: 'es2017',
    supported: {'dynamic-import': true},
    external: ['../cli/launch.js'],
    define: {NODE_FLOOR: JSON.stringify(engines.node.replace('>=', ''))},
  };
  await build(options);
}

/** The licenses of all bundled packages, those of the page included. */
async function writeLicenses(...builds: readonly Metafile[]): Promise<void> {
  const merged: Metafile = {
    inputs: Object.assign({}, ...builds.map(({inputs}) => inputs)),
    outputs: Object.assign({}, ...builds.map(({outputs}) => outputs)),
  };
  // The bill of materials takes every input for a component, also one of which nothing is left.
  for (const output of Object.values(merged.outputs)) {
    const used = Object.entries(output.inputs).filter(
      ([path, {bytesInOutput}]) => bytesInOutput > 0 && existsSync(path),
    );
    output.inputs = Object.fromEntries(used);
  }
  writeFileSync('dist/meta.json', JSON.stringify(merged));
  writeFileSync('dist/THIRD_PARTY_LICENSES.txt', await licensesOf('dist/meta.json'));
}

/** As `oclif manifest` does, without what help and completion take from the command itself, and oclif from the package. */
async function writeManifest(): Promise<void> {
  const plugin = new Plugin({
    root: process.cwd(),
    isRoot: true,
    ignoreManifest: true,
    errorOnManifestCreate: true,
    respectNoCacheDefault: true,
  });
  await plugin.load();
  const leftOut = new Set([
    'description',
    'examples',
    'usage',
    'flags',
    'hasDynamicHelp',
    'hiddenAliases',
    'pluginAlias',
    'pluginType',
  ]);
  const manifest = JSON.stringify(plugin.manifest, (key, value) =>
    leftOut.has(key) ? undefined : value,
  );
  writeFileSync('oclif.manifest.json', manifest);
}

/** Root help, which starts without oclif. Told how wide it is, the program asks oclif. */
function writeHelp(): void {
  const env = {OCLIF_COLUMNS: '80', SystemRoot: process.env['SystemRoot']};
  const help = execFileSync(process.execPath, ['dist/bin/scalr-agent.js', '--help'], {
    encoding: 'utf8',
    env,
  });
  writeFileSync('dist/help.txt', help.replace(/scalr-agent-install\/\S+ \S+ node-\S+/, '{agent}'));
}
