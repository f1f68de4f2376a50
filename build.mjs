import {readdirSync, rmSync, writeFileSync} from 'node:fs';
import {Config} from '@oclif/core';
import {build} from 'esbuild';
import {
  builtinsOnFirstUse,
  globalProcess,
  leftOut,
  logWhenAsked,
  nativeSums,
  parsedJson,
  platformWithoutShell,
  requiresOnFirstUse,
} from './build-plugins.mjs';

const entries = ['bin', 'commands'].flatMap((folder) => readdirSync(`src/${folder}`).map((file) => `src/${folder}/${file}`));

rmSync('dist', {recursive: true, force: true});
await build({
  entryPoints: entries,
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
    nativeSums,
    platformWithoutShell,
    parsedJson(/[\\/]schemas[\\/].*\.json$/),
  ],
  // Its modules for browsers are ES modules, of which only what is used comes along.
  alias: {yaml: './node_modules/yaml/browser/dist/index.js'},
  // oclif reaches for these only to show a spinner and to choose among plugins.
  external: ['cli-spinners', 'minimatch'],
  // CommonJS packages expect these three names, and most chunks hold none. esbuild does not see the others, so no source may have them.
  define: {__filename: 'import.meta.filename', __dirname: 'import.meta.dirname'},
  banner: {
    js: [
      "import {createRequire as $createRequire} from 'node:module';",
      'let $require;',
      'const require = (name) => ($require ??= $createRequire(import.meta.url))(name);',
    ].join('\n'),
  },
  logLevel: 'warning',
});

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
