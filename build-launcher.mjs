import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {readdirSync, readFileSync} from 'node:fs';
import {build} from 'esbuild';
import {builtinsOnFirstUse} from './build-plugins.mjs';

const {name, version, engines} = JSON.parse(readFileSync('package.json', 'utf8'));

const SHAPE = {
  outbase: 'src',
  outdir: 'dist',
  bundle: true,
  format: 'cjs',
  platform: 'node',
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
};

/** What runs before the program does: any Node.js has to be able to read the bins, and the rest says at once what only needs to be known. */
export async function buildLauncher(outputFiles, commands) {
  await build({
    ...SHAPE,
    entryPoints: readdirSync('src/bin').map((file) => `src/bin/${file}`),
    target: 'node6',
    external: ['../cli/launch.js'],
    define: {NODE_FLOOR: JSON.stringify(engines.node.replace('>=', ''))},
  });
  const hash = createHash('sha256');
  for (const {path, contents} of outputFiles) hash.update(path).update(contents);
  const id = hash.digest('hex').slice(0, 16);
  const launch = (help) =>
    build({
      ...SHAPE,
      entryPoints: ['src/cli/launch.ts'],
      target: 'node20.12',
      plugins: [builtinsOnFirstUse(['vm', 'zlib'])],
      define: {KNOWN: JSON.stringify({name, version, help}), COMMANDS: JSON.stringify(commands), BUILD: JSON.stringify(id)},
    });
  await launch('');
  const said = execFileSync(process.execPath, ['dist/bin/scalr-agent.js', '--help'], {
    encoding: 'utf8',
    env: {NODE_DISABLE_COMPILE_CACHE: '1'},
  });
  await launch(said.replace(`${name}/${version} ${process.platform}-${process.arch} node-${process.version}`, '{agent}'));
}
