import {describe, expect, test} from 'vitest';
import {bareToken, unusableToken} from '../../src/ground/token-text.ts';
import {jwt} from '../wizard/conversation.ts';

const TOKEN = jwt({iss: 'acme.scalr.io'});

describe('what is copied with a token', () => {
  test.each([
    `"${TOKEN}"`,
    `'${TOKEN}'`,
    `“${TOKEN}”`,
    `\`${TOKEN}\``,
    `Bearer ${TOKEN}`,
    `bearer  ${TOKEN}\n`,
    `Authorization: Bearer ${TOKEN}`,
    `-H "Authorization: Bearer ${TOKEN}"`,
    `SCALR_AGENT_TOKEN=${TOKEN}`,
    `export SCALR_AGENT_TOKEN="${TOKEN}";`,
    `set SCALR_AGENT_TOKEN=${TOKEN}`,
    `$env:SCALR_AGENT_TOKEN = "${TOKEN}"`,
    `token: '${TOKEN}'`,
    `"token": "${TOKEN}",`,
    // A paste over several lines is joined.
    `exportSCALR_AGENT_TOKEN="${TOKEN}"`,
    `Authorization:Bearer${TOKEN}`,
  ])('is taken off: %s', (text) => {
    expect(bareToken(text)).toBe(TOKEN);
  });

  test.each([
    TOKEN,
    'opaque-token.with-dots',
    'https://acme.scalr.io/e/env-1?token=abc',
    Buffer.from(`${TOKEN}1`).toString('base64'),
    Buffer.from(`${TOKEN}\n`).toString('base64'),
    'two words',
    '<token>',
  ])('is not seen where there is none: %s', (text) => {
    expect(bareToken(text)).toBe(text);
  });
});

describe('a token that no agent can use', () => {
  const now = new Date('2027-01-01');
  const expiring = (date: string): string => jwt({exp: Date.parse(date) / 1000});

  test('is one of a user, or an expired one', () => {
    expect(unusableToken(jwt({iss: 'user', jti: 'at-v0'}), now)?.message).toBe(
      'This is a user token, not an agent pool token',
    );
    expect(unusableToken(expiring('2026-12-31'), now)?.message).toBe(
      'The token expired on 2026-12-31',
    );
  });

  test.each([TOKEN, expiring('2027-01-02'), 'opaque'])('is no other one: %s', (text) => {
    expect(unusableToken(text, now)).toBeUndefined();
  });
});
