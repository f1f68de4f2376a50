import {expect, test} from 'vitest';
import {requireSuccessor} from '../../../src/extensions/account/successor-token.ts';
import {Secret} from '../../../src/ground/secret.ts';
import {jwt} from '../../wizard/conversation.ts';

const OF_ACME = new Secret(jwt({domain: 'acme.scalr.io'}));
const address = 'https://acme.scalr.io/';

test.each([
  [jwt({domain: 'acme.scalr.io'}), OF_ACME],
  [jwt({}), OF_ACME],
  // Of a format that this program does not know, as the present one.
  ['opaque', new Secret('unknown')],
  ['opaque', undefined],
])('%s is accepted', (next, token) => {
  expect(() => requireSuccessor(new Secret(next), {address, token})).not.toThrow();
});

test('an address without a scheme is compared by its host', () => {
  const accept = (address: string) => () => requireSuccessor(OF_ACME, {address});
  expect(accept('acme.scalr.io')).not.toThrow();
  expect(accept('other.scalr.io')).toThrow('but the agents use other.scalr.io');
});

test.each([
  [jwt({domain: 'other.scalr.io'}), 'created for https://other.scalr.io, but the agents use'],
  [jwt({domain: 'acme.scalr.io'}).slice(0, 30), 'incomplete or damaged'],
  ['abc', 'incomplete or damaged'],
])('%s is refused', (next, message) => {
  expect(() => requireSuccessor(new Secret(next), {address, token: OF_ACME})).toThrow(message);
});
