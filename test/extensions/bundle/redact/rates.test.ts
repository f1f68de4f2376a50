import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {casesOf, survivorsIn} from './corpus/cases.ts';
import {ordinaryLines} from './corpus/ordinary-lines.ts';
import {seen} from './helpers.ts';

const cases = [...casesOf()];
const leaking = (of: typeof cases): string[] =>
  of
    .filter(({text, secrets}) => survivorsIn(seen(text), secrets).length > 0)
    .map(({class: name, line, wrap}) => `${name}, ${wrap}: ${line.slice(0, 80)}`);

describe('secrets that no Secret holds', () => {
  test('has at least 1,500 of them', () => {
    expect(cases.length).toBeGreaterThan(1500);
    expect(new Set(cases.map((each) => each.class)).size).toBeGreaterThan(15);
  });

  test('hides 97 % of them, and of the lines that were not read while the rules were written', () => {
    for (const isHeldOut of [false, true]) {
      const half = cases.filter((each) => each.isHeldOut === isHeldOut);
      const survivors = leaking(half);
      expect(survivors.length / half.length, survivors.join('\n')).toBeLessThanOrEqual(0.03);
    }
  });
});

const FILES = join(import.meta.dirname, 'ordinary');
const ordinary = [
  ...ordinaryLines(),
  ...readdirSync(FILES).flatMap((name) =>
    readFileSync(join(FILES, name), 'utf8').trim().split('\n'),
  ),
];

const WRAPS: Readonly<Record<string, (line: string) => string>> = {
  plain: (line) => line,
  'with a timestamp': (line) => `2026-11-21T10:00:00.123456789Z ${line}`,
  'in JSON': (line) => JSON.stringify({event: line, level: 'info'}),
};

test.each(Object.keys(WRAPS))('changes at most 1 percent of ordinary lines: %s', (name) => {
  const lines = ordinary.map(WRAPS[name] as (line: string) => string);
  const output = seen(lines.join('\n')).split('\n');
  const changed = output.filter((line, index) => line !== lines[index]);
  expect(lines.length).toBeGreaterThan(600);
  expect(output.length).toBe(lines.length);
  expect(changed.length / lines.length, changed.join('\n')).toBeLessThanOrEqual(0.01);
});
