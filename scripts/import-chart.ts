import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {parse} from 'yaml';
import {addRelease, type UnpackedChart} from '../src/charts/add-release.ts';

const schemaFile = (name: string): string =>
  join(import.meta.dirname, '../schemas', `${basename(name)}.json`);

/** An unpacked chart; `digest` is the one of its archive. */
export function readUnpacked(directory: string, digest?: string): UnpackedChart {
  const text = (name: string): string => readFileSync(join(directory, name), 'utf8');
  const templates = existsSync(join(directory, 'templates'))
    ? readdirSync(join(directory, 'templates'))
    : [];
  const metadata = parse(text('Chart.yaml')) as UnpackedChart['metadata'];
  return {
    metadata: {...metadata, ...(digest === undefined ? {} : {digest})},
    values: parse(text('values.yaml')),
    templates: templates.map((name) => text(`templates/${name}`)).join('\n'),
    ...(existsSync(join(directory, 'values.schema.json'))
      ? {schema: JSON.parse(text('values.schema.json'))}
      : {}),
  };
}

/** Adds a released chart to schemas/<chart>.json. */
export function importChart(unpacked: UnpackedChart): void {
  const file = schemaFile(unpacked.metadata.name);
  const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  writeFileSync(file, `${JSON.stringify(addRelease(before, unpacked), null, 1)}\n`);
}

/** `npm run import-chart -- DIRECTORY...`, each an unpacked chart. */
if (process.argv[1] === import.meta.filename) {
  for (const directory of process.argv.slice(2)) {
    if (!existsSync(join(directory, 'Chart.yaml'))) {
      process.stderr.write(`${directory} is no unpacked chart: it holds no Chart.yaml.\n`);
      process.exit(2);
    }
    importChart(readUnpacked(directory));
  }
}
