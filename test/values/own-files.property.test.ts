import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {chartFor} from '../../src/charts/chart-version.ts';
import {chartSchema, type Leaf, leavesOf} from '../../src/charts/releases/schema.ts';
import type {Target} from '../../src/charts/releases/target.ts';
import Values from '../../src/commands/values.ts';
import {ExpectedError} from '../../src/ground/errors.ts';
import {spellPath} from '../../src/ground/tree.ts';
import {asHelmSet} from '../../src/settings/kinds/helm-set.ts';
import {valuesDocument} from '../../src/values/document.ts';
import {generateChecked, validate} from '../../src/values/validate/validate.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {RAW_IDS, rawSettings} from '../support/raw-settings.ts';
import {runCommand} from '../support/run-command.ts';
import {numRuns} from '../support/sample.ts';
import {type RawFlags, settingsFrom} from '../support/settings-from.ts';
import {someVersions} from '../support/versions.ts';

const RUNS = numRuns(10);
const URL = 'https://acme.scalr.io';

const TEXTS = ['x', 'own', 'true', '2', '40Gi', '500m', '/mnt/x/y', 'IfNotPresent', 'a:b', '-', ''];

/** What somebody could assign to a key, right or wrong. */
function rawOf({node}: Leaf): fc.Arbitrary<string> {
  const types = [node.type].flat();
  if (types.includes('boolean')) return fc.constantFrom('true', 'false');
  if (types.includes('integer') || types.includes('number'))
    return fc.constantFrom('0', '1', '30', '600', '1000000', '-1');
  if (node.enum) return fc.constantFrom(...node.enum.map(String));
  if (types.includes('array'))
    return fc.constantFrom(
      '{}',
      '[]',
      '[{"name":"own"}]',
      '[{"key":"a","operator":"Exists"}]',
      '["a"]',
    );
  if (types.includes('object'))
    return fc.constantFrom(
      '{}',
      '{"a":"b"}',
      '{"example.com/a":"1"}',
      '{"HTTP_PROXY":"x"}',
      'null',
    );
  return fc.constantFrom(...TEXTS);
}

const assignments = (target: Target): fc.Arbitrary<string[]> => {
  const leaves = leavesOf(chartSchema(target.chart), target.version).filter(
    ({node}) => !node['x-template-only'],
  );
  const one = fc
    .constantFrom(...leaves)
    .chain((leaf) => rawOf(leaf).map((value) => asHelmSet(spellPath(leaf.path), value)));
  return fc.uniqueArray(one, {maxLength: 3, selector: (each) => each.split('=')[0]});
};

/** Settings that the version has keys for, a few of them at a time: of many, one is rejected too often. */
const settingsOf = ({chart, version}: Target): fc.Arbitrary<RawFlags> => {
  const known = new Set(chartFor({chart, version}).rows.map(({setting}) => setting.id));
  const ids = RAW_IDS.filter((id) => known.has(id) && id !== 'url');
  return fc.subarray(ids, {maxLength: 4}).chain((some) => rawSettings(some));
};

/** The file that `values` writes, or undefined where it refuses for a reason it names. */
async function written(flags: RawFlags): Promise<string | undefined> {
  try {
    return valuesDocument(generateChecked(await settingsFrom(flags, certificates)));
  } catch (error) {
    if (error instanceof ExpectedError && error.code !== 'BUG') return undefined;
    throw error;
  }
}

const all = {tried: 0, written: 0};

test.each(
  someVersions(),
)('writes values of $chart $version without errors in validate', async (target) => {
  const cases = fc.record({
    flags: settingsOf(target),
    set: fc.oneof(fc.constant([]), assignments(target)),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({flags, set}) => {
      const given = {...flags, url: URL, chart: target.chart, 'chart-version': target.version};
      all.tried += 1;
      const file = await written(set.length > 0 ? {...given, set} : given);
      if (file === undefined) return;
      all.written += 1;
      expect(validate(file, target).filter(({verdict}) => verdict === 'error')).toEqual([]);
    }),
    {numRuns: RUNS},
  );
});

// Of a single version, chance can write too few.
test('of all these cases, many are written', () =>
  expect(all.written).toBeGreaterThanOrEqual(all.tried / 5));

describe('refuses what validate would reject', () => {
  const files = memoryFiles(certificates);
  const job = ['--url', URL, '--chart', 'agent-job'];

  test.each<[string, argv: string[], said: string]>([
    [
      'an identity without the form of its cloud',
      ['--service-account-annotation', 'eks.amazonaws.com/role-arn=foo', '--extra-env', 'A=b'],
      '--service-account-annotation: serviceAccount.annotations.eks.amazonaws.com/role-arn: "foo" is not a valid identity, such as arn:aws:iam::123456789012:role/scalr.',
    ],
    [
      'one directory for data and cache',
      ['--data-home', '/var/lib/scalr-agent/cache'],
      '--data-home: agent.dataDir: ',
    ],
    [
      'a bundle beside its Secret',
      ['--ca-file', 'ca.pem', '--set', 'global.tls.caBundleSecret.name=ca'],
      '--ca-file has no effect. global.tls.caBundle: ',
    ],
    [
      'a token Secret without a name',
      ['--set', 'agent.tokenExistingSecret.name='],
      'agent.token: An agent pool token is required.',
    ],
    [
      'an account without a token',
      ['--set', 'serviceAccount.automountToken=false'],
      '--set: serviceAccount.automountToken: ',
    ],
    [
      'neither account nor Role',
      ['--set', 'rbac.create=false,serviceAccount.create=false'],
      '--set: rbac.create: ',
    ],
    [
      'a key that no template reads',
      ['--set', 'persistence.data.persistentVolumeClaim.subPath=x'],
      '--set: persistence.data.persistentVolumeClaim.subPath: ',
    ],
  ])('%s', async (_, argv, said) => {
    const {stderr, stdout, exit} = await runCommand(Values, [...job, ...argv], {files});
    expect(stderr).toContain(said);
    expect({stdout, exit}).toEqual({stdout: '', exit: 2});
  });

  test('accepts one PVC for the workspaces with --concurrency 1, and warns without', async () => {
    const shared = [...job, '--set', 'persistence.data.enabled=true'];
    const once = await runCommand(Values, [...shared, '--concurrency', '1'], {files});
    const often = await runCommand(Values, shared, {files});
    expect(once.exit).toBe(0);
    expect(once.stderr).not.toContain('persistence.data');
    expect(often.exit).toBe(0);
    expect(often.stderr).toContain('Warning: persistence.data shares one PVC between all runs');
  });

  test('shows the warnings of validate', async () => {
    const {stderr, exit} = await runCommand(Values, [...job, '--set', 'rbac.create=false'], {
      files,
    });
    expect(stderr).toContain('rbac.create: The chart creates the service account without a Role');
    expect(exit).toBe(0);
  });
});
