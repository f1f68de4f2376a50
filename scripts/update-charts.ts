import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import type {UnpackedChart} from '../src/charts/add-release.ts';
import type {ChartName} from '../src/charts/releases/chart-name.ts';
import {type ChartSchema, chartSchema} from '../src/charts/releases/schema.ts';
import {CHART_REPOSITORY} from '../src/ground/command-line.ts';
import {getAt, leafPaths, sameTree, spellPath, type Tree} from '../src/ground/tree.ts';
import {readRepository, releasesAfter, unpack} from './charts/repository.ts';
import {summaryOf} from './charts/summary.ts';
import {importChart, readUnpacked} from './import-chart.ts';

/**
 * `npm run update-charts -- [--from DIRECTORY|URL] [--summary FILE] [--no-test]` imports the releases of the chart repository that are newer
 * than the known ones, tests the rows with them, and writes a summary for the review.
 */
const {values: flags} = parseArgs({
  options: {
    from: {type: 'string'},
    summary: {type: 'string'},
    test: {type: 'boolean', default: true},
  },
  allowNegative: true,
});
const ROOT = join(import.meta.dirname, '..');
const HISTORY = join(ROOT, 'test/charts/values-history.json');

type History = Record<string, {versions: string[]; leaves: Record<string, Tree>}[]>;

/** Adds the values of a release; releases with the same values share an entry. */
function extendHistory({metadata: {name, version}, values}: UnpackedChart): void {
  const history = JSON.parse(readFileSync(HISTORY, 'utf8')) as History;
  const leaves = Object.fromEntries(
    leafPaths(values).map((path) => [spellPath(path), getAt(values, path) as Tree]),
  );
  const last = history[name]?.at(-1);
  if (last && sameTree(last.leaves, leaves)) last.versions.push(version);
  else history[name]?.push({versions: [version], leaves});
  writeFileSync(HISTORY, `${JSON.stringify(history, null, 1)}\n`);
}

/** Runs tests, and returns the end of their output as Markdown, without those that passed or were skipped. */
function tested(title: string, args: readonly string[], charts: string): string {
  const env = {...process.env, SCALR_CHARTS: charts, NO_COLOR: '1'};
  const {status, stdout, stderr} = spawnSync('npx', ['vitest', 'run', ...args], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  });
  const output = `${stdout}\n${stderr}`.trim().split('\n');
  const lines = output
    .filter((line) => !/^\s*[✓↓]/.test(line))
    .slice(-60)
    .join('\n');
  return status === 0 ? `- ${title}: passed\n` : `- ${title}: failed\n\n\`\`\`\n${lines}\n\`\`\`\n`;
}

const directory = mkdtempSync(join(tmpdir(), 'scalr-charts-'));
const sections: string[] = [];
const versions: string[] = [];
try {
  const repository = await readRepository(flags.from ?? CHART_REPOSITORY);
  for (const chart of [
    'agent-k8s',
    'agent-local',
    'agent-job',
  ] as const satisfies readonly ChartName[]) {
    let schema: ChartSchema = chartSchema(chart);
    const known = schema['x-releases'].at(-1)?.version as string;
    const former = repository.entries[chart]?.find(({version}) => version === known);
    let before = former && (await unpack(former, repository, directory));
    for (const entry of releasesAfter(repository, chart, known)) {
      const path = await unpack(entry, repository, directory);
      const unpacked = readUnpacked(path, entry.digest);
      sections.push(summaryOf(schema, unpacked, before, path));
      importChart(unpacked);
      extendHistory(unpacked);
      schema = JSON.parse(readFileSync(join(ROOT, `schemas/${chart}.json`), 'utf8'));
      before = path;
      versions.push(`${chart} ${entry.version}`);
    }
  }
  const tests =
    versions.length === 0 || !flags.test
      ? ''
      : `## Tests\n\n${tested('contract', ['--project', 'unit', 'test/charts/contract.test.ts'], directory)}${tested('effects', ['--project', 'tools', 'test/cluster/helm/effects.test.ts', '-t', versions.map((each) => each.replaceAll('.', '\\.')).join('|')], directory)}`;
  const summary =
    versions.length === 0
      ? 'No new chart versions.\n'
      : `${[...sections, tests].filter((each) => each !== '').join('\n')}`;
  process.stdout.write(summary);
  if (flags.summary !== undefined) writeFileSync(flags.summary, summary);
} finally {
  rmSync(directory, {recursive: true, force: true});
}
