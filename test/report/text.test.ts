import {expect, test} from 'vitest';
import {parse} from 'yaml';
import {levelOf, timeOf, withoutTime} from '../../report/log-index.ts';
import {segmentsOf, visibleText} from '../../report/untrusted-text.ts';
import {yamlText} from '../../report/yaml-text.ts';

test.each([
  ['a\u202eb', 'a⟨U+202E⟩b'],
  ['a\0b\u001b[2Jc', 'a⟨U+0000⟩b⟨U+001B⟩[2Jc'],
  ['line\u2028end\u200b', 'line⟨U+2028⟩end⟨U+200B⟩'],
  ['tab\tis text', 'tab\tis text'],
])('shows hidden characters of %j', (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test('turns colors of a terminal into classes, and shows other sequences', () => {
  expect(segmentsOf('a \u001b[1;31mred\u001b[0m b\u001b[2J')).toEqual([
    {text: 'a ', style: ''},
    {text: 'red', style: 'bold ansi-1'},
    {text: ' b', style: ''},
    {text: '⟨U+001B⟩', style: 'hidden-character'},
    {text: '[2J', style: ''},
  ]);
  expect(segmentsOf('\u001b[38;5;31mplain')).toEqual([{text: 'plain', style: ''}]);
});

test.each([
  ['2026-11-21T08:00:00Z a', Date.parse('2026-11-21T08:00:00Z')],
  ['2026-11-21T08:00:00.123456789Z a', Date.parse('2026-11-21T08:00:00.123Z') + 0.456789],
  ['2026-11-21T10:00:00+02:00 a', Date.parse('2026-11-21T08:00:00Z')],
  ['2026-11-21 a', undefined],
  ['no time', undefined],
])('reads the time of %j', (line, time) => {
  const found = timeOf(line);
  if (time === undefined) expect(found).toBeUndefined();
  else expect(found).toBeCloseTo(time, 1);
});

test('cuts the time that the kubelet adds', () => {
  expect(withoutTime('2026-11-21T08:00:00.1Z  indented')).toBe(' indented');
  expect(withoutTime('no time')).toBe('no time');
});

test.each([
  ['{"event":"x","level":"error"}', 4],
  ['2026-11-21T08:00:00Z WARNING low disk', 3],
  ['I1121 08:00:00 klog', 0],
  ['x E1121 klog', 4],
  ['level=info msg=x', 2],
  ['ValueError: bad', 4],
  ['all errors were fixed', 0],
])('finds the level of %j', (line, level) => {
  expect(levelOf(line)).toBe(level);
});

test('writes YAML that reads as the same value', () => {
  const value = {
    a: ['x', 'yes', '', '1', 1, null, true, {b: [], c: {}}, [['deep']]],
    'key with: colon': 'text: with colon # and comment',
    script: 'one\n  two\n\nthree\n',
    last: 'no newline\nat the end',
    list: [{name: 'n', value: 'v'}, {}],
  };
  expect(parse(yamlText(value))).toEqual(value);
});
