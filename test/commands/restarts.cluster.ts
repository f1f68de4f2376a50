import {expect, test} from 'vitest';
import {warningOf} from '../../src/ground/finding.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {violations} from '../support/output-schema.ts';
import {install, rotateToken} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelmMatrix();
const local = await stepFlags('agent-local');
const job = await stepFlags('agent-job');

const NEW = {SCALR_AGENT_TOKEN: 'hunter3'};
const RESTARTS = expect.stringMatching(
  /^The agent pods restart, and runs inside (are interrupted|can finish)/,
);

async function installed(argv: readonly string[]): Promise<Workplace> {
  const place = await installPlace();
  const done = await install(place, helm, [...argv, '--yes'], {env: TOKEN});
  expect(done.exit, done.stderr).toBe(0);
  return place;
}

async function warningsOf(
  command: 'install' | 'rotate-token',
  place: Workplace,
  argv: readonly string[],
  env = TOKEN,
) {
  const run = command === 'install' ? install : rotateToken;
  const {stdout, stderr, exit} = await run(place, helm, [...argv, '--dry-run', '--json'], {env});
  expect(exit, stdout + stderr).toBe(0);
  expect(violations(command, stdout)).toEqual([]);
  const {warnings} = JSON.parse(stdout) as {warnings: {code: string; message: string}[]};
  for (const {message} of warnings) expect(stderr.replaceAll(/\s+/g, ' ')).toContain(message);
  return warnings;
}

test('install warns about the runs that a new setting or a new token interrupts', async () => {
  const place = await installed(local);
  const warning = warningOf('RUNS', RESTARTS);
  expect(await warningsOf('install', place, [...local, '--extra-env', 'A=b'])).toEqual([warning]);
  expect(await warningsOf('install', place, local, NEW)).toEqual([warning]);
  expect(await warningsOf('install', place, local)).toEqual([]);
});

test('install warns that fewer agents interrupt the runs of those that are removed', async () => {
  const place = await installed([...local, '--concurrency', '3']);
  const removed = '2 agent pods are removed, and runs inside are interrupted.';
  expect(await warningsOf('install', place, [...local, '--concurrency', '1'])).toEqual([
    warningOf('RUNS', expect.stringContaining(removed)),
  ]);
  expect(await warningsOf('install', place, [...local, '--concurrency', '4'])).toEqual([]);
});

test('install lists runs of agent-job that continue, and nothing without runs', async () => {
  const place = await installed(job);
  const argv = [...job, '--extra-env', 'A=b'];
  expect(await warningsOf('install', place, argv)).toEqual([]);
  await place.kubectl.apply({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {name: 'run-1'},
    spec: {
      template: {
        metadata: {
          labels: {
            'app.kubernetes.io/instance': 'scalr-agent',
            'app.kubernetes.io/component': 'task',
          },
          annotations: {'test.scalr.io/outcome': 'unready'},
        },
        spec: {restartPolicy: 'Never', containers: [{name: 'runner', image: 'scalr/agent'}]},
      },
    },
  });
  expect(await warningsOf('install', place, argv)).toEqual([
    warningOf('RUNS', 'The controller restarts. 1 run is in flight; they continue.'),
  ]);
});

test('rotate-token warns, and install warns before it writes the old token back', async () => {
  const place = await installed(local);
  expect(await warningsOf('rotate-token', place, [], NEW)).toEqual([warningOf('RUNS', RESTARTS)]);
  const {stderr, exit} = await rotateToken(place, helm, ['--yes'], {env: NEW});
  expect(exit, stderr).toBe(0);
  expect(stderr).toContain('Revoke the old token in Scalr');
  expect(stderr).toContain('SCALR_AGENT_TOKEN in CI');
  expect(await warningsOf('install', place, local, NEW)).toEqual([]);
  const old = await warningsOf('install', place, local);
  expect(old).toContainEqual(
    warningOf(
      'ROTATED_TOKEN',
      expect.stringMatching(
        /^Secret scalr-agent-token contains a token that rotate-token wrote on 20.*Z\. This install replaces it\./,
      ),
    ),
  );
});
