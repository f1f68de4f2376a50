import {rootCertificates} from 'node:tls';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {parse} from 'yaml';
import {isPrintable} from '../../src/ground/yaml-text.ts';
import {toYaml} from '../../src/values/document.ts';
import {generate} from '../../src/values/generate.ts';
import {certificates} from '../support/certificates.ts';
import {settingsFrom} from '../support/settings-from.ts';

test.each([
  'on',
  'off',
  'yes',
  'no',
  'y',
  'n',
  'true',
  'null',
  '~',
  '1.10',
  '1e6',
  '0755',
  '0x1f',
  '12:30:45',
  '2026-01-01',
  '.inf',
  '=',
  ' x ',
  '',
  '- a',
  '#',
  '*a',
  '&a',
  '{{ x }}',
  '"',
])('writes the string %j so that Helm reads it unchanged, as value and as key', (text) => {
  expect(parse(toYaml({value: text}), {version: '1.1'})).toEqual({value: text});
  expect(Object.keys(parse(toYaml({[text]: 'x'}), {version: '1.1'}))).toEqual([text]);
});

test('writes a number that templates render with an exponent as a string, but not for Kubernetes types', async () => {
  const set = [
    'task.job.ttlSecondsAfterFinished=2592000',
    'global.podSecurityContext.fsGroup=1000660000',
  ];
  const {values} = generate(
    await settingsFrom({url: 'https://acme.scalr.io', chart: 'agent-job', set}),
  );
  expect(values['task']).toEqual({job: {ttlSecondsAfterFinished: '2592000'}});
  expect(values['global']).toEqual({podSecurityContext: {fsGroup: 1_000_660_000}});
});

test.each([
  '\u0085',
  '\u2028',
  '\u007f',
  '\ufeff',
])('refuses %j, which YAML readers interpret differently', (odd) => {
  expect(() => toYaml({a: `x${odd}y`})).toThrow('Cannot write these values');
});

test('writes a certificate as a block', () => {
  expect(toYaml({ca: 'BEGIN\nabc\nEND\n'})).toBe('ca: |\n  BEGIN\n  abc\n  END\n');
});

test('writes an empty mapping without values', () => expect(toYaml({})).toBe('{}\n'));

test('writes any values so that Helm reads them unchanged', () => {
  const text = fc.oneof(fc.string(), fc.string({unit: 'grapheme'})).filter(isPrintable);
  const scalar = fc.oneof(
    text,
    fc.integer(),
    fc.boolean(),
    fc.double({noNaN: true, noDefaultInfinity: true}),
  );
  const key = fc
    .string({minLength: 1})
    .filter((each) => isPrintable(each) && each !== '__proto__' && each !== '<<');
  const {tree} = fc.letrec((tie) => ({
    tree: fc.oneof(
      {maxDepth: 4},
      scalar,
      fc.array(tie('tree'), {maxLength: 4}),
      fc.dictionary(key, tie('tree'), {maxKeys: 4}),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(key, tree, {maxKeys: 5}), (values) => {
      const meant = JSON.parse(JSON.stringify(values));
      expect(parse(toYaml(meant), {version: '1.1'})).toEqual(meant);
    }),
    {numRuns: 500},
  );
});

test('appends public roots to the private ones', async () => {
  const flags = {
    url: 'https://acme.scalr.io',
    chart: 'agent-local',
    'ca-file': 'ca.pem',
    'ca-public-roots': true,
  };
  const {values} = generate(await settingsFrom(flags, certificates));
  const bundle = (values['agent'] as {tls: {caBundle: string}}).tls.caBundle;
  expect(bundle.startsWith(String(certificates['ca.pem']))).toBe(true);
  expect(bundle.match(/BEGIN CERTIFICATE/g)).toHaveLength(rootCertificates.length + 1);
});
