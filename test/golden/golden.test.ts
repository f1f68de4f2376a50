import {readdirSync, readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {parseAnswers} from '../../src/answers/answers-file.ts';
import {resolve} from '../../src/answers/resolve.ts';
import {fromAnswers} from '../../src/answers/sources.ts';
import {ExpectedError} from '../../src/ground/errors.ts';
import {valuesDocument} from '../../src/values/document.ts';
import {generateChecked} from '../../src/values/validate/check-generated.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {TODAY} from '../support/settings-from.ts';

const folder = new URL('.', import.meta.url);
const cases = readdirSync(folder, {withFileTypes: true}).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

test('there are at least sixty cases', () => expect(cases.length).toBeGreaterThanOrEqual(60));

/** Answers in; values and warnings out, or the refusal. `vitest -u` writes them anew; the diff is for reviewing. */
test.each(cases)('%s', async (name) => {
  const file = (part: string) => new URL(`${name}/${part}`, folder).pathname;
  const answers = parseAnswers(readFileSync(file('answers.yaml'), 'utf8'), 'answers.yaml');
  try {
    const settings = await resolve([fromAnswers(answers)], {files: memoryFiles(certificates), now: TODAY});
    const generated = generateChecked(settings);
    expect(name).not.toMatch(/-refused$/);
    await expect(valuesDocument(generated)).toMatchFileSnapshot(file('values.yaml'));
    await expect(generated.warnings.map(({code, message}) => `${code}: ${message}\n`).join('')).toMatchFileSnapshot(file('warnings.txt'));
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    expect(name).toMatch(/-refused$/);
    const text = [`${error.code} (exit ${error.exit})`, error.message, ...error.suggestions.map((each) => `- ${each}`)].join('\n');
    await expect(`${text}\n`).toMatchFileSnapshot(file('error.txt'));
  }
});
