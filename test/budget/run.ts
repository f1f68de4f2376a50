import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {ROOT} from '../package/built.ts';
import {type Budget, budgetFor, growths} from './compare.ts';
import {measure} from './measure.ts';

/** `npm run budget`: fails where the package or a start of the program has grown; with `--accept` that is the new budget. */
const path = join(ROOT, 'budget.json');
const now = await measure();
if (process.argv.includes('--accept')) {
  writeFileSync(path, `${JSON.stringify(budgetFor(now), null, 2)}\n`);
} else {
  const grown = growths(JSON.parse(readFileSync(path, 'utf8')) as Budget, now);
  const kilobytes = `${Math.ceil(now.packedKilobytes)} kB packed, ${Math.ceil(now.unpackedKilobytes)} kB unpacked, ${now.packages.length} packages bundled`;
  process.stdout.write(`${[kilobytes, ...grown].join('\n')}\n`);
  if (grown.length > 0) {
    process.stdout.write('Load it later, or leave it out; if it is meant: npm run budget -- --accept\n');
    process.exitCode = 1;
  }
}
