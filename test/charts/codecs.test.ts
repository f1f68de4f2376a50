import {expect, test} from 'vitest';
import {asBase64} from '../../src/charts/shared/codecs.ts';

const PEM = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

test('certificates in base64 are read back', () => {
  expect(asBase64.read(asBase64.write(PEM))).toBe(PEM);
});

test.each([
  Buffer.from('hello').toString('base64'),
  'hello',
  5,
  null,
  {},
])('%j is no certificate in base64', (tree) => {
  expect(asBase64.read(tree)).toBeUndefined();
});
