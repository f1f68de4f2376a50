import {describe, expect, test} from 'vitest';
import {redactor} from '../../../../src/extensions/bundle/redact/redactor.ts';
import {survivorsIn} from './corpus/cases.ts';
import {PUBLIC, WRITTEN} from './corpus/written-lines.ts';
import {KEY, known, redactorOf, seen} from './helpers.ts';

const LINES = Object.entries(WRITTEN).flatMap(([name, lines]) =>
  lines.map((line) => [name, line] as const),
);
const plainOf = (line: string): string => line.replace(/[«»]/g, '');
const secretsOf = (line: string): string[] =>
  [...line.matchAll(/«([^»]*)»/g)].map(([, secret]) => secret as string);
const strict = (text: string): string =>
  redactor({knownSecrets: known({}), level: 'strict', key: KEY}).text('log', text);

test.each(LINES)('%s: %s', (_, line) => {
  for (const output of [seen(plainOf(line)), strict(plainOf(line))])
    expect(survivorsIn(output, secretsOf(line))).toEqual([]);
});

test.each(PUBLIC)('a public value stays: %s', (line) => {
  expect(seen(line)).toBe(line);
});

const eachLine =
  (write: (line: string, index: number) => string) =>
  (text: string): string =>
    text.split('\n').map(write).join('\n');
const second = (index: number): string => String(index % 60).padStart(2, '0');

/** What a log writes before each line. */
const PREFIXES: Readonly<Record<string, (text: string) => string>> = {
  journald: eachLine(
    (line, at) => `2026-11-26T10:00:${second(at)}.123456+0000 host1 scalr-agent[812]: ${line}`,
  ),
  'local-exec': eachLine((line) => `null_resource.x (local-exec): ${line}`),
  'Python logging': eachLine(
    (line, at) => `2026-11-26 10:00:${second(at)},123 - INFO - agent.runner - ${line}`,
  ),
  provider: eachLine(
    (line, at) =>
      `2026-11-26T10:00:${second(at)}.123Z [DEBUG] provider.terraform-provider-x: ${line}`,
  ),
  'JSON event with other fields': eachLine(
    (line, at) =>
      `{"event": ${JSON.stringify(line)}, "timestamp": "2026-11-26 10:00:${second(at)}.4", "run_id": "run-v0o1abcd", "account": "acc-1"}`,
  ),
  'docker compose': eachLine((line) => `agent-1  | ${line}`),
  logfmt: eachLine(
    (line, at) =>
      `time="2026-11-26T10:00:${second(at)}Z" level=info msg=${JSON.stringify(line)} run=run-v0o1`,
  ),
  structlog: eachLine(
    (line, at) =>
      `2026-11-26 10:00:${second(at)} [info     ] ${line.padEnd(30)} run_id=run-v0o1 logger=x`,
  ),
  diagnostic: eachLine((line) => `│ ${line}`.trimEnd()),
};
const SEVERAL = LINES.map(([, line]) => line.trimEnd()).filter((line) => line.includes('\n'));

describe.each(Object.entries(PREFIXES))('behind the prefix of %s', (_, wrap) => {
  test.each(SEVERAL)('the same is found as without it: %s', (line) => {
    const secrets = secretsOf(line).map((secret) => JSON.stringify(secret).slice(1, -1));
    for (const output of [seen(wrap(plainOf(line))), strict(wrap(plainOf(line)))])
      expect(survivorsIn(output, secrets)).toEqual([]);
  });

  test('ordinary lines stay as they are', () => {
    const text = wrap(
      'Initializing the backend...\n\n  - Finding x versions matching "~> 5.0"\nname: a\n',
    );
    expect(seen(text)).toBe(text);
  });
});

test('keys that lines have in common are no prefix', () => {
  const text = '- name: DB_HOST\n- name: DB_PASSWORD\n  value: Autumn2026!\n';
  expect(seen(text)).not.toContain('Autumn');
});

test('a secret in a prefix, or in another field of an event, is redacted', () => {
  const lines = [1, 2, 3].map((at) => `[hunter-7-mellon] task ${at}`).join('\n');
  expect(seen(lines, {word: 'hunter-7-mellon'})).not.toContain('hunter-7');
  const event = '{"event": "login", "run_id": "run-1", "password": "Tr0ub4dor", "n": 1}\n';
  expect(seen(event)).toMatch(
    /^\{"event": "login", "run_id": "run-1", "password": "\[redacted:secret:\w+\]", "n": 1\}\n$/,
  );
});

test('what one rule found is known in the rest of the file and of the bundle', () => {
  const through = redactorOf();
  const first = through.text('a', 'DB_PASSWORD=Autumn2026!xQ\nthen Autumn2026!xQ came back\n');
  expect(first).not.toContain('Autumn');
  expect(through.text('b', 'invalid port ":Autumn2026!xQ" after host\n')).not.toContain('Autumn');
  expect(through.text('b', 'password=denied\npermission denied\n')).toContain('permission denied');
});

test.each([
  '2026-11-26',
  '2026-11-26T10:00:00Z',
  '10:00:05',
  'v1.31.0',
  '1.31.4-rc1',
  '100Gi',
  '1h30m',
])('a date, a time, a version or a size in a Secret is not searched: %s', (value) => {
  expect(known({rotated: value})).toEqual({known: [], notUsed: ['rotated']});
});
