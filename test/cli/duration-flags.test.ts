import {expect, test} from 'vitest';
import {collectOptions} from '../../src/cli/collect-logs.ts';
import {durationOf} from '../../src/cli/flag-values.ts';
import {ExpectedError} from '../../src/ground/errors.ts';

function refusal(work: () => unknown): string {
  try {
    return `took it: ${JSON.stringify(work())}`;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    expect({exit: error.exit, code: error.code}).toEqual({exit: 2, code: 'INVALID_SETTING'});
    return [error.message, ...error.suggestions].join(' ');
  }
}

test('logs may be desired from 30 days back', () => {
  expect(collectOptions({since: '48h'}).since).toEqual({seconds: 172_800});
  expect(collectOptions({since: '720h'}).since).toEqual({seconds: 2_592_000});
  expect(refusal(() => collectOptions({since: '1000h'}))).toBe(
    '--since: 1000h is longer than 720h. Use 720h or less',
  );
});

test.each([
  ['1ms', '--timeout: "1ms" is not a duration. Use a duration such as 90s, 10m or 1h30m'],
  ['', '--timeout: "" is not a duration. Use a duration such as 90s, 10m or 1h30m'],
  ['25h', '--timeout: 25h is longer than 24h. Use 24h or less'],
  ['0s', '--timeout: 0s is shorter than 1s. Use 1s or more'],
])('--timeout %j is refused in its own units', (text, words) => {
  expect(refusal(() => durationOf('--timeout', text))).toBe(words);
});
