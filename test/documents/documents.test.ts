import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {parse, stringify} from 'yaml';
import {CHARTS} from '../../src/charts/charts.ts';
import type {Target} from '../../src/charts/define.ts';
import {within} from '../../src/charts/releases.ts';
import {type ChartName, chartSchema, defaultsOf, leavesOf} from '../../src/charts/schema.ts';
import {newestOf, releasesOf} from '../../src/charts/target.ts';
import {at, getAt, setAt, startsWith, type Tree} from '../../src/charts/tree.ts';
import Values from '../../src/commands/values.ts';
import {CAUSES} from '../../src/diagnose/explain.ts';
import type {Warning} from '../../src/errors.ts';
import {CHECKS} from '../../src/preflight/checks/index.ts';
import {validate} from '../../src/values/validate/validate.ts';
import {commands, root} from '../docs/commands.ts';
import {FOUND_CODES} from '../docs/findings-page.ts';
import {headingsOf} from '../docs/headings.ts';
import {settings, takenBy} from '../docs/settings.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';
import {CHART_NAMES} from '../support/versions.ts';

// What the documents of upstream describe, and where this program covers it: CONTRIBUTING.md, "Add a row to the tables of documents".

type Kind = 'flag' | 'check' | 'finding' | 'command' | 'page' | 'values-file' | 'reason';
type Home = Partial<Record<Kind, string | readonly string[]>>;
type Item = {id: string; section: string; item: string} & Home;

interface Example {
  id: string;
  section: string;
  /** A values.yaml for `validate`. */
  values?: Tree;
  /** Assignments of `helm --set`, for `values`. */
  set?: readonly string[];
  /** Flags that write the same. */
  flags?: readonly string[];
  /** By chart version: what the program reports, `ok` for nothing. */
  results: Readonly<Record<string, string>>;
}

interface UpstreamDocument {
  chart?: ChartName;
  items: readonly Item[];
  /** The table of values, by key. */
  values?: Readonly<Record<string, 'values-file' | Home>>;
  examples?: readonly Example[];
}

const documents = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => ({file, ...(parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as UpstreamDocument)}));

const flagsOf = new Map(commands.map(({id, command}) => [id, Object.keys({...command.baseFlags, ...command.flags})]));

/** Codes of `status` and of support bundles have no list but their source. */
const codesIn = (folder: string): string[] =>
  readdirSync(join(root, folder)).flatMap(
    (file) => readFileSync(join(root, folder, file), 'utf8').match(/(?<=')[A-Z]+(?:_[A-Z]+)+(?=')/g) ?? [],
  );

const codes: ReadonlySet<string> = new Set([
  ...FOUND_CODES,
  ...CAUSES.map(({code}) => code),
  ...Object.values(CHARTS).flatMap(({rules}) => rules.map(({code}) => code)),
  ...codesIn('src/support-bundle/findings'),
  ...codesIn('src/status'),
]);

/** The versions of a chart that have the key, or keys below it. */
const versionsWith = (chart: ChartName, key: string): string[] =>
  releasesOf(chart).filter((version) => leavesOf(chartSchema(chart), version).some(({path}) => startsWith(path, at(key))));

const EXISTS: Readonly<Record<Kind, (name: string) => boolean>> = {
  flag: (name) => [...flagsOf.values()].some((flags) => flags.includes(name)),
  check: (name) => CHECKS.some(({id}) => id === name),
  finding: (name) => codes.has(name),
  command: (name) => {
    const [id = '', ...flags] = name.split(' --');
    return flagsOf.has(id) && flags.every((flag) => flagsOf.get(id)?.includes(flag));
  },
  page: (name) => {
    const [path = '', heading] = name.split('#');
    return existsSync(join(root, 'docs', path)) && (heading === undefined || headingsOf(`docs/${path}`).includes(heading));
  },
  'values-file': (name) => CHART_NAMES.some((chart) => versionsWith(chart, name).length > 0),
  reason: (text) => /^not covered: \w/.test(text),
};

const isTaken = (chart: ChartName, flag: string): boolean => {
  const setting = settings.find(({id}) => id === flag);
  const charts = setting === undefined ? 'all' : takenBy(setting);
  return charts === 'all' || charts.split(', ').includes(chart.replace('agent-', ''));
};

const namesIn = (home: Home, kind: Kind): readonly string[] => [home[kind] ?? []].flat();

function problemsOf(home: Home, chart?: ChartName): string[] {
  const kinds = (Object.keys(EXISTS) as Kind[]).filter((kind) => home[kind] !== undefined);
  if (kinds.length === 0) return ['it has no home'];
  if (kinds.includes('reason') && kinds.length > 1) return ['it has a home and a reason why it has none'];
  const missing = kinds.flatMap((kind) =>
    namesIn(home, kind)
      .filter((name) => !EXISTS[kind](name))
      .map((name) => `there is no ${kind} ${name}`),
  );
  if (chart === undefined) return missing;
  const refused = namesIn(home, 'flag').filter((flag) => !isTaken(chart, flag));
  const absent = namesIn(home, 'values-file').filter((key) => versionsWith(chart, key).length === 0);
  return [...missing, ...[...refused.map((flag) => `--${flag}`), ...absent].map((name) => `${chart} does not take ${name}`)];
}

