import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {commands as documented} from '../docs/commands.ts';
import {ROOT, runBuilt} from './built.ts';

const commands = documented.map(
  ({
    path,
    command: {summary = '', flags, baseFlags},
  }): [string, {summary: string; flags: object}] => [
    path.replaceAll('/', ':'),
    {summary, flags: {...baseFlags, ...flags}},
  ],
);
const flagsOf = (desired: string): object =>
  commands.find(([id]) => id === desired)?.[1].flags ?? {};

const linesOf = (...argv: readonly string[]): string[] => {
  const {stdout, stderr, status} = runBuilt('scalr-agent', argv);
  expect({status, stderr}).toEqual({status: 0, stderr: ''});
  return stdout.trimEnd().split('\n');
};
const tooWide = (lines: readonly string[]): string[] => lines.filter((line) => line.length > 80);

describe.each(commands)('%s', (id, {summary, flags}) => {
  const words = id.split(':');

  test('prints -h on one screen of 80 × 24', () => {
    const lines = linesOf(...words, '-h');
    expect(tooWide(lines)).toEqual([]);
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(lines[0]).toBe(summary);
    expect(lines).toContain('EXAMPLE');
    expect(lines.at(-1)).toContain(`scalr-agent ${words.join(' ')} --help`);
  });

  test('lists every flag once with --help, aligned in 80 columns', () => {
    const lines = linesOf(...words, '--help');
    expect(tooWide(lines)).toEqual([]);
    const labels = lines.flatMap(
      (line) => /^ {2}(?:-\w,| {3}) --(?:\[no-\])?([\w-]+)/.exec(line)?.[1] ?? [],
    );
    expect(labels.toSorted()).toEqual(Object.keys(flags).toSorted());
  });

  test('shows choices in the label of a flag, and each default in one style', () => {
    const text = linesOf(...words, '--help')
      .join(' ')
      .replaceAll(/\s+/g, ' ');
    const details = text.slice(text.indexOf('FLAGS'));
    expect(details.match(/\(default: |<VALUE>|<LEVEL>/g)).toBeNull();
  });

  test('prints the same with help COMMAND', () => {
    expect(linesOf('help', ...words)).toEqual(linesOf(...words, '--help'));
  });
});

test('lists every command in one group in the root help, and where to start', () => {
  const lines = linesOf('--help');
  expect(tooWide(lines)).toEqual([]);
  expect(lines).toContain('Start with: scalr-agent install');
  const {topics} = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).oclif as {
    topics: Record<string, {description: string}>;
  };
  const first = commands
    .filter(([id]) => !id.includes(':'))
    .map(([id, {summary}]) => [id, summary] as const);
  const ofTopics = Object.entries(topics).flatMap(([id, {description}]) =>
    id.includes(':') ? [] : [[id, description] as const],
  );
  for (const [id, summary] of [...first, ...ofTopics])
    expect(
      lines.filter((line) => line.startsWith(`  ${id} `) && line.endsWith(summary)),
    ).toHaveLength(1);
  expect(linesOf('help')).toEqual(lines);
  expect(linesOf('-h')).toEqual(lines);
});

test('lists the commands of a topic', () => {
  for (const [id, {summary}] of commands.filter(([each]) => each.includes(':'))) {
    const words = id.split(':');
    const text = linesOf(...words.slice(0, -1))
      .join(' ')
      .replaceAll(/ +/g, ' ');
    expect(text).toContain(`${words.join(' ')} ${summary}`);
  }
});

test('lists no flag that the command does not use', () => {
  expect(Object.keys(flagsOf('completion'))).toEqual([
    'json',
    'no-input',
    'quiet',
    'verbose',
    'accessible',
    'no-color',
  ]);
  expect(flagsOf('status')).not.toHaveProperty('yes');
});

test('names the nearest command in the help of an unknown one', () => {
  const {status, stderr} = runBuilt('scalr-agent', ['help', 'instal']);
  expect(status).toBe(2);
  expect(stderr).toContain('Did you mean install?');
});
