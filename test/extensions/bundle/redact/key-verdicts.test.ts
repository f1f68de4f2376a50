import {expect, test} from 'vitest';
import {VERDICTS} from '../../../../src/extensions/bundle/redact/key-verdicts.ts';
import {seen} from './helpers.ts';

/** What each row is about. Rows that can go both ways have the second one. */
const SECRET = new Set(['session_id=8f14e45fceea167a5a36dedd4bea2543', '"password": 83kd72hs']);

test.each(
  VERDICTS.map(({example}) => example),
)('the example of a row is decided as it says: %s', (example) => {
  expect(seen(`${example}\n`) !== `${example}\n`).toBe(SECRET.has(example));
});
