import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {parse, stringify} from 'yaml';
import {CHARTS} from '../../src/charts/charts.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import type {Target} from '../../src/charts/releases/target.ts';
import {newestOf} from '../../src/charts/releases/target.ts';
import Values from '../../src/commands/values.ts';
import type {SettingFinding} from '../../src/ground/finding.ts';
import {at, startsWith, type Tree} from '../../src/ground/tree.ts';
import {validate} from '../../src/values/validate/validate.ts';
import {REAL} from '../cluster/helm/charts-under-test.ts';
import {findHelm, type Helm} from '../cluster/helm/find-helm.ts';
import {settings, takenBy} from '../docs/settings.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';
import {CHART_NAMES} from '../support/versions.ts';
import {
  EFFECTS_FILE,
  effectOf,
  effects,
  isReached,
  type Sample,
  versionsOf,
  versionsWith,
  withSample,
} from './effects.ts';
import {TEXTS} from './homes.ts';

// What the documents of upstream describe, and where this program covers it: docs/dev/recipes.md, "Add a row to the tables of documents".

type Kind = keyof typeof TEXTS;
type Home = Partial<Record<Kind | 'values-file' | 'reason', string | readonly string[]>>;

interface Item extends Home {
  id: string;
  section: string;
  item: string;
  /** Words that a user finds: each of them at one home, and at each home one of them. */
  says?: readonly string[];
}

/** A key of the table of values: the flags that write it, a sample for a values file, or the finding that reports it. */
interface Key extends Home, Partial<Sample> {
  /** The first version in which it has an effect, if that is not the first with the key. */
  from?: string;
}

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
  /** The version that it describes. */
  version?: string;
  items: readonly Item[];
  values?: Readonly<Record<string, Key>>;
  examples?: readonly Example[];
}

const documents = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => ({
    file,
    ...(parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as UpstreamDocument),
  }));

const KINDS = Object.keys(TEXTS) as Kind[];

const namesIn = (home: Home, kind: keyof Home): readonly string[] => [home[kind] ?? []].flat();

const isTaken = (chart: ChartName, flag: string): boolean => {
  const setting = settings.find(({id}) => id === flag);
  const charts = setting === undefined ? 'all' : takenBy(setting);
  return charts === 'all' || charts.split(', ').includes(chart.replace('agent-', ''));
};

const plain = (text: string): string => text.toLowerCase().replaceAll(/\s+/g, ' ');

/** Homes that do not exist or say nothing of it, and words that no home says. */
function problemsOf({says = [], reason, ...home}: Item, chart?: ChartName): string[] {
  const names = KINDS.flatMap((kind) =>
    namesIn(home, kind).map((name) => ({kind, name, text: TEXTS[kind](name)})),
  );
  const keys = namesIn(home, 'values-file');
  if (reason !== undefined)
    return /^not covered: \w/.test(String(reason)) && names.length + keys.length === 0
      ? []
      : ['a reason stands alone, and begins with "not covered: "'];
  if (names.length + keys.length === 0) return ['it has no home'];
  const words = says.map(plain);
  const texts = names.map(({text = ''}) => plain(text));
  const charts = chart === undefined ? CHART_NAMES : [chart];
  return [
    ...names
      .filter(({text}) => text === undefined)
      .map(({kind, name}) => `there is no ${kind} ${name}`),
    ...names
      .filter(({text}) => text !== undefined && !words.some((word) => plain(text).includes(word)))
      .map(({kind, name}) => `${kind} ${name} says none of: ${says.join(', ')}`),
    ...words
      .filter((word) => !texts.some((text) => text.includes(word)))
      .map((word) => `no home says "${word}"`),
    ...(chart === undefined
      ? []
      : namesIn(home, 'flag').filter((flag) => !isTaken(chart, flag))
    ).map((flag) => `${chart} does not take --${flag}`),
    ...keys
      .filter((key) => charts.every((each) => versionsWith(each, key).length === 0))
      .map((key) => `no version has ${key}`),
  ];
}

const isWrittenBy = (chart: ChartName, key: string, flag: string): boolean =>
  CHARTS[chart].rows.some(
    ({setting, paths}) => setting.id === flag && paths.some((path) => startsWith(path, at(key))),
  );

/** The token goes into a Secret, and its key stays empty. */
const INTO_SECRET = 'agent.token';
/** Every file of the tests has it, so that no difference is recorded. */
const ALWAYS_WRITTEN = 'agent.url';

