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
  banner: {js: "import {createRequire as makeRequire} from 'node:module';\nconst require = makeRequire(import.meta.url);"},
  logLevel: 'warning',
});
