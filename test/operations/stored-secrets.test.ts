import {expect, test} from 'vitest';
import {applyObjects} from '../../src/cluster/kubernetes/changes.ts';
import {Secret} from '../../src/ground/secret.ts';
import {requireStored} from '../../src/operations/stored-secrets.ts';
import {fakeKubernetes} from '../support/fake-kubernetes.ts';

const kubeTarget = {namespace: 'agents'};
const name = {release: 'agent', kubeTarget};
const secret = (rest: object) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {name: 'agent-token', namespace: 'agents'},
  ...rest,
});
const plan = {
  steps: [
    {
      id: 'secret/agent-token',
      title: 'Update Secret agent-token',
      phase: 'secrets' as const,
      call: applyObjects(kubeTarget, []),
      stores: {name: 'agent-token', data: {SCALR_AGENT_TOKEN: new Secret('new-token')}},
    },
  ],
};
const stored = (text: string) =>
  requireStored(
    plan,
    name,
    fakeKubernetes({
      objects: [secret({data: {SCALR_AGENT_TOKEN: Buffer.from(text).toString('base64')}})],
    }),
  );

test('accepts a Secret that contains what was written', async () => {
  await expect(stored('new-token')).resolves.toBeUndefined();
});

test('fails without the token when another program has changed the Secret back', async () => {
  const error = await stored('old-token').catch((thrown: Error) => thrown);
  expect(error).toMatchObject({
    code: 'OBJECT_NOT_OWNED',
    message:
      'Secret agent-token does not contain what this command has written: SCALR_AGENT_TOKEN.',
  });
  expect(JSON.stringify(error)).not.toMatch(/old-token|new-token/);
});

test('fails when the Secret has been deleted meanwhile', async () => {
  await expect(requireStored(plan, name, fakeKubernetes())).rejects.toMatchObject({
    code: 'OBJECT_NOT_OWNED',
  });
});
