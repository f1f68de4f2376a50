import {execFileSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {Plugin} from '@oclif/core';
import {type BuildOptions, build, type Metafile} from 'esbuild';
import {licensesOf} from './licenses.ts';
import {compressed, reportPage} from './report-page.ts';

/** `npm run build`: bundles the program into dist, and writes down what is known of its commands before they run. */
const SHARED: BuildOptions = {
  outbase: 'src',
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'node',
  minify: true,
  logLevel: 'warning',
  // Files of templates.
  loader: {'.md': 'text', '.gotmpl': 'text', '.tf': 'text', '.sh': 'text', '.yaml': 'text'},
};

const sourcesIn = (folder: string): string[] =>
  readdirSync(folder, {recursive: true, encoding: 'utf8'})
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file}`);

for (const path of ['dist', 'oclif.manifest.json']) rmSync(path, {recursive: true, force: true});
const program = await buildProgram();
await buildStarters();
const page = await reportPage();
writeFileSync('dist/report.html.br', compressed(page.html));
await writeLicenses(program, page.metafile);
await writeManifest();
writeHelp();

async function buildProgram(): Promise<Metafile> {
  const {metafile} = await build({
    ...SHARED,
    entryPoints: ['src/cli/launch.ts', 'src/cli/help.ts', ...sourcesIn('src/commands')],
    target: 'node20.17',
    splitting: true,
    metafile: true,
    // What CommonJS packages expect to be there.
    banner: {
      js: "import {createRequire} from 'node:module'; const require = createRequire(import.meta.url), {filename: __filename, dirname: __dirname} = import.meta;",
    },
    // Its ES modules, of which only what is used comes along.
    alias: {yaml: './node_modules/yaml/browser/dist/index.js'},
    // oclif wants it only where it runs TypeScript.
    external: ['typescript'],
  });
  return metafile;
}

/** The programs of `bin`, which say on old versions of Node.js that they are too old. */
async function buildStarters(): Promise<void> {
  const {engines} = JSON.parse(readFileSync('package.json', 'utf8')) as {engines: {node: string}};
  await build({
    ...SHARED,
    entryPoints: sourcesIn('src/bin'),
    target: 'es2017',
    supported: {'dynamic-import': true},
    external: ['../cli/launch.js'],
    define: {NODE_FLOOR: JSON.stringify(engines.node.replace('>=', ''))},
  });
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
