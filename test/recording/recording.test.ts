import {readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {DOMParser, onErrorStopParsing} from '@xmldom/xmldom';
import {describe, expect, test} from 'vitest';
import type {Frame} from '../../scripts/recording/film.ts';
import {svgOf} from '../../scripts/recording/svg.ts';
import {capacityForAllRuns} from '../../src/checks/preflight/checks/capacity.ts';
import {token} from '../../src/settings/agent.ts';

const root = resolve(import.meta.dirname, '../..');
const parse = (svg: string) => [
  ...new DOMParser({onError: onErrorStopParsing})
    .parseFromString(svg, 'image/svg+xml')
    .getElementsByTagName('*'),
];

describe('docs/install.svg', () => {
  const svg = readFileSync(join(root, 'docs/install.svg'), 'utf8');
  const elements = parse(svg);
  const texts = elements
    .filter(({tagName}) => tagName === 'text')
    .map(({textContent}) => textContent ?? '');

  test('stands in the README', () => {
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain('](docs/install.svg)');
  });

  test('is a small picture that runs and loads nothing', () => {
    expect([...new Set(elements.map(({tagName}) => tagName))].toSorted()).toEqual([
      'g',
      'rect',
      'style',
      'svg',
      'text',
      'title',
    ]);
    const names = elements.flatMap(({attributes}) => [...attributes].map(({name}) => name));
    expect([...new Set(names)].filter((name) => /^on|href|src/.test(name))).toEqual([]);
    expect(svg).not.toMatch(/@import|url\(/);
    const classes = elements.flatMap((element) => element.getAttribute('class')?.split(' ') ?? []);
    expect(classes.filter((name) => !new RegExp(`\\.${name}[,{]`).test(svg))).toEqual([]);
    expect(svg.length).toBeLessThan(100_000);
  });

  test('tells nothing of the machine it was made on, and no token', () => {
    const words = texts.flatMap((text) => text.split(/[\s='"()]+/));
    expect(
      words.filter((word) => /^\/\w|^\w:\\|127\.0\.0\.1|localhost|:\d{4,}|^eyJ|made-up/.test(word)),
    ).toEqual([]);
  });

  test.each([
    'Where will the agent run?',
    token.question,
    'What do you want to do?',
  ])('shows the question of today: %s (if not: npm run record)', (question) => {
    expect(texts.some((text) => text.startsWith(question))).toBe(true);
  });

  test('shows a platform that was detected, and a failed check with its remedy', () => {
    for (const text of ['EKS', capacityForAllRuns.title, 'Use concurrency 6, ', '6 of 6 ready'])
      expect(texts.some((each) => each.includes(text))).toBe(true);
  });

  test('takes at most 20 seconds, and shows the command from the start', () => {
    expect(Number(/g\{animation:([\d.]+)s/.exec(svg)?.[1])).toBeLessThanOrEqual(20);
    expect(svg).toMatch(/@keyframes g0\{0%\{opacity:1\}/);
  });

  test('ends well', () =>
    expect(texts).toContainEqual(expect.stringContaining('Agent registered with')));
});

test('a line that stays is drawn once, one that changes is drawn anew, and long news scrolls by', () => {
  const line = (text: string) => [{column: 2, text, style: 'b'}];
  const frames: Frame[] = [
    {lines: [line('stays'), line('? <a> & b')], top: 0, seconds: 1},
    {lines: [line('stays'), line('done')], top: 10, seconds: 1},
  ];
  const svg = svgOf(frames, 'title', {columns: 20, rows: 2});
  const texts = parse(svg).filter(({tagName}) => tagName === 'text');
  expect(texts.map(({textContent}) => textContent)).toEqual(['stays', '? <a> & b', 'done']);
  expect(svg).toContain(
    '33.33%{transform:translateY(0px);animation-timing-function:linear}66.67%{transform:translateY(-190px)}',
  );
});
