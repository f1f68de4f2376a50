import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {build} from 'esbuild';
import {execa} from 'execa';
import {report} from './measure.ts';

const LIMIT_MB = 256;

/** How much memory a gigabyte takes on its way into an archive and out of it again; more than the limit is an error. */
export async function memory(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  try {
    // As users run it; what compiles on the fly takes memory of its own.
    const program = join(folder, 'memory.mjs');
    await build({
      entryPoints: [resolve(import.meta.dirname, 'memory.cli.ts')],
      outfile: program,
      bundle: true,
      format: 'esm',
      platform: 'node',
      banner: {
        js: "import {createRequire} from 'node:module'; const require = createRequire(import.meta.url);",
      },
    });
    for (const megabytes of [1, 64, 1024]) {
      const {stdout} = await execa(process.execPath, [
        program,
        join(folder, 'bundle.zip'),
        String(megabytes),
      ]);
      const {peakMb, seconds} = JSON.parse(stdout) as {peakMb: number; seconds: number};
      const rate = `${(megabytes / seconds).toFixed(0)} MB/s`;
      report({
        part: 'memory',
        name: `${megabytes} MB into a zip and out, ${rate}`,
        value: peakMb,
        unit: 'MB',
      });
      if (peakMb > LIMIT_MB)
        throw new Error(`${peakMb.toFixed(0)} MB are more than ${LIMIT_MB} MB`);
    }
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}
