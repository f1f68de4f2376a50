import {describe, expect, test} from 'vitest';
import {validate} from '../../../src/values/validate/validate.ts';
import {MISTAKES, type Mistake, SOUND, withToken} from './mistakes.ts';
import {targetOf} from './rule-cases.ts';

const isFound = ([name, text, path]: Mistake): boolean =>
  validate(withToken(text), targetOf(name)).some(
    (each) => each.path === path || each.path.startsWith(`${path}.`) || each.path.startsWith(`${path}[`),
  );

describe.each(Object.entries(MISTAKES))('%s', (_, mistakes) => {
  test('are found, every one', () => {
    const missed = mistakes.filter((each) => !isFound(each)).map(([name, text]) => `${name}: ${text}`);
    expect(missed).toEqual([]);
  });
});

test.each(SOUND)('%s: %s has no finding', (name, text) => {
  expect(validate(withToken(text), targetOf(name))).toEqual([]);
});
