import {expect, test} from 'vitest';
import {generatedBy, valuesDocument} from '../../src/values/document.ts';
import {generate} from '../../src/values/generate.ts';
import {certificates} from '../support/certificates.ts';
import {type RawFlags, settingsFrom} from '../support/settings-from.ts';

const NOTE = 'Only the last part of an absolute path is recorded.';
const CA = String(certificates['ca.pem']);
const FILES = {'/etc/ssl/ca.pem': CA, 'ca.pem': CA};

const settingsOf = (flags: RawFlags) =>
  settingsFrom({url: 'https://acme.scalr.io', chart: 'agent-local', ...flags}, FILES);

const documentOf = async (flags: RawFlags): Promise<string> =>
  valuesDocument(generate(await settingsOf(flags)));

test.each([
  ['./agent-local', false],
  ['/charts/agent-local/0.6.5', false],
  ['oci://registry.example.com/agent-local', true],
])('the command for a known version with the chart %s has its source: %s', async (source, isNamed) => {
  const document = await documentOf({'chart-source': source, 'chart-version': '0.6.5'});
  expect(document.includes('--chart-source')).toBe(isNamed);
  expect(document).not.toContain(NOTE);
});

test.each([
  ['/etc/ssl/ca.pem', true],
  ['ca.pem', false],
])('a recorded command with the file %s says that its path is shortened: %s', async (file, isShort) => {
  const document = await documentOf({'ca-file': file});
  expect(document).toContain('#     --ca-file ca.pem\n');
  expect(document.includes(`--ca-file ca.pem\n# ${NOTE}\n`)).toBe(isShort);
  const lines = generatedBy('export docker', await settingsOf({'ca-file': file}));
  expect(lines.includes(NOTE)).toBe(isShort);
});
