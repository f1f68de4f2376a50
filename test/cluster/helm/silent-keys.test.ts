import {devNull} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {beforeAll, expect, test} from 'vitest';
import {chartSchema, type Leaf, leavesOf} from '../../../src/charts/releases/schema.ts';
import type {Target} from '../../../src/charts/releases/target.ts';
import type {KeyFinding} from '../../../src/ground/finding.ts';
import {at, getAt, sameTree, setAt, type Tree, type Values} from '../../../src/ground/tree.ts';
import {validate} from '../../../src/values/validate/validate.ts';
import {DISTINCT, REAL} from './charts-under-test.ts';
import {findHelm} from './find-helm.ts';
import {rightValues, withAt} from './spoilt-values.ts';

const BASE: Values = {agent: {token: 'abc', url: 'https://acme.scalr.io'}};

/** Keys whose value asks for what already is, so that nothing is lost. */
const HARMLESS = ['agent.podDisruptionBudget.enabled=false', 'otel.metricsEnabled=false'];
/** Rendered on the Job, where they have no effect. */
const ON_THE_JOB = ['workerNodeSelector', 'workerTolerations'];

let helm: string;
beforeAll(async () => {
  helm = (await findHelm())[0]?.path as string;
});

/** The manifest; undefined if helm refuses the values. */
async function manifestOf({chart, version}: Target, values: Values): Promise<string | undefined> {
  const argv = [
    'template',
    'prod',
    join(REAL as string, chart, version),
    '--namespace',
    'ns',
    '--values',
    '-',
    '--kube-version',
    '1.35.4',
  ];
  const env = {HOME: '/nowhere', KUBECONFIG: devNull};
  const {stdout, failed} = await execa(helm, argv, {
    input: JSON.stringify(values),
    reject: false,
    extendEnv: false,
    env,
  });
  return failed ? undefined : stdout;
}

/** A valid value other than the default. */
function otherValue({path, node, default: usual}: Leaf, rights: readonly Values[]): Tree {
  const right = rights
    .map((values) => getAt(values, path))
    .find((value) => value !== undefined && !sameTree(value, usual));
  if (right !== undefined) return right;
  const option = node.enum?.find((each) => each !== usual);
  if (option !== undefined) return option;
  if (typeof usual === 'boolean') return !usual;
  if (typeof usual === 'number') return usual + 1;
  if (Array.isArray(usual)) return ['a=1'];
  if (typeof usual === 'object') return {a: 'b'};
  if (/(storage|sizeLimit)$/.test(path.join('.'))) return '33Gi';
  if (path.at(-1) === 'accessMode')
    return usual === 'ReadWriteMany' ? 'ReadWriteOnce' : 'ReadWriteMany';
  return usual?.startsWith('/') ? '/var/lib/other' : 'other';
}

const errorsOf = (values: Values, target: Target): KeyFinding[] =>
  validate(JSON.stringify(values), target).filter(({verdict}) => verdict === 'error');

const isIgnored = ({code}: KeyFinding): boolean => code === 'IGNORED_KEY';

/** Every reported key is really ignored: without it, the manifest is the same. Keys that break the templates are left out. */
async function untrue(given: Values, target: Target): Promise<string[]> {
  const errors = errorsOf(given, target);
  const values = errors
    .filter(({code}) => code === 'BREAKS_TEMPLATES')
    .reduce((rest, {subject}) => withAt(rest, at(subject.path), undefined), given);
  const found = errors.filter((each) => isIgnored(each) && !ON_THE_JOB.includes(each.subject.path));
  if (found.length === 0) return [];
  const manifest = await manifestOf(target, values);
  if (manifest === undefined)
    return [`helm refuses the file with ${found.map(({subject}) => subject.path).join(', ')}`];
  const wrong: string[] = [];
  for (const {path} of found.map(({subject}) => subject)) {
    if ((await manifestOf(target, withAt(values, at(path), undefined))) !== manifest)
      wrong.push(`${path} has an effect`);
  }
  return wrong;
}

test.skipIf(REAL === undefined).each(DISTINCT)(
  '$chart $version: reports every key without effect, and no other',
  {timeout: 300_000},
  async (target) => {
    const rights = (['existing', 'own'] as const).map((kind) => rightValues(target, kind));
    const plain = await manifestOf(target, BASE);
    const wrong = (await Promise.all(rights.map((values) => untrue(values, target)))).flat();
    for (const leaf of leavesOf(chartSchema(target.chart), target.version)) {
      if (getAt(BASE, leaf.path) !== undefined) continue;
      const key = leaf.path.join('.');
      const value = otherValue(leaf, rights);
      const values = structuredClone(BASE);
      setAt(values, leaf.path, value);
      const errors = errorsOf(values, target);
      if (errors.some(isIgnored)) wrong.push(...(await untrue(values, target)));
      else if (
        errors.length === 0 &&
        !HARMLESS.includes(`${key}=${value}`) &&
        (await manifestOf(target, values)) === plain
      )
        wrong.push(`${key} has no effect, and is not reported`);
    }
    expect(wrong).toEqual([]);
  },
);
