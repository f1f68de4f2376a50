import {resolve} from 'node:path';
import schema from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with {type: 'json'};
import {Ajv} from 'ajv';
import type {Result} from 'sarif';
import {expect, test} from 'vitest';
import {type SarifDriver, sarif} from '../../src/ui/sarif.ts';
import type {CheckedGroup} from '../../src/values/validate/check-files.ts';
import {checkedFile, checkedLayers, inFile, LOSER, MISSING, UNKNOWN} from './checked.ts';

const URI = /^([a-z][a-z0-9+.-]*:)?([!$&'()*+,;=:@/?#\w.~-]|%[0-9A-F]{2})*$/i;
const ajv = new Ajv({
  strict: false,
  unicodeRegExp: false,
  allErrors: true,
  formats: {uri: URI, 'uri-reference': URI, 'date-time': true},
});
// The schema says it is of draft 04; nothing in it means something else in draft 07.
const {$schema: _, id: _id, ...draft07} = schema;
const isValid = ajv.compile(draft07);

const PROGRAM = {name: 'scalr-agent', version: '1.2.3'};

function logOf(checked: CheckedGroup[], program: SarifDriver = PROGRAM) {
  const log = JSON.parse(sarif(checked, program));
  isValid(log);
  expect(isValid.errors ?? []).toEqual([]);
  return log.runs[0];
}

const uriOf = (file: string): string =>
  logOf([checkedFile(file, [UNKNOWN])]).results[0].locations[0].physicalLocation.artifactLocation
    .uri;

test('the schema refuses what is no SARIF', () => {
  expect(
    isValid({version: '2.1.0', runs: [{tool: {driver: {}}, results: [{level: 'fatal'}]}]}),
  ).toBe(false);
});

test('a run without findings is a run', () => {
  expect(logOf([checkedFile('values.yaml')])).toMatchObject({
    tool: {driver: {name: 'scalr-agent', version: '1.2.3', rules: []}},
    results: [],
  });
});

test('a finding says what, how bad and where', () => {
  const {results, tool} = logOf([
    checkedFile('a.yaml', [UNKNOWN, LOSER]),
    checkedFile('b.yaml', [UNKNOWN]),
  ]);
  expect(tool.driver.rules.map(({id}: {id: string}) => id)).toEqual([
    'UNKNOWN_KEY',
    'KEY_OVERRIDDEN',
  ]);
  expect(tool.driver.rules[0]).toMatchObject({
    name: 'UnknownKey',
    shortDescription: {text: 'Unknown key.'},
    help: {markdown: expect.stringContaining('This chart version has no such key')},
  });
  expect(results).toHaveLength(3);
  expect(results[0]).toEqual({
    ruleId: 'UNKNOWN_KEY',
    ruleIndex: 0,
    level: 'error',
    message: {text: 'agent.tokne: agent-job has no key <tokne> & "co". → agent.token'},
    locations: [
      {
        physicalLocation: {
          artifactLocation: {uri: 'a.yaml'},
          region: {startLine: 3, startColumn: 5},
        },
      },
    ],
  });
  expect(results[1]).toMatchObject({ruleId: 'KEY_OVERRIDDEN', ruleIndex: 1, level: 'warning'});
});

test('what is missing has a file and no line', () => {
  const [result] = logOf([checkedFile('a.yaml', [MISSING])]).results;
  expect(result.locations).toEqual([{physicalLocation: {artifactLocation: {uri: 'a.yaml'}}}]);
});

test('layers: the file that wrote it, or the one that wins', () => {
  const {results} = logOf([
    checkedLayers(['base.yaml', 'over.yaml'], [inFile(UNKNOWN, 'base.yaml'), MISSING]),
  ]);
  expect(
    results.map(({locations}: Result) => locations?.[0]?.physicalLocation?.artifactLocation?.uri),
  ).toEqual(['base.yaml', 'over.yaml']);
});

test('the address of the project is there when it is known', () => {
  const {tool} = logOf([checkedFile('a.yaml')], {...PROGRAM, homepage: 'https://example.com/a'});
  expect(tool.driver.informationUri).toBe('https://example.com/a');
});

test.each([
  ['./clusters/../values.yaml', 'values.yaml'],
  ['clusters/my values#1 (ü).yaml', 'clusters/my%20values%231%20(%C3%BC).yaml'],
  ['a:b?.yaml', 'a%3Ab%3F.yaml'],
  [resolve('clusters/a.yaml'), 'clusters/a.yaml'],
  ['/elsewhere/a b.yaml', 'file:///elsewhere/a%20b.yaml'],
  ['-', '-'],
])('%s is %s', (file, uri) => {
  expect(uriOf(file)).toBe(uri);
});
