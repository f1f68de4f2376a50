import fc from 'fast-check';
import {expect, test} from 'vitest';
import {type Redactor, redactor} from '../../../../src/extensions/bundle/redact/redactor.ts';
import type {RedactLevel} from '../../../../src/extensions/bundle/redact/scanner.ts';
import {numRuns} from '../../../support/sample.ts';
import {STRUCTURED} from './corpus/structured-secrets.ts';
import {WRITTEN} from './corpus/written-lines.ts';
import {KEY, known} from './helpers.ts';

const CONNECTIONS = [
  'postgres://bob:«Autumn2026!»@db.example.com/app\n',
  'dial bob:«Autumn2026!»@db.example.com:5432 failed\n',
  'password of root:«Autumn2026!»\n',
];
/** Without tokens, which are found everywhere by their form. */
const {'URLs and prefixes': _, ...structured} = STRUCTURED;
const LINES = [...Object.values({...structured, ...WRITTEN}).flat(), ...CONNECTIONS];
/** Hex digits, UUIDs and what a person chooses. The rest has a form that its rule needs. */
const ANY_FORM = /^[0-9a-f]{20,}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^.{1,15}$/;

const bundle = (level: RedactLevel): Redactor =>
  redactor({knownSecrets: known({}), level, key: KEY});
/** Lines in which no rule finds it. */
const bare = (value: string): string => `then ${value} came back\n{"x":"${value}"}\n  - ${value}\n`;

const password = fc.stringMatching(/^[A-Z][a-z]{5,8}[0-9]{4}[!+~][A-Za-z]{2}$/);

test.each([
  'standard',
  'strict',
] as const)('what a rule finds is hidden in the rest of its file and in other files: %s', (level) => {
  let learned = 0;
  fc.assert(
    fc.property(fc.constantFrom(...LINES), password, (line, chosen) => {
      const values: string[] = [];
      const text = line.replace(/«([^»]*)»/g, (_, secret: string) => {
        const value = secret.length > 15 ? secret : `${chosen}${values.length}`;
        if (ANY_FORM.test(secret)) values.push(value);
        return value;
      });
      const through = bundle(level);
      const outputs = [
        through.text('first', `${text}\n${values.map(bare).join('')}`),
        through.text('second', values.map(bare).join('')),
      ];
      learned += through.report().rules['repeated value'] ?? 0;
      for (const value of values)
        expect(outputs.map((output) => output.includes(value))).toEqual([false, false]);
    }),
    {numRuns: numRuns(200)},
  );
  expect(learned).toBeGreaterThan(0);
});

test('the lines themselves show it, as long as no rule has found it', () => {
  for (const value of ['Willow2031!pQ', '7b0f1a52-5c6d-4a3e-9f10-2b3c4d5e6f70'])
    expect(bundle('standard').text('first', bare(value))).toBe(bare(value));
});
