import {expect, test} from 'vitest';
import {combined} from '../../src/ground/combined-failures.ts';
import {ExpectedError, failed} from '../../src/ground/errors.ts';

const noUrl = new ExpectedError('URL is required.', {
  code: 'MISSING_SETTING',
  suggestions: ['Add --url URL'],
  options: [{add: '--url URL', when: 'Set what is missing'}],
});
const noToken = new ExpectedError('No token was given.', {
  code: 'MISSING_SETTING',
  suggestions: ['Set --token-file'],
  options: [
    {add: '--token-file FILE', when: 'Read the token from a file'},
    {add: '--token-secret NAME', when: 'Use a Secret'},
  ],
});
const noHelm = failed('TOOL_NOT_FOUND', 'helm not found.', ['Install helm']);
const noFile = failed('UNREADABLE_FILE', 'Cannot read a.\nCannot read b.', ['Check the path']);
const sameFile = failed('UNREADABLE_FILE', 'Cannot read b.\nCannot read c.', ['Check the path']);

test('leaves a single failure as it is', () => {
  expect(combined([noHelm])).toBe(noHelm);
});

test('has the code of the first failure, and the messages and next steps of all', () => {
  expect(combined([noHelm, noUrl])).toMatchObject({
    code: 'TOOL_NOT_FOUND',
    exit: 2,
    message: 'helm not found.\nURL is required.',
    suggestions: ['Install helm', 'Add --url URL'],
    problems: [
      {code: 'TOOL_NOT_FOUND', message: 'helm not found.', remedies: [{text: 'Install helm'}]},
      {code: 'MISSING_SETTING', message: 'URL is required.', remedies: [{text: 'Add --url URL'}]},
    ],
  });
});

test('reports the same line and the same next step once', () => {
  expect(combined([noFile, sameFile])).toMatchObject({
    message: 'Cannot read a.\nCannot read b.\nCannot read c.',
    suggestions: ['Check the path'],
  });
});

test('offers one decision for all, unless one of the failures needs another solution', () => {
  expect(combined([noUrl, noToken]).options).toEqual([
    {add: '--url URL --token-file FILE', when: 'Set what is missing'},
  ]);
  expect(combined([noUrl, noToken, noHelm]).options).toEqual([]);
});
