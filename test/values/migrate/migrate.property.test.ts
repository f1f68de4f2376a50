import {Ajv2020} from 'ajv/dist/2020.js';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {chartFor} from '../../../src/charts/chart-version.ts';
import {
  chartSchema,
  closedSchema,
  type Leaf,
  leavesOf,
} from '../../../src/charts/releases/schema.ts';
import type {Target} from '../../../src/charts/releases/target.ts';
import {protectionsOf} from '../../../src/charts/security.ts';
import {ExpectedError} from '../../../src/ground/errors.ts';
import {
  copyOf,
  getAt,
  leafPaths,
  sameTree,
  setAt,
  spellPath,
  type Tree,
  type Values,
} from '../../../src/ground/tree.ts';
import {toYaml} from '../../../src/values/document.ts';
import {generate} from '../../../src/values/generate.ts';
import {type MigratedValues, migrateValues} from '../../../src/values/migrate/migrate.ts';
import {migrateText} from '../../../src/values/migrate/migrate-text.ts';
import {explicitSettings} from '../../../src/values/migrate/old-settings.ts';
import {effectiveValues, readEffective} from '../../../src/values/reading/read-values.ts';
import {readSource} from '../../../src/values/reading/source.ts';
import {validate} from '../../../src/values/validate/validate.ts';
import {certificates} from '../../support/certificates.ts';
import {RAW_IDS, rawSettings} from '../../support/raw-settings.ts';
import {numRuns} from '../../support/sample.ts';
import {type RawFlags, settingsFrom} from '../../support/settings-from.ts';
import {TARGETS} from '../../support/versions.ts';

const isFull = process.env['TEST_FULL'] === '1';
const RUNS = numRuns(6);
const URL = 'https://acme.scalr.io';
const TOKEN = 'eyJhbGciOiJub25lIn0.eyJqdGkiOiJ4In0.c2lnbmF0dXJl';

/** Values of keys without a setting. */
function treeOf({node, path}: Leaf): fc.Arbitrary<Tree> {
  const types = [node.type].flat();
  if (types.includes('boolean')) return fc.boolean();
  if (types.includes('integer') || types.includes('number')) return fc.constantFrom(1, 30, 600);
  if (types.includes('array'))
    return fc.constantFrom<Tree>(
      [],
      ['a'],
      [{name: 'own', emptyDir: {}}],
      [{name: 'own', mountPath: '/own'}],
    );
  if (types.includes('object'))
    return fc.constantFrom<Tree>(
      {},
      {a: 'b'},
      {'example.com/a': '1'},
      {AWS_REGION: 'x', NUMBER: 5},
    );
  if (path.at(-1) === 'token') return fc.constant(TOKEN);
  if (path.at(-1) === 'cpu') return fc.constantFrom<Tree>('2', '500m');
  return fc.constantFrom<Tree>('own', '2', '40Gi', '500m', '/mnt/x');
}

const keysOf = ({chart, version}: Target): fc.Arbitrary<[readonly string[], Tree][]> => {
  const leaves = leavesOf(chartSchema(chart), version);
  const one = fc
    .constantFrom(...leaves)
    .chain((leaf) => treeOf(leaf).map((tree): [readonly string[], Tree] => [leaf.path, tree]));
  return fc.array(one, {maxLength: 6});
};

function idsFor({chart, version}: Target): string[] {
  const written = chartFor({chart, version}).rows.map((row) => row.setting.id);
  return RAW_IDS.filter((id) => id !== 'purpose' && written.includes(id));
}

const cases = (from: Target): fc.Arbitrary<{flags: RawFlags; keys: [readonly string[], Tree][]}> =>
  fc.record({flags: rawSettings(idsFor(from)), keys: keysOf(from)});

const errorsIn = (values: Values, target: Target) =>
  validate(toYaml(values), target)
    .filter(({verdict}) => verdict === 'error')
    .map(({code, subject, message}) => `${code} ${subject.path} ${message}`);

/** Valid values of a version: as many of the settings and keys as it accepts together. */
async function valuesOf(
  from: Target,
  {flags, keys}: {flags: RawFlags; keys: [readonly string[], Tree][]},
): Promise<Values> {
  const base = {url: URL, chart: from.chart, 'chart-version': from.version};
  let [kept, values]: [RawFlags, Values] = [base, generate(await settingsFrom(base)).values];
  for (const [id, value] of Object.entries(flags)) {
    if (id === 'url') continue;
    try {
      const more = {...kept, [id]: value};
      const next = generate(await settingsFrom(more, certificates)).values;
      if (errorsIn(next, from).length === 0) [kept, values] = [more, next];
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
    }
  }
  for (const [path, tree] of keys) {
    if (getAt(values, path) !== undefined) continue;
    const more = copyOf(values);
    setAt(more, path, tree);
    if (errorsIn(more, from).length === 0) values = more;
  }
  return values;
}

