import {readdirSync, rmSync, writeFileSync} from 'node:fs';
import {Config} from '@oclif/core';
import {build} from 'esbuild';
import {writeAsCommonJs} from './build-commonjs.mjs';
import {buildLauncher} from './build-launcher.mjs';
import {
  builtinsOnFirstUse,
  globalProcess,
  leftOut,
  logWhenAsked,
  parsedJson,
  platformWithoutShell,
  requiresOnFirstUse,
} from './build-plugins.mjs';

const entries = ['src/cli/start.ts', ...readdirSync('src/commands').map((file) => `src/commands/${file}`)];

rmSync('dist', {recursive: true, force: true});
const {outputFiles, metafile} = await build({
  entryPoints: entries,
  write: false,
  metafile: true,
  outbase: 'src',
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.12',
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [
    globalProcess,
    builtinsOnFirstUse(['child_process', 'crypto', 'perf_hooks', 'readline', 'timers/promises', 'tls', 'worker_threads']),
    // What searches for commands, plugins and hooks, all of which are known.
    leftOut(/@oclif[\\/]core[\\/]lib[\\/](config[\\/](plugin|ts-path)|module-loader)\.js$/),
    requiresOnFirstUse(/@oclif[\\/]core[\\/]lib[\\/].*\.js$/),
    logWhenAsked,
    platformWithoutShell,
    parsedJson(/[\\/]schemas[\\/].*\.json$/),
  ],
  // Its modules for browsers are ES modules, of which only what is used comes along.
  alias: {yaml: './node_modules/yaml/browser/dist/index.js'},
  // oclif reaches for these only to show a spinner and to choose among plugins.
  external: ['cli-spinners', 'minimatch'],
  logLevel: 'warning',
});
await writeAsCommonJs(outputFiles);
writeFileSync('dist/package.json', '{"type": "commonjs"}\n');

// What the program says of its commands without importing them; src/cli/program.ts reads it.
const {plugins, root} = await Config.load(process.cwd());
const own = [...plugins.values()].find((plugin) => plugin.root === root);
const broken = readdirSync('src/commands').filter((file) => !own.manifest.commands[file.replace(/\.ts$/, '')]);
if (broken.length > 0) throw new Error(`These commands cannot be loaded: ${broken.join(', ')}`);
// Flags are most of it, and only help reads them here.
const brief = Object.entries(own.manifest.commands).map(([id, {flags, ...command}]) => [id, command]);
writeFileSync('dist/commands.json', JSON.stringify({...own.manifest, commands: Object.fromEntries(brief)}));
writeFileSync(
  'dist/flags.json',
  JSON.stringify(Object.fromEntries(Object.entries(own.manifest.commands).map(([id, {flags}]) => [id, flags]))),
);

await buildLauncher(outputFiles, Object.keys(own.manifest.commands));
