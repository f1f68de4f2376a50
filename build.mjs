import {existsSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {Config} from '@oclif/core';
import {build} from 'esbuild';
import {writeAsCommonJs} from './build-commonjs.mjs';
import {buildLauncher} from './build-launcher.mjs';
import {writeLicences} from './build-licences.mjs';
import {
  builtinsOnFirstUse,
  globalProcess,
  leftOut,
  logWhenAsked,
  parsedJson,
  platformWithoutShell,
  requiresOnFirstUse,
} from './build-plugins.mjs';

const entries = ['src/cli/start.ts', 'src/cli/complete.ts', ...readdirSync('src/commands').map((file) => `src/commands/${file}`)];

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
    builtinsOnFirstUse(['child_process', 'crypto', 'perf_hooks', 'readline', 'timers/promises', 'tls', 'v8', 'worker_threads']),
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
writeLicences(metafile, 'dist/THIRD_PARTY_LICENSES.txt');
// Only files of which something is left: the bill of materials takes every other input for a component.
const isLeft = ([path, {bytesInOutput}]) => bytesInOutput > 0 && existsSync(path);
for (const output of Object.values(metafile.outputs)) output.inputs = Object.fromEntries(Object.entries(output.inputs).filter(isLeft));
writeFileSync('dist/meta.json', JSON.stringify(metafile));
writeFileSync('dist/package.json', '{"type": "commonjs"}\n');

// What the program says of its commands without importing them; src/cli/program.ts reads it.
const {plugins, root} = await Config.load(process.cwd());
const own = [...plugins.values()].find((plugin) => plugin.root === root);
const broken = readdirSync('src/commands').filter((file) => !own.manifest.commands[file.replace(/\.ts$/, '')]);
if (broken.length > 0) throw new Error(`These commands cannot be loaded: ${broken.join(', ')}`);
// Flags are most of it, and only help reads them here. Most commands have the same ones.
const brief = Object.entries(own.manifest.commands).map(([id, {flags, ...command}]) => [id, command]);
writeFileSync('dist/commands.json', JSON.stringify({...own.manifest, commands: Object.fromEntries(brief)}));
const flags = new Map();
const numberOf = (flag) => flags.get(JSON.stringify(flag)) ?? flags.set(JSON.stringify(flag), flags.size).size - 1;
const numbers = Object.entries(own.manifest.commands).map(([id, command]) => [id, Object.values(command.flags).map(numberOf)]);
writeFileSync('dist/flags.json', `{"commands":${JSON.stringify(Object.fromEntries(numbers))},"flags":[${[...flags.keys()].join()}]}`);

await buildLauncher(outputFiles, Object.keys(own.manifest.commands));
