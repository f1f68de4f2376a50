import {expect, test} from 'vitest';
import {redactor} from '../../../../src/extensions/bundle/redact/redactor.ts';
import {known, redactorOf} from './helpers.ts';
import {VALUES, writings} from './known-secrets.ts';

test('what was redacted is counted by rule and file', () => {
  const through = redactorOf({token: VALUES['token'] as string, mode: 'default'});
  through.text('a.log', `password=Tr0ub4dor and ${VALUES['token']} twice ${VALUES['token']}`);
  through.text('b.yaml', 'proxy: http://bob:Tr0ub4dor@proxy:3128\n');
  through.text('c.txt', 'nothing\n');
  expect(through.report()).toEqual({
    total: 4,
    rules: {key: 1, 'known value': 2, url: 1},
    files: {'a.log': {key: 1, 'known value': 2}, 'b.yaml': {url: 1}},
    knownValues: {used: 1, notUsed: 1},
    notSearched: ['mode'],
  });
});

test('the report never quotes a value, in whatever writing', () => {
  const through = redactorOf(VALUES);
  const all = Object.values(VALUES).flatMap((value) => [...writings(value).values()]);
  for (const written of all) through.text('log', `password: ${written}`);
  const report = JSON.stringify(through.report());
  for (const written of all) expect(report).not.toContain(written);
});

test('equal values have equal pseudonyms, wherever they stand and whatever found them', () => {
  const through = redactorOf();
  const names = [
    'password=Tr0ub4dor',
    '{"m":"{\\"token\\":\\"Tr0ub4dor\\"}"}',
    'http://bob:Tr0ub4dor@h:1',
    '- name: DB_PASSWORD\n  value: Tr0ub4dor',
    'Bearer Tr0ub4dor',
  ].map((text, index) => through.text(`${index}.log`, text).match(/\[redacted:.*?\]/)?.[0]);
  expect(new Set(names).size).toBe(1);
  const github = `ghp_${'aB3dE5fG7'.repeat(4)}`;
  expect(through.text('x', `GITHUB_TOKEN=${github}\n`).slice(13)).toBe(
    through.text('y', `${github}\n`),
  );
  expect(through.text('x', 'password=other-Value1')).not.toContain(names[0]);
});

test('another bundle has other pseudonyms', () => {
  const [one, other] = [
    redactor({knownSecrets: known({})}),
    redactor({knownSecrets: known({})}),
  ].map((each) => each.text('x', 'password=Tr0ub4dor'));
  expect(one).toMatch(/^password=\[redacted:secret:[0-9a-f]{8}\]$/);
  expect(one).not.toBe(other);
});
