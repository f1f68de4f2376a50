import {expect, test} from 'vitest';
import {githubAnnotations} from '../../src/ui/annotations.ts';
import {checkedFile, checkedLayers, inFile, LOSER, MISSING, UNKNOWN} from './checked.ts';

test('a workflow command per finding, with the file from the top of the repository', () => {
  expect(
    githubAnnotations([checkedFile('./prod/a.yaml', [UNKNOWN, LOSER]), checkedFile('b.yaml')]),
  ).toBe(
    [
      '::error file=prod/a.yaml,line=3,col=5,title=UNKNOWN_KEY::agent.tokne: agent-job has no key <tokne> & "co". → agent.token\n',
      '::warning file=prod/a.yaml,line=4,col=5,title=KEY_OVERRIDDEN::agent.token: This token is dropped.\n',
    ].join(''),
  );
});

test('a missing value has no line, and signs of the format are encoded', () => {
  const message = '100 %\nof it: a, b';
  expect(
    githubAnnotations([
      checkedFile('a,b:c.yaml', [{...MISSING, message, subject: {path: 'x:y,z'}}]),
    ]),
  ).toBe('::error file=a%2Cb%3Ac.yaml,title=NO_TOKEN::x:y,z: 100 %25%0Aof it: a, b\n');
});

test('a finding of merged files is shown in the file that wrote the value', () => {
  expect(
    githubAnnotations([checkedLayers(['base.yaml', 'prod.yaml'], [inFile(LOSER, 'base.yaml')])]),
  ).toMatch(/^::warning file=base\.yaml,/);
});
