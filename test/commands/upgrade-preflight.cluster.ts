import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {install, upgrade} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
process.once('exit', () => rmSync(scratch, {recursive: true, force: true}));

interface Quota {
  status?: {used?: Record<string, string>};
}

test('runs the checks of an install before the first step, unless told otherwise', async () => {
  const place = await installPlace();
  const old = await directoryOf({chart: 'agent-local', version: '0.5.72'}, scratch);
  const installing = ['--chart', 'agent-local', '--chart-source', old, '--skip-preflight', '--yes'];
  const done = await install(place, helm, installing, {env: TOKEN});
  expect(done.exit, done.stderr).toBe(0);
  const {kubectl} = place;
  const secrets = (await kubectl('get', 'secrets', '--output', 'name')).split('\n').length;
  await kubectl.apply({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: {name: 'full'},
    spec: {hard: {'count/secrets': String(secrets)}},
  });
  const used = async () => (await kubectl.get<Quota>('resourcequota', 'full')).status?.used;
  await expect.poll(used, {timeout: 30_000}).toEqual({'count/secrets': String(secrets)});
  const argv = [...(await chartFlags('agent-local')), '--yes', '--json'];
  const refused = await upgrade(place, helm, argv);
  expect(JSON.parse(refused.stdout).error).toMatchObject({
    code: 'PREFLIGHT_FAILED',
    exit: 3,
    message: expect.stringContaining('full has 0 of'),
  });
  expect(refused.exit).toBe(3);
  const revisions = () => kubectl('get', 'secrets', '--selector=owner=helm', '--output', 'name');
  expect((await revisions()).split('\n')).toHaveLength(1);
  const forced = await upgrade(place, helm, [...argv, '--skip-preflight', '--dry-run']);
  expect(JSON.parse(forced.stdout).error?.code).not.toBe('PREFLIGHT_FAILED');
});
