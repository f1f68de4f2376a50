import {execFileSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {Plugin} from '@oclif/core';
import {minify} from '@swc/core';
import {type BuildOptions, build} from 'esbuild';
import {licensesOf} from './licenses.ts';
import {compressed, reportPage} from './report-page.ts';

/** `npm run build`: bundles the program into dist, and writes down what is known of its commands before they run. */
const ROOT = process.cwd();
const {engines} = JSON.parse(readFileSync('package.json', 'utf8')) as {engines: {node: string}};
const filesIn = (folder: string): string[] =>
  readdirSync(folder, {recursive: true, encoding: 'utf8'})
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file}`);

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

for (const path of ['dist', 'oclif.manifest.json']) rmSync(path, {recursive: true, force: true});
const {metafile} = await build({
  ...SHARED,
  entryPoints: ['src/cli/launch.ts', 'src/cli/help.ts', ...filesIn('src/commands')],
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
// Minified again, with short names of files: what esbuild leaves long makes the package 34 kB larger.
// Named in the order of their first source: the same names on every machine, and alike files side by side in the archive.
const firstSource = (file: string): string =>
  Object.keys(metafile.outputs[`dist/${file}`]?.inputs ?? {}).sort()[0] ?? '';
const chunks = readdirSync('dist').filter((file) => file.startsWith('chunk-'));
const ordered = chunks.sort((a, b) => firstSource(a).localeCompare(firstSource(b), 'en'));
const shortNames = new Map(
  ordered.map((file, index) => [file, `${String(index).padStart(3, '0')}.js`]),
);
const shortened = (text: string): string =>
  text.replaceAll(/chunk-[A-Z0-9]{8}\.js/g, (name) => shortNames.get(name) ?? name);
for (const file of readdirSync('dist', {recursive: true, encoding: 'utf8'}).filter((each) =>
  each.endsWith('.js'),
)) {
  const {code} = await minify(shortened(readFileSync(`dist/${file}`, 'utf8')), {
    module: true,
    compress: {passes: 4},
    mangle: true,
    ecma: 2022,
  });
  writeFileSync(`dist/${shortNames.get(file) ?? file}`, code);
  if (shortNames.has(file)) rmSync(`dist/${file}`);
}

await build({
  ...SHARED,
  entryPoints: filesIn('src/bin'),
  // Old Node.js versions read this, to say that they are too old.
  target: 'es2017',
  supported: {'dynamic-import': true},
  external: ['../cli/launch.js'],
  define: {NODE_FLOOR: JSON.stringify(engines.node.replace('>=', ''))},
});

const page = await reportPage();
writeFileSync('dist/report.html.br', compressed(page.html));
// Its packages are components too.
Object.assign(metafile.inputs, page.metafile.inputs);
Object.assign(metafile.outputs, page.metafile.outputs);

// The bill of materials takes every input for a component, also one of which nothing is left.
for (const output of Object.values(metafile.outputs)) {
  output.inputs = Object.fromEntries(
    Object.entries(output.inputs).filter(
      ([path, {bytesInOutput}]) => bytesInOutput > 0 && existsSync(path),
    ),
  );
}
writeFileSync('dist/meta.json', shortened(JSON.stringify(metafile)));
writeFileSync('dist/THIRD_PARTY_LICENSES.txt', await licensesOf('dist/meta.json'));

// As `oclif manifest` does, without what help and completion take from the command itself, and oclif from the package.
const plugin = new Plugin({
  root: ROOT,
  isRoot: true,
  ignoreManifest: true,
  errorOnManifestCreate: true,
  respectNoCacheDefault: true,
});
await plugin.load();
const LEFT_OUT = new Set([
  'description',
  'examples',
  'usage',
  'flags',
  'hasDynamicHelp',
  'hiddenAliases',
  'pluginAlias',
  'pluginType',
]);
writeFileSync(
  'oclif.manifest.json',
  JSON.stringify(plugin.manifest, (key, value) => (LEFT_OUT.has(key) ? undefined : value)),
);

// Told how wide it is, the program asks oclif.
const env = {OCLIF_COLUMNS: '80', SystemRoot: process.env['SystemRoot']};
const help = execFileSync(process.execPath, ['dist/bin/scalr-agent.js', '--help'], {
  encoding: 'utf8',
  env,
});
writeFileSync('dist/help.txt', help.replace(/scalr-agent-install\/\S+ \S+ node-\S+/, '{agent}'));
