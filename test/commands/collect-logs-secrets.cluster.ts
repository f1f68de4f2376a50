import {randomBytes} from 'node:crypto';
import {expect, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {setLogs} from '../control-plane/logs.ts';
import {collected} from '../support/collected.ts';
import {installed} from '../support/installed-charts.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

test('20,000 values of Secrets, and one that is the name of the release, still give a whole bundle without them', async () => {
  const place = await installed('agent-local', helm);
  const values = Array.from({length: 20_000}, () => randomBytes(15).toString('base64url'));
  const secrets = Array.from({length: 20}, (_, index) => {
    const own = values.slice(index * 1000, (index + 1) * 1000);
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      metadata: {name: `many-${index}`},
      stringData: Object.fromEntries(own.map((value, key) => [`password-${key}`, value])),
    };
  });
  const named = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'named'},
    stringData: {workload: 'scalr-agent-agent-local'},
  };
  await place.kubectl.apply(...secrets, named);
  const lines = values.slice(0, 200).map((value, index) => `step ${index} used ${value} once`);
  await setLogs(
    place.kubeconfig,
    {namespace: place.namespace},
    {'*': {current: ['The agent is ready to receive tasks', ...lines]}},
  );
  const {result, exit, all} = await collected(place, helm);
  expect({exit, ...result}).toMatchObject({exit: 0, complete: true, withheld: []});
  expect(values.filter((value) => all.includes(value))).toEqual([]);
  expect(all).toContain('step 199 used ');
});
