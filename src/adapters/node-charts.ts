import {parseTar} from 'nanotar';
import {commandLine} from '../ground/command-line.ts';
import {type ExpectedError, failed} from '../ground/errors.ts';
import type {Charts, Files} from '../ports/files.ts';

const NAMES = {chart: 'Chart.yaml', values: 'values.yaml', schema: 'values.schema.json'} as const;

/** Reads charts from directories and from archives as `helm pull` makes them. */
export const nodeCharts = (files: Files): Charts => ({
  async read(source) {
    if (/^[a-z]+:\/\//i.test(source)) {
      throw noChart(source, 'is not a local file or directory', [
        `Download the chart, then use the .tgz file: ${commandLine({tool: 'helm', args: ['pull', source]})}`,
      ]);
    }
    const texts =
      (await files.kindOf(source)) === 'directory' ? await inDirectory(source, files) : await inArchive(await files.read(source), source);
    const {chart, values, schema} = texts;
    if (chart === undefined || values === undefined) {
      throw noChart(source, `does not contain ${chart === undefined ? NAMES.chart : NAMES.values}`, [
        'Use a chart directory, or a .tgz file from helm pull',
      ]);
    }
    return {chart, values, ...(schema === undefined ? {} : {schema})};
  },
});

interface Texts {
  chart?: string;
  values?: string;
  schema?: string;
}

async function inDirectory(source: string, files: Files): Promise<Texts> {
  const found: Texts = {};
  for (const [key, name] of Object.entries(NAMES) as [keyof Texts, string][]) {
    const path = `${source.replace(/\/+$/, '')}/${name}`;
    if ((await files.kindOf(path)) === 'file') found[key] = (await files.read(path)).toString('utf8');
  }
  return found;
}

async function inArchive(content: Buffer, source: string): Promise<Texts> {
  const {gunzipSync} = await import('node:zlib');
  try {
    const entries = parseTar(gunzipSync(content));
    const textOf = (name: string): string | undefined => entries.find((each) => each.name.split('/').slice(1).join('/') === name)?.text;
    return Object.fromEntries(Object.entries(NAMES).map(([key, name]) => [key, textOf(name)]));
  } catch (error) {
    throw noChart(source, 'is not a chart archive', ['Use a chart directory, or a .tgz file from helm pull'], error);
  }
}

const noChart = (source: string, why: string, suggestions: string[], cause?: unknown): ExpectedError =>
  failed('NO_CHART', `${source} ${why}.`, suggestions, {cause});
