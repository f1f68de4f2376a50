import {describe, expect, test} from 'vitest';
import {type Redactor, redactor} from '../../../../src/extensions/bundle/redact/redactor.ts';
import {LIMITS} from '../../../../src/extensions/bundle/redact/rule.ts';
import {sample} from '../../../support/sample.ts';
import {survivorsIn} from './corpus/cases.ts';
import {CONFUSABLE, STRUCTURED} from './corpus/structured-secrets.ts';
import {KEY, known, redacted, redactorOf, seen} from './helpers.ts';

const inner = (text: string): string => JSON.stringify(text).slice(1, -1);
const eachLine = (text: string, write: (line: string) => string): string =>
  text.split('\n').map(write).join('\n');

/** What a log writes around a text, and around a secret in it. */
const WRAPS: Readonly<
  Record<string, {around(text: string): string; secret(secret: string): string}>
> = {
  plain: {around: (text) => text, secret: (secret) => secret},
  event: {around: (text) => JSON.stringify({event: text, level: 'info'}), secret: inner},
  docker: {
    around: (text) =>
      eachLine(text, (line) =>
        JSON.stringify({log: `${line}\n`, stream: 'stdout', time: '2026-11-21T10:00:00.1Z'}),
      ),
    secret: inner,
  },
  kubelet: {
    around: (text) => eachLine(text, (line) => `2026-11-21T10:00:00.123456789Z stdout F ${line}`),
    secret: (secret) => secret,
  },
  klog: {
    around: (text) => `I1121 10:00:05.000000       1 main.go:12] ${text}`,
    secret: (secret) => secret,
  },
  hclog: {around: (text) => `2026-11-21T10:00:00.123Z [DEBUG] ${text}`, secret: (secret) => secret},
  nested: {
    around: (text) => JSON.stringify({msg: JSON.stringify({body: text})}),
    secret: (secret) => inner(inner(secret)),
  },
};

const LINES = Object.entries(STRUCTURED).flatMap(([name, lines]) =>
  lines.map((line) => [name, line] as const),
);
const plainOf = (line: string): string => line.replace(/[«»]/g, '');
const secretsOf = (line: string): string[] =>
  [...line.matchAll(/«([^»]*)»/g)].map(([, secret]) => secret as string);

describe.each(Object.entries(WRAPS))('what the structure of a text says is secret, %s', (_, {
  around,
  secret,
}) => {
  test.each(LINES)('%s: %s', (_, line) => {
    const output = seen(`${around(plainOf(line))}\n`);
    expect(survivorsIn(output, secretsOf(line).map(secret))).toEqual([]);
  });
});

test.each(CONFUSABLE)('an ordinary line stays as it is: %s', (line) => {
  expect(seen(`${line}\n`)).toBe(`${line}\n`);
  const event = `${JSON.stringify({event: line, level: 'info'})}\n`;
  expect(seen(event)).toBe(event);
});

test('a secret is found wherever the chunks end, and so are colors and wrappers', () => {
  const text = LINES.map(([, line]) =>
    (WRAPS['docker'] as (typeof WRAPS)[string]).around(plainOf(line)),
  ).join('\n');
  const all = Buffer.from(`${text}\n\u001b[1m${'x'.repeat(LIMITS.batch)}\u001b[0m\n${text}\n`);
  const once = redacted(redactorOf(), [all]);
  for (const size of [1, 7, 64, 1000, 4096, LIMITS.batch - 1, LIMITS.batch, 100_001]) {
    const chunks = Array.from({length: Math.ceil(all.length / size)}, (_, index) =>
      all.subarray(index * size, (index + 1) * size),
    );
    expect([size, redacted(redactorOf(), chunks).equals(once)]).toEqual([size, true]);
  }
});

const REPEATED = [
  'key=',
  'xoxb-',
  'sk-',
  'password= ',
  'password="a',
  'passwords={',
  'password:\n',
  '"value":{',
  '"after_sensitive":{"a":1}',
  '\\',

  '"random_string",',
  'data:\n',
  'stringData:\n',
  'auth=(',
  'echo a\n+ ',
  'name="password"\n\n',
  '{value:',
  'secret:\n- ',
  'secret_id=',
  'password x1y2z3 ',
  '\u001b[31m',
  '\u001b[',
  '{"log":"',
  '2026-11-21T10:00:00.123456789Z stdout P ',
];

test.each(
  sample(
    REPEATED.flatMap((unit) => [[unit, 'standard'] as const, [unit, 'strict'] as const]),
    3,
  ),
)('no repetition takes long: %j, %s', (unit, level) => {
  const text = Buffer.from(unit.repeat(Math.ceil(LIMITS.batch / unit.length)), 'latin1');
  const made = (): Redactor => redactor({knownSecrets: known({}), level, key: KEY});
  redacted(made(), [text.subarray(0, 2000)]);
  const before = process.cpuUsage();
  redacted(made(), [text, text]);
  const {user, system} = process.cpuUsage(before);
  // A quarter of a MiB; the limit is far above what a busy machine needs, and far below quadratic time.
  expect((user + system) / 1e6).toBeLessThan(10);
});
