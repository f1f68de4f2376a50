import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {parse} from 'yaml';
import {addRelease, type UnpackedChart} from '../src/charts/add-release.ts';

/** Adds released charts to schemas/<chart>.json: `npm run import-chart -- DIRECTORY...`, each an unpacked chart. */
for (const directory of process.argv.slice(2)) {
  if (!existsSync(join(directory, 'Chart.yaml'))) {
    process.stderr.write(`${directory} is no unpacked chart: it holds no Chart.yaml.\n`);
    process.exit(2);
  }
  const schema = join(directory, 'values.schema.json');
  const unpacked: UnpackedChart = {
    metadata: parse(readFileSync(join(directory, 'Chart.yaml'), 'utf8')),
    values: parse(readFileSync(join(directory, 'values.yaml'), 'utf8')),
    ...(existsSync(schema) ? {schema: JSON.parse(readFileSync(schema, 'utf8'))} : {}),
  };
  const file = join(import.meta.dirname, '../schemas', `${basename(unpacked.metadata.name)}.json`);
  const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  writeFileSync(file, `${JSON.stringify(addRelease(before, unpacked), null, 1)}\n`);
}
