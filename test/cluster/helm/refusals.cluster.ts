import {join} from 'node:path';
import {afterAll, beforeAll, expect, inject, test} from 'vitest';
import {chartSchema, defaultsOf} from '../../../src/charts/releases/schema.ts';
import type {Target} from '../../../src/charts/releases/target.ts';
import type {KeyFinding} from '../../../src/ground/finding.ts';
import type {Values} from '../../../src/ground/tree.ts';
import {validate} from '../../../src/values/validate/validate.ts';
import {workplace} from '../../control-plane/workplace.ts';
import {DISTINCT, REAL} from './charts-under-test.ts';
import {isJudged, isMissed} from './judged.ts';
import {type Refusal, refusalIn} from './refused.ts';
import {rightValues, type Spoilt, spoilings, withAt} from './spoilt-values.ts';

/** Cases per version. `COUNT=1000 SEED=7` tests more, and prints the number of cases. */
const COUNT = Number(process.env['COUNT'] ?? 30);
const SEED = Number(process.env['SEED'] ?? 1);
let cases = 0;

let refusal: Refusal & {stop(): void};
beforeAll(async () => {
  if (REAL === undefined) return;
  const {kubeconfig, namespace} = await workplace();
  refusal = await refusalIn(kubeconfig, namespace);
});
afterAll(() => {
  refusal?.stop();
  if (process.env['COUNT']) process.stdout.write(`${cases} cases\n`);
});

const errorsIn = (values: Values, target: Target): KeyFinding[] =>
  validate(JSON.stringify(values), target).filter(({verdict}) => verdict === 'error');

const DROPPED = ['IGNORED_KEY', 'BREAKS_TEMPLATES'];

/** Keys of the full file that have no effect in some versions, or break their templates. */
function soundValues(target: Target, kind: 'own' | 'existing'): Values {
  const values = rightValues(target, kind);
  return errorsIn(values, target)
    .filter(({code}) => DROPPED.includes(code))
    .reduce((rest, {subject}) => withAt(rest, subject.path.split('.'), undefined), values);
}

test
  .skipIf(REAL === undefined || !inject('simulated'))
  .concurrent.each(
    DISTINCT.flatMap((target) => (['own', 'existing'] as const).map((kind) => ({...target, kind}))),
  )(
  '$chart $version, $kind: reports an error for what helm or Kubernetes refuses, and for little else',
  {timeout: 3_600_000},
  async ({chart, version, kind}) => {
    const target = {chart, version};
    const directory = join(REAL as string, chart, version);
    const right = soundValues(target, kind);
    expect(errorsIn(right, target)).toEqual([]);
    expect(await refusal(directory, JSON.stringify(right))).toBeUndefined();
    const wrong: string[] = [];
    for (const {path, how, values: make} of some(
      spoilings(right, defaultsOf(chartSchema(chart), version)),
      `${chart} ${version} ${kind}`,
    )) {
      cases += 1;
      const values = make();
      const found = errorsIn(values, target);
      const refused = await refusal(directory, JSON.stringify(values));
      const what = `${path.join('.')}: ${how}`;
      if (refused !== undefined && found.length === 0 && !isMissed(path.join('.'), how))
        wrong.push(`missed ${what}: ${refused}`);
      const odd = refused === undefined ? found.filter((each) => !isJudged(each)) : [];
      wrong.push(
        ...odd.map(
          (each) => `too strict ${what}: ${each.code} ${each.subject.path} ${each.message}`,
        ),
      );
    }
    expect(wrong).toEqual([]);
  },
);

/** Deterministic sample. */
function some(all: readonly Spoilt[], name: string): Spoilt[] {
  let state = [...name].reduce(
    (hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16777619),
    2166136261 ^ SEED,
  );
  const next = (): number => {
    state = Math.imul(state ^ (state >>> 15), state | 1);
    state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
    return ((state ^ (state >>> 14)) >>> 0) / 2 ** 32;
  };
  // Most paths are inside volumes and containers; every key of the chart must be included.
  const byKey = new Map<string, Spoilt[]>();
  for (const each of all) {
    const key = each.path.slice(0, 3).join('.');
    byKey.set(key, [...(byKey.get(key) ?? []), each]);
  }
  const keys = [...byKey.values()];
  return Array.from({length: COUNT}, () => {
    const of = keys[Math.floor(next() * keys.length)] as Spoilt[];
    return of[Math.floor(next() * of.length)] as Spoilt;
  });
}
