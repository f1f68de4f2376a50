import {expect, test} from 'vitest';
import {brokenPromises, lostValues} from '../../src/plan/check-manifest.ts';
import {settingsFrom} from '../support/settings-from.ts';

const URL = {url: 'https://acme.scalr.io'};
const promised = async (manifest: string, flags = {}): Promise<string[]> => {
  const {get} = await settingsFrom({...URL, ...flags});
  return brokenPromises(manifest, get);
};

/** As Helm 3.18 and 4.1 print them. */
test.each([
  'coalesce.go:301: warning: destination for agent-k8s.agent.tokenExistingSecret is a table. Ignoring non-table value ()',
  'level=INFO msg="warning: destination for agent-k8s.agent.tokenExistingSecret is a table. Ignoring non-table value ()"',
  'coalesce.go:298: warning: cannot overwrite table with non table for agent-local.agent (map[url:])',
])('a value is lost: %s', (line) => {
  expect(lostValues(`walk.go:75: found symbolic link\n${line}\n`)).toHaveLength(1);
});

test.each([
  'coalesce.go:298: warning: cannot overwrite table with non table for agent-job.agent.topologySpreadConstraints (map[])',
  'level=INFO msg="warning: cannot overwrite table with non table for agent-job.agent.topologySpreadConstraints (map[])"',
  'WARNING: Kubernetes configuration file is group-readable. This is insecure.',
])('nothing is lost: %s', (line) => {
  expect(lostValues(line)).toEqual([]);
});

const deployment = (container: string): string => `kind: Deployment
metadata: {name: a}
spec: {template: {spec: {containers: [${container}]}}}
`;

test('what the chart makes is held against what the settings say', async () => {
  const right = `${deployment('{name: agent, image: scalr/agent:1, env: [{name: A}, {name: B}]}')}---
kind: NetworkPolicy
metadata: {name: p}
---
kind: PersistentVolumeClaim
metadata: {name: c}
`;
  const flags = {'metadata-service': 'block', cache: 'pvc'};
  expect(await promised(right, flags)).toEqual([]);
  expect(await promised(deployment('{name: agent, image: scalr/agent:1}'), flags)).toEqual([
    'No NetworkPolicy blocks the metadata service.',
    'No claim is made for the cache.',
  ]);
  expect(await promised(deployment('{name: agent, image: scalr/agent:1}'))).toEqual([]);
});

test('a variable that is there twice and an image that is none are found, in the template of a run too', async () => {
  expect(await promised(deployment('{name: agent, image: scalr/agent:1, env: [{name: A}, {name: A}]}'))).toEqual([
    'The container agent gets A twice.',
  ]);
  const template = `kind: AgentTaskTemplate
metadata: {name: a}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: runner, image: 'scalr/runner:'}]}}}}}
`;
  expect(await promised(template)).toEqual(['The image of the container runner is no reference: scalr/runner:']);
});
