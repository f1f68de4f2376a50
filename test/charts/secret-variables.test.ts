import {expect, test} from 'vitest';
import {CHART_NAMES} from '../../src/charts/releases/chart-name.ts';
import {chartSchema, leavesOf} from '../../src/charts/releases/schema.ts';
import {releasesOf} from '../../src/charts/releases/target.ts';
import {spellPath} from '../../src/ground/tree.ts';

/** Texts and pages say that only the controller of agent-job can read variables from a Secret. */
test.each(CHART_NAMES)('keys of %s that take variables from a Secret', (name) => {
  const found = releasesOf(name).flatMap((version) =>
    leavesOf(chartSchema(name), version)
      .map(({path}) => spellPath(path))
      .filter((path) => /envFrom/i.test(path))
      .map((path) => ({path, version})),
  );
  const paths = [...new Set(found.map(({path}) => path))];
  expect(paths).toEqual(name === 'agent-job' ? ['agent.controller.extraEnvFrom'] : []);
  expect(found.some(({version}) => version === '0.5.64')).toBe(name === 'agent-job');
  expect(found.some(({version}) => version === '0.5.63')).toBe(false);
});
