import {expect, test} from 'vitest';
import {formsOf} from '../../../../src/extensions/bundle/redact/leak-check.ts';
import {known, redactorOf, seen} from './helpers.ts';
import {VALUES} from './known-secrets.ts';

test.each([
  'true',
  'admin',
  'default',
  'abc12',
  'postgres',
  'us-east-1',
  '5432',
  'aaaaaaaaaa',
  'https://acme.scalr.io',
  '',
])('a value that is short or common blackens nothing: %s', (value) => {
  expect(known({value})).toEqual({known: [], notUsed: ['value']});
  const text = `{"event": "value is ${value} here"}\n`;
  expect(seen(text, {value})).toBe(text);
});

test('certificates are public', () => {
  expect(
    known({'ca.crt': (VALUES['key'] as string).replaceAll('PRIVATE KEY', 'CERTIFICATE')}).notUsed,
  ).toEqual(['ca.crt']);
});

test.each(Object.entries(VALUES))('a real one is used: %s', (_, value) => {
  expect(known({value}).notUsed).toEqual([]);
});

test('a value that two Secrets hold is one value', () => {
  expect(
    known({token: 'mellon-7', 'other-token': 'mellon-7\n'}).known.map(({kind}) => kind),
  ).toEqual(['token']);
});

test('nothing of what is known shows when it is printed', () => {
  expect(JSON.stringify(redactorOf({token: 'mellon-7'}).report())).not.toContain('mellon');
});

test('each line of a key and each own part of a token is a needle of its own', () => {
  const [first, second] = (VALUES['key'] as string).split('\n').slice(1, 3) as [string, string];
  expect(seen(`x ${first} y\nz ${second} 0`, {key: VALUES['key'] as string})).toMatch(
    /^x (\[redacted:key:\w+\]) y\nz \1 0$/,
  );
  const [, payload] = (VALUES['token'] as string).split('.');
  expect(seen(`claims ${payload?.slice(3)} x`, {token: VALUES['token'] as string})).toMatch(
    /^claims \[redacted:token:\w+\] x$/,
  );
});

test('the forms of a value', () => {
  expect(Object.fromEntries(formsOf(`a"b'c/é&1\n`))).toMatchSnapshot();
});
