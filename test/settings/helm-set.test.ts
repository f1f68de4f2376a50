import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {setAt, type Tree, type Values} from '../../src/ground/tree.ts';
import {set} from '../../src/settings/chart-values.ts';
import {asHelmSet, readHelmSet} from '../../src/settings/kinds/helm-set.ts';
import {InvalidValue} from '../../src/settings/kinds/kind.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';

const now = new Date(0);

/** The assignments as values; a scalar has no type before its chart is known. */
function valuesOf(items: readonly string[]): Values {
  const values: Values = {};
  for (const [path, value] of Object.entries(set.kind.parse(items, {now}))) {
    const keys = path.split(/(?<!\\)\./).map((key) => key.replaceAll('\\.', '.'));
    setAt(values, keys, value.startsWith('[') ? (JSON.parse(value) as Tree) : value);
  }
  return values;
}

/** What Helm reads, with scalars outside of lists as texts. */
const withTexts = (tree: Tree): Tree => {
  if (Array.isArray(tree)) return tree;
  if (tree === null || typeof tree !== 'object') return String(tree);
  return Object.fromEntries(Object.entries(tree).map(([key, below]) => [key, withTexts(below)]));
};

const CASES: readonly (readonly string[])[] = [
  ['a.b=1'],
  ['a.b=1,c.d=2'],
  ['a={x,y}'],
  ['a={x,y},b=1'],
  ['a={1,true,z}'],
  ['a[0].b=1'],
  ['a[0].key=dedicated,a[0].operator=Equal,a[1].key=spot,b=2'],
  ['t.a[0]=x', 't.a[1]=y'],
  ['a[0].b[0].c=x,a[0].b[1].c=y'],
  ['a\\.b=1'],
  ['x.a\\.b/c=y'],
  ['a[0].b\\.c=x'],
  ['a=x\\,y'],
  ['a=b=c'],
  ['a=x\\\\y'],
  ['a=,b=1'],
  ['a=x y'],
  ['a=1,'],
  ['x.a\\.b\\/c=y'],
  ['a=1,x\\,y=2'],
  ['a={x, y}'],
  ['a={x\\,y,z}'],
  ['a=1,b={x,y},c=2'],
  ['a.b={1,2},a.c=3'],
  ['a[0]={x,y}'],
  ['a[0].b={x,y},a[1].b={z}'],
  ['a.b[0].c=1,a.b[0].d=true,a.b[1].c=007'],
  ['a=x=1,b=2'],
  ['a=\\{x'],
  ['a[0]=,a[1]=null'],
  ['a[0].b=-5,a[1].b=1.5,a[2].b=1e3,a[3].b=0'],
];

describe('parses --set as Helm does', () => {
  let folder = '';
  let helm = '';
  beforeAll(async () => {
    [{path: helm} = {path: ''}] = await findHelm();
    folder = await mkdtemp(join(tmpdir(), 'helm-set-'));
    await mkdir(join(folder, 'templates'));
    await writeFile(join(folder, 'Chart.yaml'), 'apiVersion: v2\nname: a\nversion: 1.0.0\n');
    await writeFile(
      join(folder, 'templates', 'values.yaml'),
      'values: {{ toJson .Values | quote }}\n',
    );
  }, 120_000);
  afterAll(() => rm(folder, {recursive: true, force: true}));

  test.each(CASES.map((items) => [items.join(' '), items] as const))('%s', async (_, items) => {
    const {stdout} = await execa(helm, [
      'template',
      'r',
      folder,
      ...items.flatMap((each) => ['--set', each]),
    ]);
    const json = JSON.parse(stdout.slice(stdout.indexOf('values: ') + 'values: '.length)) as string;
    expect(valuesOf(items)).toEqual(withTexts(JSON.parse(json) as Tree));
  });
});

test.each([
  [
    'extraEnv.NO_PROXY=a,b',
    'starts another assignment, as in Helm',
    'Escape each comma of the value: extraEnv.NO_PROXY=a\\,b',
  ],
  ['a={x,y', 'has no closing "}"', 'Use a={a,b}'],
  ['a[1].b=1', 'has no item [0]', 'Set list items from [0] without gaps'],
  ['a[5000]=1', 'is too large', 'List indexes start at [0]'],
  ['a[x].b=1,c', 'starts another assignment', 'Escape each comma of the value: a[x].b=a\\,b'],
  ['novalue', 'has no "="', 'Use novalue=value'],
  ['replicaCount: 3', 'has no "="', 'Use replicaCount=value'],
])('refuses %s and suggests valid syntax', (item, message, suggestion) => {
  expect(() => readHelmSet([item])).toThrow(InvalidValue);
  try {
    readHelmSet([item]);
  } catch (error) {
    expect((error as InvalidValue).message).toContain(message);
    expect((error as InvalidValue).suggestion?.text).toBe(suggestion);
  }
});

test('parses JSON lists, JSON maps and quoted keys', () => {
  expect(readHelmSet(['tolerations=[{"key":"a","operator":"Exists"}]'])).toEqual([
    'tolerations=[{"key":"a","operator":"Exists"}]',
  ]);
  expect(readHelmSet(['nodeSelector={}'])).toEqual(['nodeSelector={}']);
  expect(readHelmSet(['nodeSelector."a.b/c"=x'])).toEqual(['nodeSelector.a\\.b/c=x']);
});

test.each([
  'x',
  'a,b',
  'a\\b',
  '{"a":1,"b":2}',
  '[1,2]',
  'a\\,b',
  '',
])('round trip of %s', (value) => {
  expect(readHelmSet([asHelmSet('a.b', value)])).toEqual([`a.b=${value}`]);
});
