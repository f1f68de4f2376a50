import {expect, test} from 'vitest';
import {defaultsOf, schemaOf} from '../../../../src/charts/releases/schema.ts';
import type {ObjectDrift} from '../../../../src/cluster/diff/live-drift.ts';
import {differencesFile} from '../../../../src/extensions/bundle/collect/prepare.ts';

const VERSION = '0.6.5';
const {image} = defaultsOf(schemaOf({chart: 'agent-local'}), VERSION) as {
  image: {pullPolicy: string; repository: string};
};
const drift = [
  {object: 'Deployment mine', problem: 'changed', paths: ['spec.replicas']},
] as unknown as ObjectDrift[];
const release = {name: 'mine', chart: 'agent-local', version: VERSION, drift} as const;

test('a release is compared with its chart and with the cluster', () => {
  const values = {
    image: {pullPolicy: 'Never', repository: image.repository},
    agent: {token: 'x'},
    unknown: {password: 'y'},
  };
  const [file] = differencesFile({...release, values});
  expect(file?.name).toBe('releases/mine/differences.json');
  // Trees, so that the redaction finds the keys of secrets.
  expect(JSON.parse(file?.text ?? '')).toEqual({
    values: {image: {pullPolicy: 'Never'}, agent: {token: 'x'}, unknown: {password: 'y'}},
    chartDefaults: {image: {pullPolicy: image.pullPolicy}, agent: {token: ''}},
    inCluster: drift,
  });
});

test('nothing is compared without values', () => {
  expect(differencesFile({...release, values: undefined})).toEqual([]);
});
