import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, expect, test} from 'vitest';
import {type Fault, faultyApi} from '../cluster/faulty-api.ts';
import {directoryOf, REAL} from '../helm/charts-under-test.ts';
import {findHelmMatrix} from '../helm/find-helm.ts';
import {boundClaims, installedByHelm} from '../support/installed-by-helm.ts';
import {startProgram} from '../support/killed-run.ts';
import {upgrade} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));
const [{path: helm} = {path: 'helm'}] = await findHelmMatrix();

/** The released charts have cluster roles without a namespace in their names, and other tests use the default name. */
const RELEASE = REAL ? 'killed' : 'scalr-agent';
const FROM = {chart: 'agent-job', version: '0.5.67'} as const;

type Moment = [moment: string, method: string, path: RegExp, fault: Fault];

const MOMENTS: readonly Moment[] = [
  ['after the CRDs are applied', 'PATCH', /\/customresourcedefinitions\/(?!.*dryRun)/, 'lose'],
  ['after the PVC is annotated', 'PATCH', /\/persistentvolumeclaims\/(?!.*dryRun)/, 'lose'],
  ['after the controller is scaled to 0', 'PATCH|PUT', /\/deployments\/[^/]+\/scale/, 'lose'],
  // Only the selector of the default release name changes.
  ...(REAL ? [] : [['after the Deployment is deleted', 'DELETE', /\/deployments\//, 'lose'] as Moment]),
  ['after helm has written its record', 'POST', /\/secrets/, 'lose'],
  ['after helm has created some of the objects', 'POST|PATCH', /\/agenttasktemplates(?!.*dryRun)/, 'lose'],
  ['while it watches the release', 'GET', /\/replicasets\?limit/, 'stall'],
];

test.each(MOMENTS)('an upgrade that is killed %s is completed by the next run, on the same volume', async (moment, method, path, fault) => {
  const place = await installedByHelm(helm, RELEASE, FROM, await directoryOf(FROM, scratch), ['persistence.cache.enabled=true']);
  const before = await boundClaims(place);
  const next = await directoryOf({chart: 'agent-job', version: '0.6.5'}, scratch);
  const argv = ['--release', RELEASE, '--chart-source', next, '--yes'];
  const api = await faultyApi(place.kubeconfig);
  // The inventory lists ReplicaSets too, before the first step.
  const skipped = moment.startsWith('while') ? api.inject(method, path, {delayMs: 1}, 1) : undefined;
  const trouble = api.inject(method, path, fault, 1);
  const run = startProgram('upgrade', place, api, helm, argv);
  await skipped?.hit;
  await trouble.hit;
  run.signal('SIGKILL');
  try {
    process.kill(run.helmPid(), 'SIGKILL');
  } catch {
    // Helm had ended.
  }
  expect(await run.ended).toMatchObject({signal: 'SIGKILL'});

  const done = await upgrade(place, helm, [...argv, '--take-over', '--json']);
  expect(done.exit, done.stdout + done.stderr).toBe(0);
  expect(JSON.parse(done.stdout)).toMatchObject({agent: 'registered', to: {chartVersion: '0.6.5'}});
  const again = await upgrade(place, helm, [...argv, '--json']);
  expect(JSON.parse(again.stdout)).toMatchObject({changed: false, agent: 'registered'});
  expect(await boundClaims(place)).toEqual(before);
  const {kubectl} = place;
  expect(await kubectl('get', 'deployments', '--output', 'jsonpath={..persistentVolumeClaim.claimName}')).toBe(Object.keys(before)[0]);
  expect(await kubectl('get', 'deployments', '--output', 'jsonpath={.items[*].status.readyReplicas}')).toBe('1');
  const {stdout} = await place.helm('list', '--output', 'json');
  expect(JSON.parse(stdout)).toMatchObject([{status: 'deployed', chart: 'agent-job-0.6.5'}]);
});
