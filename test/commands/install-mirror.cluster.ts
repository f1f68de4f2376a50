import {once} from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import {MANIFEST_TYPES} from '../../src/settings/kinds/images.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {install} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

test('install changes nothing if the mirror has no agent image, and installs once it has', async () => {
  let status = 404;
  const registry = createServer(
    (_, answer) => void answer.writeHead(status, {'content-type': MANIFEST_TYPES[0]}).end(),
  ).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  onTestFinished(() => void registry.close());
  const mirror = `127.0.0.1:${(registry.address() as AddressInfo).port}/mirror`;
  const place = await installPlace();
  const argv = [...(await chartFlags('agent-local')), '--image-registry', mirror, '--yes'];

  const refused = await install(place, helm, argv, {env: TOKEN});
  expect(refused.exit, refused.stderr).toBe(3);
  expect(refused.stderr).toContain(`From this machine: ${mirror}/scalr/agent:1.4.0 not found`);
  expect(refused.stderr).toMatch(
    new RegExp(`scalr-agent images --chart-source \\S+ --image-registry ${mirror}`),
  );
  expect(await place.kubectl('get', 'deployments,secrets', '--output', 'name')).toBe('');

  status = 200;
  const {exit, stderr} = await install(place, helm, argv, {env: TOKEN});
  expect(exit, stderr).toBe(0);
  expect(await place.kubectl('get', 'deployments', '--output', 'jsonpath={..image}')).toBe(
    `${mirror}/scalr/agent:1.4.0`,
  );
});
