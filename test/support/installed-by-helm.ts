import {execa} from 'execa';
import {expect, onTestFinished} from 'vitest';
import type {Target} from '../../src/charts/releases/target.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {installPlace} from './install-place.ts';

export interface Installed extends Workplace {
  helm(...args: readonly string[]): Promise<{stdout: string; stderr: string; exitCode?: number}>;
}

/** A release of an older version, as plain helm installs it; `set` are assignments of values, `cluster` is a kubeconfig. */
export async function installedByHelm(
  helm: string,
  release: string,
  {chart, version}: Target,
  source: string,
  set: readonly string[],
  cluster?: string,
): Promise<Installed> {
  const place = await installPlace(cluster);
  const {namespace, kubeconfig, kubectl} = place;
  const run: Installed['helm'] = (...args) =>
    execa(helm, [...args, '--namespace', namespace, '--kubeconfig', kubeconfig], {reject: false});
  await kubectl('create', 'secret', 'generic', 'pool', '--from-literal=token=hunter2');
  const isFlat = chart === 'agent-k8s' || (chart === 'agent-job' && version === '0.5.63');
  const token = isFlat ? 'agent.tokenExistingSecret=pool' : 'agent.tokenExistingSecret.name=pool';
  const values = [
    'agent.url=https://acme.scalr.io',
    ...(set.some((each) => each.startsWith('agent.token=')) ? [] : [token]),
    ...set,
  ];
  const done = await run('install', release, source, ...values.flatMap((each) => ['--set', each]));
  expect(done.exitCode, done.stderr).toBe(0);
  onTestFinished(async () => void (await run('uninstall', release)));
  return {...place, helm: run};
}

/** PVCs and the volumes that they are bound to. */
export async function boundClaims({kubectl}: Workplace): Promise<Record<string, string>> {
  const phases = () => kubectl('get', 'pvc', '--output', 'jsonpath={.items[*].status.phase}');
  await expect.poll(phases).not.toContain('Pending');
  const lines = await kubectl(
    'get',
    'pvc',
    '--output',
    'jsonpath={range .items[*]}{.metadata.name}={.spec.volumeName} {end}',
  );
  return Object.fromEntries(
    lines
      .trim()
      .split(' ')
      .map((line) => line.split('=')),
  );
}
