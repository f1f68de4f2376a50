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
  // CommonJS packages expect these three names; esbuild does not see the others, so no source may have them.
  banner: {
    js: [
      "import {createRequire as $createRequire} from 'node:module';",
      "import {dirname as $dirname} from 'node:path';",
      "import {fileURLToPath as $fileURLToPath} from 'node:url';",
      'const require = $createRequire(import.meta.url);',
      'const __filename = $fileURLToPath(import.meta.url);',
      'const __dirname = $dirname(__filename);',
    ].join('\n'),
  },
  logLevel: 'warning',
});

// With it oclif imports the one command that runs; without it, all of them.
const {plugins, root} = await Config.load(process.cwd());
const own = [...plugins.values()].find((plugin) => plugin.root === root);
const broken = readdirSync('src/commands').filter((file) => !own.manifest.commands[file.replace(/\.ts$/, '')]);
if (broken.length > 0) throw new Error(`These commands cannot be loaded: ${broken.join(', ')}`);
writeFileSync('oclif.manifest.json', JSON.stringify(own.manifest));
