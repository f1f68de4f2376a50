import {expect, test} from 'vitest';
import {redactor} from '../../../../src/extensions/bundle/redact/redactor.ts';
import {KEY, known, seen} from './helpers.ts';

const strict = (text: string): string =>
  redactor({knownSecrets: known({}), level: 'strict', key: KEY}).text('log', text);

test.each([
  ['a host name', 'cannot reach acme.scalr.io:443', 'acme.scalr.io'],
  ['an IPv4 address', 'dial tcp 10.0.1.23:5432: refused', '10.0.1.23'],
  ['an IPv6 address', 'listening on fe80::1ff:fe23:4567:890a', '4567:890a'],
  ['an uncertain key', 'session: summer-picnic-place', 'summer-picnic-place'],
  ['a shorter random string', 'got aB3dE5fG7hJ9k from it', 'aB3dE5fG7hJ9k'],
  [
    'a word with digits behind the name of a secret',
    'secret rotated on db-01, use hunter-77 from now',
    'hunter-77',
  ],
  ['a word with digits before it', 'swordfish9 was taken as the password', 'swordfish9'],
  [
    'a passphrase near it',
    'the token is in my notes: correct-horse-battery',
    'correct-horse-battery',
  ],
])('hides %s only with --redact strict', (_, text, secret) => {
  expect(seen(text)).toContain(secret);
  expect(strict(text)).not.toContain(secret);
});

test.each([
  'started in 12.5s, version v1.31.0',
  '10:00:05 12 of 40 done.',
  'main.go:42 panic',
  'password policy of v1.31.0 read in auth.go:42',
])('keeps numbers, times and files: %s', (text) => {
  expect(strict(text)).toBe(text);
});
