import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {VALUES} from './corpus.ts';
import {seen} from './helpers.ts';

const ORDINARY = join(import.meta.dirname, 'ordinary');
const texts = readdirSync(ORDINARY).map((name) => ({name, text: readFileSync(join(ORDINARY, name), 'utf8')}));

/** Lines that are not what they were. */
function changed(name: string, text: string): string[] {
  const [before, after] = [text, seen(text, VALUES)].map((each) => each.split('\n')) as [string[], string[]];
  if (before.length !== after.length) return [`${name}: ${before.length - after.length} lines are gone`];
  return after.filter((line, index) => line !== before[index]).map((line) => `${name}: ${line.trim()}`);
}

test('ordinary output of Terraform, of agents, of Kubernetes and of helm stays as it is', () => {
  expect(texts.flatMap(({name, text}) => changed(name, text))).toMatchInlineSnapshot(`
    [
      "dev.log: GET /api/iacp/v3/tokens?page[number]=1&page[size]=20&filter[token]=[redacted:secret:8b5ddd75] HTTP/1.1 200 OK",
    ]
  `);
});

test('so it does inside of the JSON of a log, line by line', () => {
  const wrapped = texts.map(({name, text}) => ({
    name,
    text: text
      .split('\n')
      .map((event) => `${JSON.stringify({event, level: 'info'})}\n`)
      .join(''),
  }));
  expect(wrapped.flatMap(({name, text}) => changed(name, text))).toMatchInlineSnapshot(`
    [
      "dev.log: {"event":"GET /api/iacp/v3/tokens?page[number]=1&page[size]=20&filter[token]=[redacted:secret:8b5ddd75] HTTP/1.1 200 OK","level":"info"}",
    ]
  `);
});

test('values that this program makes stay as they are', () => {
  const golden = join(import.meta.dirname, '../../golden');
  const files = readdirSync(golden, {recursive: true, encoding: 'utf8'}).filter((file) => file.endsWith('values.yaml'));
  expect(files.length).toBeGreaterThan(20);
  expect(files.flatMap((file) => changed(file, readFileSync(join(golden, file), 'utf8')))).toEqual([]);
});
