import {expect, test} from 'vitest';
import type {Pod} from '../../src/cluster/kubernetes/objects.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {setLogs} from '../control-plane/logs.ts';
import {collected} from '../support/collected.ts';
import {installed} from '../support/installed-charts.ts';
import {violations} from '../support/output-schema.ts';
import {status} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

test('reads cache use and slow image pulls from existing runs', async () => {
  const place = await installed('agent-job', helm);
  const {kubectl, kubeconfig, namespace} = place;
  const before = JSON.parse((await status(place, helm, ['--json'])).stdout);
  expect(before).toMatchObject({state: 'ready', advice: []});
  expect(before).not.toHaveProperty('cacheUse');

  const name = 'run-v0o1-plan';
  const labels = {
    'app.kubernetes.io/instance': 'scalr-agent',
    'app.kubernetes.io/component': 'task',
    'app.kubernetes.io/name': 'scalr-agent',
  };
  const said = [
    'Initializing modules...',
    'Initialized 8 modules in 4.12s (8 used from cache)',
    'Initialized 20 plugins in 6.09s (19 used from cache)',
  ];
  await setLogs(
    kubeconfig,
    {namespace, pod: name},
    {runner: {current: [...said, ...Array<string>(200).fill('a line of the plan')]}},
  );
  const containers = [{name: 'runner', image: 'scalr/runner:0.2.0'}];
  await kubectl.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name, labels},
    spec: {containers},
  });
  await expect
    .poll(async () => (await kubectl.get<Pod>('pod', name)).status?.phase)
    .toBe('Running');
  const start = Date.now() - 90_000;
  const event = (reason: string, second: number, message: string): object => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {name: `${name}.${reason.toLowerCase()}`},
    type: 'Normal',
    reason,
    message,
    lastTimestamp: new Date(start + second * 1000).toISOString().replace(/\.\d+/, ''),
    involvedObject: {kind: 'Pod', name, namespace},
  });
  const pulled =
    'Successfully pulled image "scalr/runner:0.2.0" in 41.3s (41.3s including waiting). Image size: 9 bytes.';
  await kubectl.apply(
    event('Scheduled', 0, 'Successfully assigned'),
    event('Pulled', 42, pulled),
    event('Started', 43, 'Started container runner'),
  );

  const {stdout} = await status(place, helm, ['--json']);
  expect(violations('status', stdout)).toEqual([]);
  expect(JSON.parse(stdout)).toMatchObject({
    cacheUse: {plugins: {installed: 20, cached: 19}, modules: {installed: 8, cached: 8}},
    advice: [{code: 'SLOW_IMAGE_PULLS', message: expect.stringContaining('up to 41s')}],
  });
  const text = (await status(place, helm)).stdout;
  expect(text).toMatch(
    /^Cache +19 of 20 plugins and 8 of 8 modules used from the cache \(from run logs\)$/m,
  );
  expect(text).toMatch(/Advice\n {2}- SLOW_IMAGE_PULLS {2}Image pulls take most of the start-up/);

  const {result, text: file} = await collected(place, helm);
  expect(result.findings).toContainEqual(
    expect.objectContaining({
      code: 'CACHE_USED',
      verdict: 'note',
      evidence: {file: `logs/${name}/runner.log`},
    }),
  );
  expect(file('SUMMARY.md')).toContain('## Notes');
});
