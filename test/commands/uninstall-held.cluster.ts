import {expect, onTestFinished, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {install, uninstall} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

test('says which finalizer holds a pod while it waits, and how to remove it', async () => {
  const place = await installPlace();
  const {kubectl, namespace} = place;
  const installed = await install(place, helm, [...(await stepFlags('agent-local')), '--yes'], {
    env: TOKEN,
  });
  expect(installed.exit, installed.stderr).toBe(0);
  const name = await kubectl('get', 'pods', '--output', 'jsonpath={.items[0].metadata.name}');
  const finalizers = (list: string[] | null) =>
    kubectl(
      'patch',
      'pod',
      name,
      '--type=merge',
      `--patch=${JSON.stringify({metadata: {finalizers: list}})}`,
    );
  await finalizers(['example.com/hold']);
  onTestFinished(async () => {
    await kubectl('delete', 'pod', name, '--ignore-not-found', '--wait=false');
    await finalizers(null).catch(() => undefined);
  });
  const {exit, stderr} = await uninstall(place, helm, ['--yes', '--drain-timeout', '20s'], {});
  expect(exit, stderr).toBe(6);
  const held = `Pod ${name}: its deletion is not complete, pending finalizers: example.com/hold`;
  expect(stderr.split(held).length - 1, stderr).toBe(2);
  expect(stderr).toMatch(new RegExp(`kubectl patch pod/${name} .*--namespace ${namespace}`));
});
