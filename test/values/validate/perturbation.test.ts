import {afterAll, expect, test} from 'vitest';
import {chartSchema, type Leaf, leavesOf} from '../../../src/charts/releases/schema.ts';
import {newestOf} from '../../../src/charts/releases/target.ts';
import {type Path, setAt, startsWith, type Tree, type Values} from '../../../src/ground/tree.ts';
import {toYaml} from '../../../src/values/document.ts';
import {validate} from '../../../src/values/validate/validate.ts';
import {sample} from '../../support/sample.ts';
import {CHART_NAMES, someVersions, TARGETS} from '../../support/versions.ts';

/** Every default of a release, or one of four, is spoilt in five ways, one at a time; each has to be found at its place. */
const found = {misspelled: 0, mistyped: 0, moved: 0, nulled: 0, 'spelled as in another chart': 0};

/** Below what Kubernetes types null drops a default on purpose: no CPU limit, no fixed user. */
const isKubernetes = ({path, node}: Leaf): boolean =>
  node['x-kubernetes'] !== undefined ||
  /(^|\.)(resources|[pP]odSecurityContext|securityContext)(\.|$)/.test(path.join('.'));

/** Of another type than the default. Variables take every scalar, so a list stands for the wrong one. */
function mistyped({node, default: value}: Leaf): Tree {
  const types = [node.type].flat();
  // A switch that templates only print may stand in quotes.
  if (node.format === 'flag') return ['text'];
  if (typeof value === 'boolean') return String(!value);
  if (types.includes('object') || types.includes('array')) return 'text';
  return types.includes('string') && types.length === 1 ? true : ['text'];
}

/** Versions whose trees differ. */
const DIFFERENT = TARGETS.filter(({chart, version}, index) => {
  const before = TARGETS[index - 1];
  return (
    before?.chart !== chart ||
    JSON.stringify(leavesOf(chartSchema(chart), version)) !==
      JSON.stringify(leavesOf(chartSchema(chart), before.version))
  );
});

test.each(someVersions(DIFFERENT))('reports damaged values of $chart $version', (target) => {
  const leaves = leavesOf(chartSchema(target.chart), target.version);
  const isKnown = (path: Path): boolean =>
    leaves.some((leaf) => startsWith(leaf.path, path) || startsWith(path, leaf.path));
  const missed: string[] = [];
  const spoil = (how: keyof typeof found, path: Path, value: Tree): void => {
    const values: Values = {};
    setAt(values, path, value);
    const line = toYaml(values).split('\n').length - 1;
    const isFound = validate(toYaml(values), target).some(
      (each) =>
        each.verdict === 'error' && each.code !== 'NO_TOKEN' && (each.subject.line ?? 0) <= line,
    );
    if (isFound) found[how] += 1;
    else missed.push(`${how}: ${path.join('.')}`);
  };
  for (const leaf of sample(leaves, 4).filter(({node}) => !node['x-template-only'])) {
    const {path, default: value} = leaf;
    spoil('misspelled', [...path.slice(0, -1), `${path.at(-1)}x`], value);
    // A cpu of 1 and an amount without unit are quantities too.
    if (!/\.(cpu|memory|procMount)$/.test(path.join('.'))) spoil('mistyped', path, mistyped(leaf));
    const moved = path.length > 1 ? path.slice(1) : ['agent', ...path];
    if (!isKnown(moved)) spoil('moved', moved, value);
    if (!isEmpty(value) && !isNullable(leaf.node.type) && !isKubernetes(leaf))
      spoil('nulled', path, null);
  }
  for (const other of CHART_NAMES.filter((name) => name !== target.chart)) {
    for (const {path, default: value} of sample(leavesOf(chartSchema(other), newestOf(other)), 4)) {
      if (!isKnown(path) && !/^resources\./.test(path.join('.')))
        spoil('spelled as in another chart', path, value);
    }
  }
  expect(missed).toEqual([]);
});

/** The templates render the same for null here. */
const isEmpty = (value: Tree): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

const isNullable = (type: unknown): boolean => [type].flat().includes('null');

afterAll(() => {
  if (process.env['COUNT']) process.stdout.write(`${JSON.stringify(found)}\n`);
});
