import {expect, test} from 'vitest';
import {changing} from '../../src/ground/finding.ts';
import {unreachableSteps} from '../../src/ground/unreachable.ts';
import {chartVersion} from '../../src/settings/release.ts';
import {clientKeyFile} from '../../src/settings/tls.ts';
import {spellRemedy} from '../../src/wizard/spell-remedy.ts';
import {problemIn} from '../../src/wizard/typed-answer.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {TODAY} from '../support/settings-from.ts';

test('a typed answer gets a next step without flags', async () => {
  const deps = {files: memoryFiles(), now: () => TODAY};
  expect(await problemIn(chartVersion, 'latest', deps)).toBe(
    '"latest" is not an exact version. Omit chart version for the newest known version.',
  );
});

test('settings and flags of the cluster are spelled as the wizard asks for them', () => {
  expect(spellRemedy(changing`Add ${clientKeyFile}`).text).toBe('Add client key file');
  const steps = unreachableSteps('dial tcp 10.0.0.1:443: i/o timeout', {});
  const texts = steps.map((each) => (typeof each === 'string' ? each : spellRemedy(each).text));
  expect(texts).toContain('Select the cluster with kubeconfig context or kubeconfig');
  expect(texts.join()).not.toMatch(/--kube/);
});
