import {ExpectedError} from '../ground/errors.ts';
import type {ReadChart} from '../operations/read-chart.ts';
import {allowClearText} from '../settings/chart-values.ts';
import type {Setting} from '../settings/define.ts';
import type {Settings} from '../settings/settings.ts';
import type {GeneratedValues, GenerateFacts} from '../values/generate.ts';
import {generateChecked} from '../values/validate/validate.ts';
import {type ChartDeps, readChartOfSettings} from './read-chart.ts';
import {reportKeys, unconfirmedWarnings} from './report-keys.ts';

/** Values whose keys are not confirmed yet, and the chart that was read for them because its version is unknown. */
export interface UnconfirmedValues {
  generated: GeneratedValues;
  chart: ReadChart | undefined;
}

/** For commands that only read the values: they do not write the credentials in them. */
export const onlyRead = (settings: Settings): Settings =>
  settings.with(allowClearText as Setting, {value: true, source: 'default'});

/** Generates and validates the values. @throws ExpectedError */
export async function generateUnconfirmed(
  settings: Settings,
  facts: GenerateFacts | undefined,
  deps: ChartDeps,
): Promise<UnconfirmedValues> {
  const chart = await readChartOfSettings(settings, deps);
  return {generated: generateChecked(settings, facts, chart?.target), chart};
}

/** The same, with keys for an unknown chart version confirmed by rendering it. @throws ExpectedError */
export async function generateConfirmed(
  settings: Settings,
  facts: GenerateFacts | undefined,
  deps: ChartDeps,
): Promise<GeneratedValues> {
  return withKeyReport(await generateUnconfirmed(settings, facts, deps), deps);
}

/** @throws ExpectedError if the chart rejects the values */
export async function withKeyReport(
  made: UnconfirmedValues,
  deps: ChartDeps,
): Promise<GeneratedValues> {
  const [generated] = await withKeyReports([made], deps);
  if (generated instanceof ExpectedError) throw generated;
  return generated as GeneratedValues;
}

/** Adds warnings about keys without a confirmed effect; the chart can also reject the values. */
export async function withKeyReports(
  all: readonly UnconfirmedValues[],
  deps: ChartDeps,
): Promise<(GeneratedValues | ExpectedError)[]> {
  const given = all.map(({chart, generated: {values}}) => ({chart, values}));
  const confirmed = await reportKeys(given, deps);
  return all.map(({generated}, index) => {
    const found = confirmed[index];
    const warnings = [...generated.warnings, ...unconfirmedWarnings(found)];
    return found?.rejection ?? {...generated, warnings};
  });
}
