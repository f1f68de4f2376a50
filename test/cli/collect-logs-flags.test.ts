import {expect, test} from 'vitest';
import {collectLogsFlags, collectOptions, since} from '../../src/cli/collect-logs.ts';
import {ExpectedError} from '../../src/ground/errors.ts';

function refusal(time: string): string {
  try {
    return `took it: ${JSON.stringify(since(time, 1))}`;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    expect({exit: error.exit, code: error.code}).toEqual({exit: 2, code: 'INVALID_SETTING'});
    return [error.message, ...error.suggestions].join(' ');
  }
}

test.each([
  '2026-02-30',
  '2026-13-01',
  '2025-02-29',
  '2026-04-31',
])('rejects --since-time when the day does not exist: %s', (day) => {
  expect(refusal(`${day}T00:00:00Z`)).toBe(
    `Invalid --since-time ${day}T00:00:00Z: ${day} does not exist. Use the format 2026-11-21T08:00:00Z`,
  );
});

test('accepts an existing day in every time zone', () => {
  expect(since('2024-02-29T23:30:00-02:00', 1)).toEqual({time: '2024-03-01T01:30:00.000Z'});
  expect(refusal('noon')).toContain('Invalid --since-time noon.');
});

test('names the minimum of --max-size in help and error', () => {
  expect(collectOptions({'max-size': '16Ki'}).maxBytes).toBe(16 * 1024);
  expect(collectLogsFlags['max-size'].summary).toContain('at least 16Ki');
  for (const size of ['1Ki', '15Ki'])
    expect(() => collectOptions({'max-size': size})).toThrow(
      `Invalid --max-size ${size}: the minimum is 16Ki.`,
    );
});
