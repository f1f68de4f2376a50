import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {parse, stringify} from 'yaml';
import {ExpectedError} from '../../src/ground/errors.ts';
import {valuesDocument} from '../../src/values/document.ts';
import {CHART_NAMES} from '../support/versions.ts';
import {DOCUMENTS, type Golden, generatedFor, goldenCases, tableOf} from './cases.ts';

async function outcomeOf(golden: Golden): Promise<Golden> {
  const {answers} = golden;
  try {
    const generated = await generatedFor(golden);
    const warnings = generated.warnings.map(({code, message}) => `${code}: ${message}`);
    return {answers, values: parse(valuesDocument(generated)), warnings};
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const suggestions = error.suggestions.map((each) => `- ${each}`);
    return {
      answers,
      error: [`${error.code} (exit ${error.exit})`, ...error.message.split('\n'), ...suggestions],
    };
  }
}

/** `vitest -u` writes values, warnings and errors anew; the diff is for reviewing. */
test.each(CHART_NAMES)('answers for %s give these values, warnings and errors', async (chart) => {
  const cases = goldenCases(chart);
  const outcomes = await Promise.all(
    Object.entries(cases).map(async ([name, each]) => [name, await outcomeOf(each)] as const),
  );
  for (const [name, {error}] of outcomes)
    expect([name, error !== undefined]).toEqual([name, name.endsWith('-refused')]);
  await expect(stringify(Object.fromEntries(outcomes), {lineWidth: 0})).toMatchFileSnapshot(
    tableOf(chart),
  );
});

test('there are at least sixty cases', () => expect(DOCUMENTS.length).toBeGreaterThanOrEqual(60));

const documents = join(import.meta.dirname, 'documents');

/** With header, reasons and comments. */
test.each(readdirSync(documents))('the whole file %s', async (file) => {
  const {text} = DOCUMENTS.find(({name}) => `${name}.yaml` === file) as (typeof DOCUMENTS)[number];
  await expect(text).toMatchFileSnapshot(join(documents, file));
});
