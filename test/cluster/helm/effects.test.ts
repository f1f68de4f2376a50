import assert from 'node:assert/strict';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {resolveAnswers} from '../../../src/answers/resolve.ts';
import {fromFlags} from '../../../src/answers/sources.ts';
import type {Target} from '../../../src/charts/releases/target.ts';
import {releasesOf} from '../../../src/charts/releases/target.ts';
import {ExpectedError} from '../../../src/ground/errors.ts';
import {NodeFiles} from '../../../src/ground/system/node-files.ts';
import {type GeneratedValues, generate} from '../../../src/values/generate.ts';
import {CHART_NAMES} from '../../support/versions.ts';
import {cases} from './cases/index.ts';
import {togetherCases} from './cases/together.ts';
import {directoryOf, REAL, targets} from './charts-under-test.ts';
import {broken, type Case, isTaken, settingsOf} from './claims.ts';
import {findHelm, findHelmMatrix, type Helm} from './find-helm.ts';
import {disagreements, variablesOfTemplates} from './own-variables.ts';
import {REACH_FILE, RECORD, reachDisagreements, reachOf, recordOf} from './reach.ts';
import {type Rendered, render} from './render.ts';
import {flaws} from './sound.ts';

/** Each helm process uses a whole core. */
const AT_ONCE = 3;

const STAND_IN =
  'A new key must be in test/cluster/helm/charts too. These charts are stand-ins: only SCALR_CHARTS=DIRECTORY with the released charts proves what a key does.';

let helms: readonly Helm[];
let scratch: string;
const reached: {target: Target; reach: ReadonlyMap<string, string>}[] = [];

beforeAll(async () => {
  // A stand-in chart proves nothing about a version of Helm.
  helms = REAL === undefined ? await findHelmMatrix() : await findHelm();
  scratch = await mkdtemp(join(tmpdir(), 'scalr-charts-'));
});

afterAll(async () => {
  await rm(scratch, {recursive: true, force: true});
});

for (const target of targets) {
  test(`${target.chart} ${target.version} does what the operator asked for`, {
    timeout: 300_000,
  }, async ({annotate}) => {
    const directory = await directoryOf(target, scratch);
    const outcomes = await mapAtMost(AT_ONCE, cases, (each) => examine(each, target, directory));
    const renders = outcomes.flatMap(({rendered}) => rendered);
    const seen = new Set(renders.flatMap(variablesOfTemplates));
    await annotate(
      `${cases.length} cases, ${renders.length} renders, ${outcomes.filter(({isRefused}) => isRefused).length} refused`,
    );
    const alone = outcomes
      .filter((_, index) => !togetherCases.includes(cases[index] as Case))
      .flatMap(({rendered}) => rendered.slice(0, 1));
    reached.push({target, reach: reachOf(alone)});
    const problems = [
      ...outcomes.flatMap((outcome) => outcome.problems),
      ...disagreements(target, seen),
    ];
    assert.equal(
      problems.length,
      0,
      ['', ...problems, ...(REAL === undefined ? [STAND_IN] : [])].join('\n'),
    );
  });
}

test('matches the charts in schemas/reach.json', async () => {
  const isComplete =
    REAL !== undefined &&
    CHART_NAMES.every(
      (chart) =>
        reached.filter(({target}) => target.chart === chart).length === releasesOf(chart).length,
    );
  if (isComplete) await expect(recordOf(reached)).toMatchFileSnapshot(fileURLToPath(REACH_FILE));
  else {
    const problems = reached.flatMap(({target, reach}) =>
      reachDisagreements(target, reach, REAL !== undefined),
    );
    assert.equal(problems.length, 0, ['', ...problems, RECORD].join('\n'));
  }
});

test('finds charts of every name to test', () => {
  expect(new Set(targets.map(({chart}) => chart)).size, `charts in ${REAL ?? 'this folder'}`).toBe(
    3,
  );
});

interface Outcome {
  rendered: Rendered[];
  isRefused: boolean;
  problems: string[];
}

async function examine(each: Case, target: Target, directory: string): Promise<Outcome> {
  const generated = await generateOrRefuse(each, target);
  const isRefused = generated instanceof ExpectedError;
  const problem = (text: string): Outcome => ({
    rendered: [],
    isRefused,
    problems: [`${each.name}: ${text}`],
  });
  if (isTaken(each, target)) {
    if (isRefused) return problem(`refused with ${generated.code}: ${generated.message}`);
  } else if (isRefused) {
    const code = each.refusal ?? 'UNSUPPORTED_SETTING';
    return generated.code === code
      ? {rendered: [], isRefused, problems: []}
      : problem(`refused with ${generated.code} instead of ${code}: ${generated.message}`);
  } else return problem('taken, although this version cannot do it');
  const problemsOf = new Map<string, Helm['major'][]>();
  const rendered: Rendered[] = [];
  for (const helm of helms) {
    const outcome = await renderAndCheck(each, helm, directory, generated);
    rendered.push(...outcome.rendered);
    for (const found of outcome.problems)
      problemsOf.set(found, [...(problemsOf.get(found) ?? []), helm.major]);
  }
  return {
    rendered,
    isRefused,
    problems: [...problemsOf].map(
      ([found, majors]) => `${each.name} (Helm ${majors.join(' and ')}): ${found}`,
    ),
  };
}

async function generateOrRefuse(
  each: Case,
  target: Target,
): Promise<GeneratedValues | ExpectedError> {
  const flags = {
    url: 'https://acme.scalr.io',
    chart: target.chart,
    'chart-version': target.version,
    // A case has a proxy with a password.
    'allow-clear-text': true,
    ...settingsOf(each, target),
  };
  try {
    return generate(
      await resolveAnswers([fromFlags(flags)], {files: new NodeFiles(), now: new Date()}),
    );
  } catch (error) {
    if (error instanceof ExpectedError) return error;
    throw error;
  }
}

async function renderAndCheck(
  each: Case,
  helm: Helm,
  directory: string,
  generated: GeneratedValues,
): Promise<{rendered: Rendered[]; problems: string[]}> {
  try {
    const rendered = await render(helm, directory, generated);
    return {rendered: [rendered], problems: [...flaws(rendered), ...broken(each.check(rendered))]};
  } catch (error) {
    return {rendered: [], problems: [String(error)]};
  }
}

/** Results in the order of the items, with `limit` of them processed at a time. */
async function mapAtMost<T, R>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({length: limit}, worker));
  return results;
}
