import {expect, test} from 'vitest';
import type {Target} from '../../src/charts/releases/target.ts';
import {unmappedValues} from '../../src/cli/wizard-readings.ts';
import type {Values} from '../../src/ground/tree.ts';
import {readHelmSet} from '../../src/settings/kinds/helm-set.ts';

const LOCAL: Target = {chart: 'agent-local', version: '0.6.5'};

test('values without a setting are kept as --set writes them, and unknown keys are not', () => {
  const values: Values = {
    replicaCount: 2,
    extraVolumes: [{name: 'tools', emptyDir: {}}],
    nameOverride: 'agent',
    misspelled: {key: 1},
  };
  const found = unmappedValues(values, LOCAL) ?? {};
  expect(Object.keys(found)).not.toContain('misspelled.key');
  expect(Object.keys(found)).not.toContain('replicaCount');
  const given = Object.entries(found).map(([path, text]) => `${path}=${text}`);
  expect(readHelmSet(given)).toEqual(given);
  expect(found).toEqual({extraVolumes: '[{"name":"tools","emptyDir":{}}]', nameOverride: 'agent'});
});

test('values that settings express need no --set', () => {
  expect(
    unmappedValues({replicaCount: 2, agent: {url: 'https://acme.scalr.io'}}, LOCAL),
  ).toBeUndefined();
});
