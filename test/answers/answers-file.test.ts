import {expect, test} from 'vitest';
import {parseAnswers} from '../../src/answers/answers-file.ts';
import {ExpectedError} from '../../src/errors.ts';

const refusal = (text: string): ExpectedError => {
  try {
    parseAnswers(text, 'answers.yaml');
  } catch (error) {
    if (error instanceof ExpectedError) return error;
    throw error;
  }
  throw new Error('it was taken');
};

test.each([
  [
    'a second document',
    'url: a\n---\nurl: b\n',
    'answers.yaml: a second YAML document begins in line 2.',
    'Keep one document in the file: leave out ---',
  ],
  [
    'bytes',
    'url: !!binary aGVsbG8=\n',
    'answers.yaml: line 1, column 15: the tag !!binary means nothing in answers.',
    'Write the value itself, without a tag',
  ],
  [
    'bytes in a list',
    'extra-env: [!!binary aGVsbG8=]\n',
    'answers.yaml: line 1, column 22: the tag !!binary means nothing in answers.',
    undefined,
  ],
  ['a set', 'extra-env: !!set {a, b}\n', 'answers.yaml: line 1, column 18: the tag !!set means nothing in answers.', undefined],
  ['a tag of nobody', 'url: !foo x\n', 'answers.yaml: line 1, column 11: the tag !foo means nothing in answers.', undefined],
  [
    'an alias of nothing',
    'url: *x\n',
    'answers.yaml: line 1, column 6: there is no anchor &x above the alias *x.',
    'Put quotes around a text that begins with *',
  ],
])('%s is refused in own words', (_, text, message, suggestion) => {
  const {code, exit, suggestions, ...error} = refusal(text);
  expect(refusal(text).message).toBe(message);
  expect({...error, code, exit}).toMatchObject({code: 'INVALID_ANSWERS_FILE', exit: 2});
  if (suggestion !== undefined) expect(suggestions).toEqual([suggestion]);
});

test('usual tags and aliases mean what they say', () => {
  const answers = parseAnswers('cache-size: &size !!str 5Gi\ndata-size: *size\nconcurrency: !!int 3\n...\n', 'answers.yaml');
  expect(Object.fromEntries(answers)).toEqual({'cache-size': '5Gi', 'data-size': '5Gi', concurrency: 3});
});
