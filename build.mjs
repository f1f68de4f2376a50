import {readdirSync, rmSync, writeFileSync} from 'node:fs';
import {Config} from '@oclif/core';
import {build} from 'esbuild';

const entries = ['bin', 'commands'].flatMap((folder) => readdirSync(`src/${folder}`).map((file) => `src/${folder}/${file}`));

rmSync('dist', {recursive: true, force: true});
rmSync('oclif.manifest.json', {force: true});
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
  // Importing the module reads every property of process, which takes as long as a command.
  plugins: [
    {
      name: 'process',
      setup: ({onLoad, onResolve}) => {
        onResolve({filter: /^(node:)?process$/}, () => ({path: 'process', namespace: 'global'}));
        onLoad({filter: /.*/, namespace: 'global'}, () => ({contents: 'module.exports = globalThis.process;'}));
      },
    },
  ],
  // oclif reaches for these only to run TypeScript sources.
  external: ['ts-node', 'tsx', 'typescript'],
  // CommonJS packages expect these three names.
  banner: {
    js: [
      "import {createRequire as makeRequire} from 'node:module';",
      "import {dirname as directoryOf} from 'node:path';",
      "import {fileURLToPath as pathOf} from 'node:url';",
      'const require = makeRequire(import.meta.url);',
      'const __filename = pathOf(import.meta.url);',
      'const __dirname = directoryOf(__filename);',
    ].join('\n'),
  },
  logLevel: 'warning',
});

// With it oclif imports the one command that runs; without it, all of them.
const {plugins, root} = await Config.load(process.cwd());
const own = [...plugins.values()].find((plugin) => plugin.root === root);
writeFileSync('oclif.manifest.json', JSON.stringify(own.manifest));
