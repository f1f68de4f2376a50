import {Ajv2020} from 'ajv/dist/2020.js';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {chartFor} from '../../src/charts/chart-version.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {chartSchema, closedSchema} from '../../src/charts/releases/schema.ts';
import {isWrittenWithoutRow, rowsFor} from '../../src/charts/shared/support.ts';
import {scopeOf, supports} from '../../src/charts/support.ts';
import {settingsOfRelease} from '../../src/cli/wizard-readings.ts';
import {ExpectedError} from '../../src/ground/errors.ts';
import {catalog} from '../../src/settings/catalog.ts';
import {Settings} from '../../src/settings/settings.ts';
import {valuesDocument} from '../../src/values/document.ts';
import {type GeneratedValues, generate} from '../../src/values/generate.ts';
import {effectiveValues, readValues} from '../../src/values/reading/read-values.ts';
import {certificates} from '../support/certificates.ts';
import {RAW_IDS, rawSettings} from '../support/raw-settings.ts';
import {numRuns} from '../support/sample.ts';
import {type RawFlags, settingsFrom} from '../support/settings-from.ts';
import {CHART_NAMES, someVersions, TARGETS} from '../support/versions.ts';

const RUNS = numRuns(2);

/** What these flags come to, or undefined where they are refused for a reason the program names. */
async function attempt(flags: RawFlags): Promise<GeneratedValues | undefined> {
  try {
    return generate(await settingsFrom(flags, certificates));
  } catch (error) {
    if (error instanceof ExpectedError && error.code !== 'BUG') return undefined;
    throw error;
  }
}

test.each(
  someVersions(),
)('an update of $chart $version with the settings of the release changes nothing', async ({
  chart,
  version,
}) => {
  await fc.assert(
    fc.asyncProperty(rawSettings(idsFor(chart, version)), async (raw) => {
      const installed = await supported({...raw, chart, 'chart-version': version});
      if (installed === undefined) throw new Error('not even the address was accepted');
      const {target, values} = installed;
      const found = [
        ...settingsOfRelease(values, target),
        ['chart', chart] as const,
        ['chart-version', version] as const,
      ]
        .filter(([, value]) => value !== undefined)
        .map(([id, value]) => [id, {value, source: 'prompt'} as const] as const);
      const again = generate(new Settings(new Map(found)), {}, target);
      expect(effectiveValues(again.values, target)).toEqual(effectiveValues(values, target));
    }),
    {numRuns: RUNS},
  );
});

/** Settings the chart takes with at least one value, so that few attempts are refused. */
function idsFor(chart: ChartName, version: string): string[] {
  const written = chartFor({chart, version}).rows.map((row) => row.setting.id);
  return RAW_IDS.filter((id) => id !== 'purpose' && written.includes(id));
}

/** Flags of which the unsupported ones are dropped one by one. */
async function supported(flags: RawFlags): Promise<GeneratedValues | undefined> {
  const ids = Object.keys(flags);
  const first = await attempt(flags);
  if (first !== undefined) return first;
  let kept: RawFlags = {
    url: 'https://acme.scalr.io',
    chart: flags['chart'] as string,
    'chart-version': flags['chart-version'] as string,
  };
  let last = await attempt(kept);
  for (const id of ids) {
    const more = {...kept, [id]: flags[id] as string};
    const next = await attempt(more);
    if (next !== undefined) [kept, last] = [more, next];
  }
  return last;
}

test.each(someVersions())('$chart $version reads back every setting it was written from', async ({
  chart,
  version,
}) => {
  const ajv = new Ajv2020({strict: false});
  const isValid = ajv.compile(closedSchema(chartSchema(chart), version));
  const untouched = readValues({}, {chart, version}).settings;
  let written = 0;
  await fc.assert(
    fc.asyncProperty(rawSettings(idsFor(chart, version)), async (raw) => {
      const generated = await supported({...raw, chart, 'chart-version': version});
      if (generated === undefined) throw new Error('not even the address was accepted');
      const {settings, target, values} = generated;
      const read = readValues(values, target);
      const scope = scopeOf(target, settings.get);
      for (const {setting, answer} of settings.entries()) {
        if (isWrittenWithoutRow(setting) || !supports(target, setting, settings)) continue;
        const rows = rowsFor(chartFor(target), setting, answer.value, scope);
        const isSilent = rows.every(
          (row) =>
            row.write(answer.value, scope).length === 0 &&
            read.settings.get(setting.id) === undefined,
        );
        if (isSilent) continue;
        expect({[setting.id]: read.settings.get(setting.id)}).toEqual({[setting.id]: answer.value});
        if (settings.isExplicit(setting) && setting.id !== 'url') written += 1;
      }
      const given = new Set(settings.entries().map(({setting}) => setting.id));
      for (const setting of catalog) {
        // A setting that belongs to another one comes to life with it.
        if (!given.has(setting.id) && !setting.appliesWhen)
          expect({[setting.id]: read.settings.get(setting.id)}).toEqual({
            [setting.id]: untouched.get(setting.id),
          });
      }
      expect(read.rest).toEqual([]);
      expect(isValid(values) || isValid.errors).toBe(true);
      expect(valuesDocument(generated)).toBe(valuesDocument(generate(settings)));
    }),
    {numRuns: RUNS},
  );
  expect(written / RUNS, 'settings a run, beside the address').toBeGreaterThan(4);
});

test.each(
  CHART_NAMES,
)('accepts any mixture of settings for %s, or names the reason why not', async (chart) => {
  await fc.assert(
    fc.asyncProperty(
      rawSettings(),
      fc.constantFrom(...TARGETS.filter((each) => each.chart === chart)),
      async (raw, {version}) => {
        await attempt({...raw, chart, 'chart-version': version});
      },
    ),
    {numRuns: RUNS * 50},
  );
});
