import {expect, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {setLogs} from '../control-plane/logs.ts';
import {collected} from '../support/collected.ts';
import {installed} from '../support/installed-charts.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const TASK = {'app.kubernetes.io/instance': 'scalr-agent', 'app.kubernetes.io/component': 'task'};

const run = (name: string, outcome = 'unready', env: readonly object[] = []): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {name, labels: TASK, annotations: {'test.scalr.io/outcome': outcome}},
  spec: {restartPolicy: 'Never', containers: [{name: 'worker', image: 'scalr/runner:1', env}]},
});

test('collects a run that starts and ends while watching, with its last state and without the token', async () => {
  const place = await installed('agent-job', helm);
  const interrupt = new AbortController();
  const forceQuit = new AbortController().signal;
  let said = '';
  const stderr = (text: string): void => {
    said += text;
  };
  const handleInterrupts = () => ({
    interrupt: interrupt.signal,
    forceQuit,
    release: () => undefined,
  });
  const bundle = collected(place, helm, ['--watch', '--for', '2m'], {handleInterrupts, stderr});
  await expect.poll(() => said).toContain('Following logs/scalr-agent-');
  await setLogs(
    place.kubeconfig,
    {namespace: place.namespace, pod: 'run-7-plan'},
    {
      worker: {
        current: [
          'Plan: 1 to add',
          'password = "hunter2-hunter2"',
          'signed in, session wq81kLmWv93x of this run',
          'and Zr55pTnBx7Kq of its Secret',
        ],
      },
    },
  );
  await place.kubectl(
    'create',
    'secret',
    'generic',
    'run-7',
    '--from-literal=session=Zr55pTnBx7Kq',
  );
  // What no look for secrets could find in the beginning.
  await place.kubectl.apply(
    run('run-7-plan', 'unready', [{name: 'SCALR_RUN_TOKEN', value: 'wq81kLmWv93x'}]),
  );
  await expect.poll(() => said).toContain('Following logs/run-7-plan/worker.log');
  // What a node has sent is there; a log that is followed has no end while its pod lives.
  await place.kubectl('delete', 'secret', 'run-7');
  await place.kubectl('delete', 'pod', 'run-7-plan', '--grace-period=0', '--force');
  await expect
    .poll(async () => place.kubectl('get', 'pod', 'run-7-plan', '--ignore-not-found'))
    .toBe('');
  interrupt.abort('SIGINT');
  const {exit, names, text, all} = await bundle;
  expect(exit, said).toBe(0);
  expect(text('logs/run-7-plan/worker.log')).toContain('Plan: 1 to add');
  expect(names).toContain('gone/objects/pod/run-7-plan.json');
  expect(names.some((name) => /^logs\/scalr-agent-.*controller\.log$/.test(name))).toBe(true);
  expect(all).not.toMatch(/hunter2|wq81kLmWv93x|Zr55pTnBx7Kq/);
});

test('ends when the run of --run ends', async () => {
  const place = await installed('agent-job', helm);
  await setLogs(
    place.kubeconfig,
    {namespace: place.namespace, pod: 'run-8-plan'},
    {worker: {current: ['done']}},
  );
  await place.kubectl.apply(run('run-8-plan', 'completes'));
  const {exit, names} = await collected(place, helm, ['--watch', '--run', 'run-8', '--for', '2m']);
  expect(exit).toBe(0);
  expect(names.join('\n')).toMatch(/logs\/run-8-plan\/worker\.log/);
});

test('reports a run that never appeared', async () => {
  const place = await installed('agent-job', helm);
  const {exit, errors, result, names} = await collected(place, helm, [
    '--watch',
    '--run',
    'run-9',
    '--for',
    '3s',
  ]);
  expect({exit, complete: result.complete}).toEqual({exit: 7, complete: false});
  expect(errors).toContainEqual(
    expect.objectContaining({what: 'run run-9', message: 'not seen while watching'}),
  );
  expect(names).toContain('SUMMARY.md');
});
