import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {parse, stringify} from 'yaml';
import {parseAnswers} from '../../src/answers/answers-file.ts';
import {resolveAnswers} from '../../src/answers/resolve.ts';
import {fromAnswers} from '../../src/answers/sources.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import type {Target} from '../../src/charts/releases/target.ts';
import {valuesDocument} from '../../src/values/document.ts';
import type {GeneratedValues} from '../../src/values/generate.ts';
import {generateChecked} from '../../src/values/validate/validate.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {TODAY} from '../support/settings-from.ts';
import {CHART_NAMES} from '../support/versions.ts';

/** Answers in; values and warnings out, or the lines of the error. */
export interface Golden {
  answers: object;
  values?: unknown;
  warnings?: readonly string[];
  error?: readonly string[];
}

export const tableOf = (chart: ChartName): string => join(import.meta.dirname, `${chart}.yaml`);

/** By version and name, such as 0.6.5-proxy. */
export const goldenCases = (chart: ChartName): Record<string, Golden> =>
  parse(readFileSync(tableOf(chart), 'utf8'));

/** @throws ExpectedError */
export async function generatedFor({answers}: Golden): Promise<GeneratedValues> {
  const settings = await resolveAnswers(
    [fromAnswers(parseAnswers(stringify(answers), 'answers.yaml'))],
    {
      files: memoryFiles(certificates),
      now: TODAY,
    },
  );
  return generateChecked(settings);
}

/** The values.yaml of every case that is not refused. */
export const DOCUMENTS: readonly {name: string; target: Target; text: string}[] = await Promise.all(
  CHART_NAMES.flatMap((chart) =>
    Object.entries(goldenCases(chart))
      .filter(([, {error}]) => error === undefined)
      .map(async ([name, each]) => {
        const generated = await generatedFor(each);
        return {
          name: `${chart}-${name}`,
          target: generated.target,
          text: valuesDocument(generated),
        };
      }),
  ),
);