/** A flag writes the key, a file may set it, or a finding reports it; in the first two cases, the released chart changes. */
function problemsOfKey(target: Target, key: string, {finding, ...home}: Key): string[] {
  const {chart, version} = target;
  if (key === INTO_SECRET) return [];
  if (finding !== undefined)
    return isReported(target, key, String(finding), home)
      ? []
      : [`${finding} is not reported in ${version}`];
  const flags = namesIn(home, 'flag');
  const unwritten = flags
    .filter((flag) => !isWrittenBy(chart, key, flag))
    .map((flag) => `--${flag} does not write it`);
  if (hasSample(home)) {
    const found = reports(withSample(key, home), target).filter((report) =>
      report.startsWith('error'),
    );
    const hasEffect = (effects[chart]?.[version]?.[key] ?? '') !== '';
    return [
      ...unwritten,
      ...found,
      ...(hasEffect ? [] : [`no difference is recorded in ${version}: ${RECORD}`]),
    ];
  }
  if (flags.length === 0) return ['it has no home'];
  return [
    ...unwritten,
    ...(key === ALWAYS_WRITTEN || isReached(target, key)
      ? []
      : [`schemas/reach.json has no difference in ${version}`]),
  ];
}

const hasSample = (home: Key): home is Key & Sample => home.set !== undefined;

/** Without a sample, the key has no effect. */
const isReported = (target: Target, key: string, code: string, home: Key): boolean =>
  hasSample(home)
    ? reports(withSample(key, home), target).some((report) => report.includes(` ${code} `))
    : code === 'IGNORED_KEY' &&
      CHARTS[target.chart].ignoredKeys.some(({path}) => startsWith(at(path), at(key)));

const RECORD = 'SCALR_CHARTS=DIRECTORY npx vitest run -u test/documents';

/** Examples show a part of a file, so none holds a token. */
const reports = (values: Tree, target: Target): string[] =>
  validate(stringify(values), target)
    .filter(({code}) => code !== 'NO_TOKEN')
    .map(({verdict, code, subject}) => `${verdict} ${code} ${subject.path}`);

/** What `values` generates and warns of, or the error with the key that its message names. */
async function generated(
  {chart, version}: Target,
  argv: readonly string[],
): Promise<{values?: Tree; reported: string[]}> {
  const target = [
    '--chart',
    chart,
    '--chart-version',
    version,
    '--url',
    'https://acme.scalr.io',
    '--json',
  ];
  const {stdout} = await runCommand(Values, [...target, ...argv], {
    files: memoryFiles({token: 'abc'}),
  });
  const {values, warnings, error} = JSON.parse(stdout);
  if (error !== undefined)
    return {
      reported: [
        `error ${error.code} ${error.message.match(/(?<=no key )\w[\w.]*\w|\b[a-z]\w*(?:\.\w+)+/i) ?? ''}`.trim(),
      ],
    };
  return {values, reported: (warnings as SettingFinding[]).map(({code}) => `warning ${code}`)};
}

const repeated = (texts: readonly string[]): string[] =>
  texts.filter((text, index) => texts.indexOf(text) !== index);

/** Every key of a table, in the version of the document and in the newest. */
const keys = documents.flatMap(({file, chart, version, values = {}}) =>
  chart === undefined || version === undefined
    ? []
    : Object.entries(values).flatMap(([key, home]) =>
        versionsOf(chart, key, home.from ?? version).map((each) => ({
          file,
          chart,
          version: each,
          key,
          home,
        })),
      ),
);

test.skipIf(REAL === undefined)(
  'records what keys without a flag change in the released charts',
  {timeout: 600_000},
  async () => {
    const [helm] = await findHelm();
    const found: typeof effects = {};
    for (const {chart, version, key, home} of keys) {
      if (!hasSample(home) || home.finding !== undefined) continue;
      const effect = await effectOf({chart, version}, key, home, helm as Helm);
      const {[chart]: ofChart = {}} = found;
      found[chart] = {...ofChart, [version]: {...ofChart[version], [key]: effect}};
    }
    await expect(`${JSON.stringify(found, null, 2)}\n`).toMatchFileSnapshot(EFFECTS_FILE);
  },
);

describe.each(documents)('$file', ({items, examples = [], ...document}) => {
  // The page on agents is about no chart, and has neither values nor examples of one.
  const chart = document.chart as ChartName;

  test('every item has a home that says what the row states', () => {
    expect(
      items.flatMap((item) =>
        problemsOf(item, document.chart).map((problem) => `${item.id}: ${problem}`),
      ),
    ).toEqual([]);
  });

  test('no row is there twice, and every row says what it is about', () => {
    const rows = [...items, ...examples];
    expect(
      rows.filter(({id, section}) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id) || !section),
    ).toEqual([]);
    expect(items.filter(({item}) => !item)).toEqual([]);
    expect(
      [items.map(({id}) => id), items.map(({item}) => item), examples.map(({id}) => id)].flatMap(
        repeated,
      ),
    ).toEqual([]);
  });

  test('every key of the table of values has an effect through its home', () => {
    const found = keys
      .filter((each) => each.file === document.file)
      .flatMap(({key, home, chart: name, version}) =>
        problemsOfKey({chart: name, version}, key, home).map((problem) => `${key}: ${problem}`),
      );
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
    const flagged = await generated(
      given.values ? target : {chart, version: newestOf(chart)},
      flags,
    );
    expect(flagged.values, flagged.reported.join()).toEqual(given.values ?? expect.any(Object));
  });
});
