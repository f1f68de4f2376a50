import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseTar} from 'nanotar';
import {commandLine} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
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
    const {chart, values, schema, templates} = texts;
    if (chart === undefined || values === undefined) {
      throw noChart(source, `does not contain ${chart === undefined ? NAMES.chart : NAMES.values}`, [
        'Use a chart directory, or a .tgz file from helm pull',
      ]);
    }
    return {chart, values, templates, ...(schema === undefined ? {} : {schema})};
  },
  async download(pull) {
    const directory = mkdtempSync(join(tmpdir(), 'scalr-agent-chart-'));
    process.once('exit', () => rmSync(directory, {recursive: true, force: true}));
    await pull(directory);
    return join(directory, (await files.list(directory)).find((name) => name.endsWith('.tgz')) ?? '');
  },
});

interface Texts {
  chart?: string;
  values?: string;
  schema?: string;
  templates: string;
}

async function inDirectory(source: string, files: Files): Promise<Texts> {
  const found: Texts = {templates: ''};
  const textOf = async (name: string): Promise<string> => (await files.read(`${source.replace(/\/+$/, '')}/${name}`)).toString('utf8');
  for (const [key, name] of Object.entries(NAMES) as [keyof typeof NAMES, string][])
    if ((await files.kindOf(`${source.replace(/\/+$/, '')}/${name}`)) === 'file') found[key] = await textOf(name);
  for (const name of await files.list(`${source.replace(/\/+$/, '')}/templates`))
    if (isTemplate(name)) found.templates += await textOf(`templates/${name}`);
  return found;
}

async function inArchive(content: Buffer, source: string): Promise<Texts> {
  const {gunzipSync} = await import('node:zlib');
  try {
    const entries = parseTar(gunzipSync(content));
    const textOf = (name: string): string | undefined => entries.find((each) => each.name.split('/').slice(1).join('/') === name)?.text;
    const templates = entries.flatMap(({name, text}) => (/^[^/]+\/templates\//.test(name) && isTemplate(name) ? [text] : [])).join('');
    return {...Object.fromEntries(Object.entries(NAMES).map(([key, name]) => [key, textOf(name)])), templates};
  } catch (error) {
    throw noChart(source, 'is not a chart archive', ['Use a chart directory, or a .tgz file from helm pull'], error);
  }
}

const isTemplate = (name: string): boolean => /\.(ya?ml|tpl|txt)$/.test(name);

const noChart = (source: string, why: string, suggestions: string[], cause?: unknown): ExpectedError =>
  new ExpectedError(`${source} ${why}.`, {code: 'NO_CHART', suggestions, cause});
