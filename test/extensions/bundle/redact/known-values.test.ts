import {expect, test} from 'vitest';
import {formsOf, rareFormsOf} from '../../../../src/extensions/bundle/redact/leak-check.ts';
import {isExhaustive, sample} from '../../../support/sample.ts';
import {redacted, redactorOf, seen} from './helpers.ts';
import {needles, VALUES, writings} from './known-secrets.ts';

/** What may be left of a value: nothing of any form, and of wrapped forms no line. */
function leftOver(output: string, value: string, written: string): string[] {
  const latin1 = Buffer.from(value, 'utf8').toString('latin1');
  const lines = [...written.split(/\n|\\n/), ...latin1.split('\n')].filter(
    (line) => line.length >= 12 && !line.startsWith('-----'),
  );
  return [...formsOf(latin1).values(), ...rareFormsOf(latin1).values(), ...lines].filter((form) =>
    output.includes(form),
  );
}

test('no known value survives, in whatever encoding and wherever it stands', () => {
  const through = redactorOf(VALUES);
  const survivors: string[] = [];
  let planted = 0;
  for (const {name, value, written, text} of sample([...needles()], 4)) {
    planted += 1;
    const output = redacted(through, [text]).toString('latin1');
    if (leftOver(output, value, written).length > 0) survivors.push(name);
  }
  expect(survivors).toEqual([]);
  expect(planted).toBeGreaterThan(isExhaustive ? 5000 : 1250);
});

test('what stands around a value stays', () => {
  expect(seen('connecting to db with mellon-7, try 2\n', VALUES)).toMatch(
    /^connecting to db with \[redacted:word:[0-9a-f]{8}\], try 2\n$/,
  );
});

test('a value has one pseudonym in all its encodings, and in all files', () => {
  for (const [kind, value] of Object.entries(VALUES)) {
    const through = redactorOf({[kind]: value});
    const names = new Set(
      [...writings(value).values()].flatMap(
        (written) =>
          redacted(through, [Buffer.from(` ${written} `, 'latin1')])
            .toString('latin1')
            .match(/\[redacted:[^\]]*\]/g) ?? [],
      ),
    );
    expect([
      kind,
      [...names].filter((name) => name.startsWith(`[redacted:${kind}:`)).length,
    ]).toEqual([kind, 1]);
  }
});

test.each([
  ['a;2d%yTEB[1mX', 'a;2d%yTEB[1mX'],
  ['a;2d%yTEB[1mX', '[a;2d%yTEB[1mX]'],
  ['[31mkT7[4mqaX2', 'at [31mkT7[4mqaX2 and'],
  ['131mkT7qaX2b', 'at [131mkT7qaX2b]'],
  ['pw^[[31mwEEEabc', 'at pw^[[31mwEEEabc'],
])('a value that has what looks like a color is found: %s in %s', (value, text) => {
  expect(seen(text, {value})).toContain('[redacted:value:');
  expect(seen(text, {value})).not.toMatch(/yTEB|T7|qaX2|EEE/);
});

test('of a value of 32 bytes, two may be read as part of an escape', () => {
  const token = '41horse-battery-staple-correct-y';
  for (const before of ['at 100%', '\\x', 'a:\\']) {
    expect(seen(`${before}${token}.`, {token})).not.toContain('battery');
  }
});

test('a value between two parts of a line that a container runtime cut at 16 KiB is found', () => {
  const token = 'correct-horse-battery-staple-in-its-box';
  const at = '2026-11-21T10:00:00.123456789Z stdout';
  for (const cut of [8, 20, 30]) {
    const first = `${'x '.repeat(8192).slice(cut)}${token.slice(0, cut)}`;
    const second = `${token.slice(cut)}${' x'.repeat(8192)}`.slice(0, 16_384);
    const output = seen(`${at} P ${first}\n${at} P ${second}\n${at} F end\n`, {token});
    expect([cut, output.match(/\S*\[redacted:token:\w+\]\S*/g)?.length]).toEqual([cut, 1]);
    expect(output).not.toMatch(/correct-|box/);
  }
});

test('a value that a log wrapped over two lines is found', () => {
  const token = VALUES['token'] as string;
  for (let cut = 1; cut < token.length; cut += 1) {
    const text = `2026-11-21T10:00:00.1234567Z a ${token.slice(0, cut)}\n2026-11-21T10:00:00.1234568Z ${token.slice(cut)} b`;
    expect([cut, seen(text, {token})]).toEqual([
      cut,
      expect.stringMatching(/^2026-11-21T10:00:00.1234567Z a \[redacted:token:\w+\] b$/),
    ]);
  }
});

test('base64 that begins like the rest of an escape is found', () => {
  expect(seen('a \\nYV/ml6VhYW b', {value: "'a_日aaa"})).toMatch(
    /^a \\n?\[redacted:value:\w+\] b$/,
  );
});

test('a value that was cut off is found while most of it is there', () => {
  const hex = VALUES['hex'] as string;
  expect(seen(`using ${hex.slice(0, 40)}… (truncated)`, {hex})).toMatch(
    /^using \[redacted:hex:\w+\]… \(truncated\)$/,
  );
  expect(seen(`…${hex.slice(20)} (truncated)`, {hex})).toMatch(
    /^…\[redacted:hex:\w+\] \(truncated\)$/,
  );
});

test('a value inside of what only looks secret gives its name to all of it', () => {
  const hex = VALUES['hex'] as string;
  const {0: plain} = seen(hex, {hex}).match(/\[.*\]/) as RegExpMatchArray;
  for (const around of [
    `password: ${hex}`,
    `Authorization: Bearer ${hex}`,
    `{"db_token":"${hex}"}`,
    `Basic ${Buffer.from(`u:${hex}`).toString('base64')}`,
  ]) {
    expect(seen(around, {hex})).toContain(plain);
  }
});