/** What a migration must never do: lose a key or a setting without a word, print a token, or write invalid values. */
function check(values: Values, from: Target, to: Target): MigratedValues {
  const migrated = migrateValues(values, from, to);
  const {changes, moves, values: after} = migrated;
  const listed = new Set(changes.map(({subject}) => subject.path));
  for (const path of leafPaths(values)) {
    const isKept = sameTree(getAt(after, path), getAt(values, path));
    const isMoved = moves.some(
      (each) =>
        sameTree(each.from, path) && each.to.every((place) => getAt(after, place) !== undefined),
    );
    if (!isKept && !isMoved)
      expect(listed, `${spellPath(path)} is lost`).toContain(spellPath(path));
  }
  const read = readEffective(effectiveValues(after, to), to).settings;
  for (const {setting, value, leaves} of explicitSettings(values, from)) {
    if (sameTree(read.get(setting.id), value)) continue;
    const isListed = leaves.length === 0 || leaves.some((path) => listed.has(spellPath(path)));
    expect(
      isListed,
      `${setting.id} was ${JSON.stringify(value)} and is ${JSON.stringify(read.get(setting.id))}`,
    ).toBe(true);
  }
  for (const {name, isOn} of protectionsOf(from)) {
    const isLost =
      isOn(effectiveValues(values, from)) &&
      !protectionsOf(to).some(
        (each) => each.name === name && each.isOn(effectiveValues(after, to)),
      );
    if (isLost)
      expect(
        changes.some(({message}) => message.includes(name) && message.includes('cannot be kept')),
        `${name} is lost`,
      ).toBe(true);
  }
  expect(errorsIn(after, to)).toEqual([]);
  const isValid = new Ajv2020({strict: false, validateFormats: false}).compile(
    closedSchema(chartSchema(to.chart), to.version),
  );
  expect(isValid(after) || isValid.errors).toBe(true);
  expect(JSON.stringify([changes, after])).not.toContain(TOKEN);
  expect(
    readSource(migrateText({file: 'values.yaml', text: toYaml(values)}, from, to).text).source
      ?.values,
  ).toEqual(after);
  return migrated;
}

/** Defaults of the chart as far as the target can have them; what remains does not fit the other keys. Returns their number. */
function checkKeptDefaults(values: Values, from: Target, to: Target): number {
  const {changes, values: after} = migrateValues(values, from, to, {keeps: 'all'});
  expect(errorsIn(after, to)).toEqual([]);
  const listed = migrateValues(values, from, to).changes.map(({subject}) => subject.path);
  for (const {kind, remedies, subject} of changes)
    if (kind === 'default-changed' && remedies.length > 0) expect(listed).toContain(subject.path);
  return changes.filter(({message}) => message.includes('The old value is written')).length;
}

function checkSameVersion(values: Values, from: Target): void {
  // Secrets are replaced in every migration.
  if (leafPaths(values).some((path) => ['token', 'clientKey'].includes(path.at(-1) as string)))
    return;
  expect(migrateValues(values, from, from).values).toEqual(values);
}

/** To every other version in the weekly run, else to one of the chart and to one of another chart. */
function targetsOf(from: Target): fc.Arbitrary<readonly Target[]> {
  if (isFull) return fc.constant(TARGETS);
  const own = TARGETS.filter(({chart}) => chart === from.chart);
  const others = TARGETS.filter(({chart}) => chart !== from.chart);
  return fc.tuple(fc.constantFrom(...own), fc.constantFrom(...others));
}

test('keeps or lists every setting and key, keeps defaults if asked to, and changes nothing in the same version', {
  timeout: isFull ? 3_600_000 : 600_000,
}, async () => {
  const renamed = {version: 0, chart: 0};
  let kept = 0;
  const migrateFrom = (versions: fc.Arbitrary<Target>, numRuns: number) =>
    fc.assert(
      fc.asyncProperty(
        versions.chain((from) =>
          fc.record({from: fc.constant(from), to: targetsOf(from), given: cases(from)}),
        ),
        async ({from, to, given}) => {
          const values = await valuesOf(from, given);
          checkSameVersion(values, from);
          for (const each of to) {
            const between = each.chart === from.chart ? 'version' : 'chart';
            renamed[between] += check(values, from, each).moves.length;
            kept += checkKeptDefaults(values, from, each);
          }
        },
      ),
      {numRuns},
    );
  if (isFull) for (const from of TARGETS) await migrateFrom(fc.constant(from), 1);
  else await migrateFrom(fc.constantFrom(...TARGETS), RUNS);
  // Few keys are renamed between versions of a chart: random pairs of a short run can miss all of them.
  if (isFull) expect(renamed.version).toBeGreaterThan(0);
  expect(renamed.chart).toBeGreaterThan(RUNS / 2);
  expect(kept).toBeGreaterThan(0);
});

test('lists every key of a rejected setting', () => {
  const [from, to] = [
    {chart: 'agent-k8s', version: '0.5.58'},
    {chart: 'agent-local', version: '0.6.5'},
  ] as const;
  const agent = {
    url: 'https://a.scalr.io',
    tokenExistingSecret: 'token',
    worker_on_stop_action: 'grace-shutdown',
    grace_shutdown_timeout: 10,
  };
  const {changes} = check({agent, terminationGracePeriodSeconds: 20}, from, to);
  const dropped = changes.flatMap(({kind, subject}) => (kind === 'dropped' ? [subject.path] : []));
  expect(dropped).toEqual(['terminationGracePeriodSeconds', 'agent.grace_shutdown_timeout']);
});

test.each<[Target['chart'], Values]>([
  ['agent-job', {persistence: {cache: {enabled: true, persistentVolumeClaim: {storage: '900Mi'}}}}],
  ['agent-k8s', {image: {repository: 'mirror.example.com/scalr/agent'}}],
])('writes no key of %s that could be set before and was not', (chart, own) => {
  const [from, to] = ['0.6.4', '0.6.5'].map((version) => ({chart, version})) as [Target, Target];
  const agent = {url: URL, tokenExistingSecret: chart === 'agent-k8s' ? 'token' : {name: 'token'}};
  const values = {...own, agent};
  for (const old of [from, to]) expect(migrateValues(values, old, to).values).toEqual(values);
});
