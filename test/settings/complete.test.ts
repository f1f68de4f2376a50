import {readdirSync} from 'node:fs';
import {expect, test} from 'vitest';
import {chartFor} from '../../src/charts/chart-version.ts';
import {CHARTS} from '../../src/charts/charts.ts';
import type {Target} from '../../src/charts/releases/target.ts';
import {VARIABLES_OF_SETTINGS} from '../../src/charts/shared/extra-variables.ts';
import {isWrittenWithoutRow, refusalOf, rowsFor} from '../../src/charts/shared/support.ts';
import {scopeOf} from '../../src/charts/support.ts';
import {at, sameTree} from '../../src/ground/tree.ts';
import {catalog} from '../../src/settings/catalog.ts';
import {extraEnv} from '../../src/settings/chart-values.ts';
import type {Setting} from '../../src/settings/define.ts';
import {cases} from '../cluster/helm/cases/index.ts';
import {settingsOf} from '../cluster/helm/claims.ts';
import {rawOf} from '../support/raw-settings.ts';
import {TARGETS} from '../support/versions.ts';

// docs/dev/recipes.md, "Add a setting": each test names the missing step.

const ids = (settings: readonly Setting[]): string[] => settings.map(({id}) => id);

test('every declared setting is in the catalog', async () => {
  const folder = new URL('../../src/settings/', import.meta.url);
  const modules = await Promise.all(
    readdirSync(folder)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => import(new URL(file, folder).href) as Promise<object>),
  );
  const declared = modules
    .flatMap((each) => Object.values(each))
    .filter((each): each is Setting => each?.env !== undefined && each.kind);
  const missing = declared.filter((setting) => !catalog.includes(setting));
  expect(ids(missing), 'add it to the list at the end of its file in src/settings').toEqual([]);
});

/** A setting that only means something with another one is refused with that one. */
const ownRows = catalog.filter(
  (each) => !isWrittenWithoutRow(each) && !each.carriedBy && !each.appliesWhen,
);

/** The values that a chart may take or refuse one by one. */
const valuesOf = ({kind}: Setting): readonly unknown[] =>
  kind.options ?? (kind.isSwitch ? [true, false] : [undefined]);

test('every setting has a row in a chart', () => {
  const rows = TARGETS.flatMap((target) => chartFor(target).rows);
  const missing = ownRows.filter((setting) => !rows.some((row) => row.setting === setting));
  expect(ids(missing), 'add a row to src/charts/<chart>/rows.ts').toEqual([]);
});

test.each(Object.values(CHARTS))('$name has a row or a reason for every setting', (chart) => {
  const hasRow = (target: Target, setting: Setting, value: unknown): boolean =>
    value === undefined
      ? chartFor(target).rows.some((row) => row.setting === setting)
      : rowsFor(chartFor(target), setting, value, scopeOf(target)).length > 0;
  const missing = TARGETS.filter((target) => target.chart === chart.name).flatMap((target) =>
    ownRows.flatMap((setting) =>
      valuesOf(setting)
        .filter(
          (value) =>
            !hasRow(target, setting, value) &&
            refusalOf(chartFor(target), setting, value) === undefined,
        )
        .map((value) => `${setting.id} ${value ?? ''} in ${target.version}`),
    ),
  );
  const step = `add a row to \`rows\`, or a reason for the value to \`refusals\`, in src/charts/${chart.name}; then npx vitest run test/settings test/charts`;
  expect(missing, step).toEqual([]);
});

const written = catalog.filter((setting) =>
  Object.values(CHARTS).some(({rows}) => rows.some((row) => row.setting === setting)),
);

test('every setting of a chart has raw answers for the round trip', () => {
  const missing = written.filter((setting) => rawOf(setting) === undefined);
  const step =
    'describe its values in test/support/raw-settings.ts; then npx vitest run test/values/round-trip.property.test.ts test/answers';
  expect(ids(missing), step).toEqual([]);
});

test('every setting that a chart writes is rendered with a real helm', () => {
  // Every case is given the address.
  const rendered = new Set([
    'url',
    ...TARGETS.flatMap((target) => cases.flatMap((each) => Object.keys(settingsOf(each, target)))),
  ]);
  const keys = written.filter((setting) =>
    Object.values(CHARTS).some(({rows}) =>
      rows.some((row) => row.setting === setting && row.paths.length > 0),
    ),
  );
  const step =
    'add a case to test/cluster/helm/cases; then SCALR_CHARTS=DIRECTORY npx vitest run test/cluster/helm/effects.test.ts -u (stand-in charts prove nothing about a new key)';
  expect(ids(keys.filter(({id}) => !rendered.has(id))), step).toEqual([]);
});

test('refuses every variable of a setting in --extra-env', () => {
  const missing = Object.values(CHARTS).flatMap(({rows, containers}) => {
    const maps = containers.flatMap((container) => container.extraEnv.map(at));
    const variables = rows.filter(
      (row) =>
        row.setting !== extraEnv &&
        row.paths.some((path) => maps.some((map) => sameTree(map, path))),
    );
    return variables
      .map(({setting}) => setting.id)
      .filter((id) => ![...VARIABLES_OF_SETTINGS.values()].some((setting) => setting.id === id));
  });
  expect(missing, 'give the setting its `variable` in src/settings').toEqual([]);
});
