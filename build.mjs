import {readdirSync, rmSync} from 'node:fs';
import {build} from 'esbuild';

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
