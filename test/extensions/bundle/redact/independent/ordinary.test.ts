import {expect, test} from 'vitest';
import {independentOrdinary} from './ordinary.ts';

/** What no ordinary line may hold, by the published formats of credentials. */
const CREDENTIALS = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/,
  /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+/,
  /\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{20}|\bxox[abp]-\w{10,}/,
  /:\/\/[^/\s:@]+:[^/\s@]+@/,
];

const lines = independentOrdinary();

test('thousands of ordinary lines are at hand, hundreds of them confusable', () => {
  expect(lines.length).toBeGreaterThanOrEqual(3000);
  expect(lines.filter(({confusable}) => confusable).length).toBeGreaterThanOrEqual(500);
});

test('no ordinary line holds a credential', () => {
  expect(lines.filter(({text}) => CREDENTIALS.some((format) => format.test(text)))).toEqual([]);
});