const isWrittenBy = (chart: ChartName, key: string, flag: string): boolean =>
  // The token goes into a Secret, and its key stays empty.
  flag === 'token-file' ||
  CHARTS[chart].rows.some(({setting, paths}) => setting.id === flag && paths.some((path) => startsWith(path, at(key))));

/** The oldest and the newest version with the key must take it with its default, and the newest must not ignore it. */
function problemsOfKey(chart: ChartName, key: string, home: Home): string[] {
  const versions = versionsWith(chart, key);
  const [oldest, newest] = [versions[0], versions.at(-1)];
  if (oldest === undefined || newest === undefined) return ['no released version has it'];
  const isIgnored = CHARTS[chart].ignoredKeys.some(
    ({path, in: range, unless}) => path === key && unless === undefined && within(newest, range),
  );
  const refused = [oldest, newest].flatMap((version) => {
    const values = {};
    setAt(values, at(key), getAt(defaultsOf(chartSchema(chart), version), at(key)) as Tree);
    return reports(values, {chart, version}).filter((report) => report.startsWith('error'));
  });
  return [
    ...refused,
    ...(isIgnored && home.finding !== 'IGNORED_KEY' ? ['no template reads it'] : []),
    ...namesIn(home, 'flag')
      .filter((flag) => !isWrittenBy(chart, key, flag))
      .map((flag) => `--${flag} does not write it`),
  ];
}

/** Examples show a part of a file, so none holds a token. */
const reports = (values: Tree, target: Target): string[] =>
  validate(stringify(values), target)
    .filter(({code}) => code !== 'NO_TOKEN')
    .map(({severity, code, path}) => `${severity} ${code} ${path}`);

/** What `values` generates and warns of, or the error with the key that its message names. */
async function generated({chart, version}: Target, argv: readonly string[]): Promise<{values?: Tree; reported: string[]}> {
  const target = ['--chart', chart, '--chart-version', version, '--url', 'https://acme.scalr.io', '--json'];
  const {stdout} = await runCommand(Values, [...target, ...argv], {files: memoryFiles({token: 'abc'})});
  const {values, warnings, error} = JSON.parse(stdout);
  if (error !== undefined) return {reported: [`error ${error.code} ${error.message.match(/(?<=")[^"]+/) ?? ''}`.trim()]};
  return {values, reported: (warnings as Warning[]).map(({code}) => `warning ${code}`)};
}

const repeated = (texts: readonly string[]): string[] => texts.filter((text, index) => texts.indexOf(text) !== index);

describe.each(documents)('$file', ({items, values = {}, examples = [], ...document}) => {
  // The page on agents is about no chart, and has neither values nor examples of one.
  const chart = document.chart as ChartName;

  test('every item has a home that exists', () => {
    expect(items.flatMap((item) => problemsOf(item, document.chart).map((problem) => `${item.id}: ${problem}`))).toEqual([]);
  });

  test('no row is there twice, and every row says what it is about', () => {
    const rows = [...items, ...examples];
    expect(rows.filter(({id, section}) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id) || !section)).toEqual([]);
    expect(items.filter(({item}) => !item)).toEqual([]);
    expect([items.map(({id}) => id), items.map(({item}) => item), examples.map(({id}) => id)].flatMap(repeated)).toEqual([]);
  });

  test('every key of the table of values is taken, and written by its flags', () => {
    const found = Object.entries(values).flatMap(([key, home]) => {
      const where = home === 'values-file' ? {'values-file': key} : home;
      return [...problemsOf(where, chart), ...problemsOfKey(chart, key, where)].map((problem) => `${key}: ${problem}`);
    });
    expect(found).toEqual([]);
  });

  const cases = examples.flatMap(({results, ...example}) =>
    Object.entries(results).map(([version, result]) => ({...example, version, result})),
  );
  test.each(cases)('$id with $version', async ({version, result, set, flags, ...example}) => {
    const target = {chart, version};
    if (example.values !== undefined) {
      expect(reports(example.values, target).join(', ') || 'ok').toBe(result);
      return;
    }
    const given = await generated(
      target,
      (set ?? []).flatMap((each) => ['--set', each]),
    );
    const {reported: always} = await generated(target, []);
    expect(given.reported.filter((each) => !always.includes(each)).join(', ') || 'ok').toBe(result);
    if (flags === undefined) return;
    // Where this version refuses --set, the newest takes the flags.
    const flagged = await generated(given.values ? target : {chart, version: newestOf(chart)}, flags);
    expect(flagged.values, flagged.reported.join()).toEqual(given.values ?? expect.any(Object));
  });
});
