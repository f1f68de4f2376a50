import {expect, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {violations} from '../support/output-schema.ts';
import {install, status} from '../support/run-on-cluster.ts';

const helms = await findHelm();
const LOCAL = await chartFlags('agent-local');

test.each(helms)('installs a VCS agent with Helm $major, and shows its purpose', async ({
  path: helm,
}) => {
  const place = await installPlace();
  const argv = [...LOCAL, '--purpose', 'vcs', '--yes'];
  const {exit, stderr} = await install(place, helm, argv, {env: TOKEN});
  expect(exit, stderr).toBe(0);
  expect(stderr).toMatch(/\n {2}Scalr: VCS provider setup, last step +# select the agent pool\n/);
  const pod = await place.kubectl(
    'get',
    'pods',
    '--output',
    'jsonpath={.items[0].metadata.annotations.scalr\\.io/purpose}',
  );
  expect(pod).toBe('vcs');
  expect(
    await place.kubectl(
      'get',
      'services,ingresses,persistentvolumeclaims,networkpolicies',
      '--output',
      'name',
    ),
  ).toBe('');

  const {stdout} = await status(place, helm, []);
  expect(stdout).toContain('Pool       VCS access\n');
  expect(stdout).toContain('Runs       none: VCS agents execute no runs\n');
  const json = await status(place, helm, ['--json']);
  expect(violations('status', json.stdout)).toEqual([]);
  expect(JSON.parse(json.stdout)).toMatchObject({purpose: 'vcs', state: 'ready'});

  const again = await install(place, helm, [...argv, '--json'], {env: TOKEN});
  expect(JSON.parse(again.stdout)).toMatchObject({changed: false});
});
