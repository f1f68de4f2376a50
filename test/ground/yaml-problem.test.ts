import fc from 'fast-check';
import {expect, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import {parseAnswers} from '../../src/answers/answers-file.ts';
import {ExpectedError} from '../../src/ground/errors.ts';
import {yamlProblem} from '../../src/ground/yaml-text.ts';

const messagesIn = (text: string): string[] => {
  const documents = parseAllDocuments(text, {logLevel: 'error', prettyErrors: false});
  return Array.isArray(documents)
    ? documents.flatMap(({errors}) => errors.map(({message}) => message))
    : [];
};

test.each([
  ['a: 1\na: 2\n', 'The key is set twice in the same mapping. Remove one of the two.'],
  ['a:\n\tb: 1\n', 'Tabs cannot be used for indentation; use spaces.'],
  [
    'a: b: c\n',
    'Mapping values are not allowed here. Quote a value that contains ": ". If the next line is a key of its own, indent it like this line.',
  ],
  ['a: @x\n', 'A string that starts with @ must be quoted.'],
  [
    'a: [1 2\n',
    '[ or { is not closed, or its lines are not indented more than its key, as YAML requires.',
  ],
])('explains %j', (text, message) => {
  expect(messagesIn(text).map(yamlProblem)).toContain(message);
});

const pieces = fc.constantFrom(
  'a: 1',
  'a: 1\na: 2',
  '- b',
  '  c: d',
  '\t',
  '[',
  '{',
  ']',
  '}',
  ', ,',
  '"',
  "'",
  '&a',
  '*b',
  '!t',
  '|',
  '>',
  '@',
  '%',
  ': :',
  '\\q',
  '---',
  '\n',
  ' ',
  '#x',
  '? k',
);

test('never repeats a message of the parser', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.array(pieces, {minLength: 1, maxLength: 6}), (parts) => {
      for (const message of messagesIn(parts.join(''))) {
        seen.add(message);
        expect(yamlProblem(message)).not.toBe(message);
        expect(yamlProblem(message)).toMatch(/\.$/);
      }
      try {
        parseAnswers(parts.join(''), 'answers.yaml');
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        for (const message of seen) expect(error.message).not.toContain(message);
      }
    }),
    {numRuns: 1000},
  );
  expect(seen.size).toBeGreaterThan(10);
});
