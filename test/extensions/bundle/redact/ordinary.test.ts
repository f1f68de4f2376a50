import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {DOCUMENTS} from '../../../golden/cases.ts';
import {seen} from './helpers.ts';
import {VALUES} from './known-secrets.ts';

const ORDINARY = join(import.meta.dirname, 'ordinary');
const texts = readdirSync(ORDINARY).map((name) => ({
  name,
  text: readFileSync(join(ORDINARY, name), 'utf8'),
}));

/** Lines that are not what they were. */
function changed(name: string, text: string): string[] {
  const [before, after] = [text, seen(text, VALUES)].map((each) => each.split('\n')) as [
    string[],
    string[],
  ];
  if (before.length !== after.length)
    return [`${name}: ${before.length - after.length} lines are gone`];
  return after
    .filter((line, index) => line !== before[index])
    .map((line) => `${name}: ${line.trim()}`);
}

test('ordinary output of Terraform, of agents, of Kubernetes and of helm stays as it is', () => {
  expect(texts.flatMap(({name, text}) => changed(name, text))).toMatchInlineSnapshot(`[]`);
});

test('so it does inside of the JSON of a log, line by line', () => {
  const wrapped = texts.map(({name, text}) => ({
    name,
    text: text
      .split('\n')
      .map((event) => `${JSON.stringify({event, level: 'info'})}\n`)
      .join(''),
  }));
  expect(wrapped.flatMap(({name, text}) => changed(name, text))).toMatchInlineSnapshot(`[]`);
});

test('values that this program makes stay as they are', () => {
  expect(DOCUMENTS.flatMap(({name, text}) => changed(name, text))).toEqual([]);
});
