import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {installPlace, stepFlags, TOKEN} from './install-place.ts';
import {install} from './run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
process.once('exit', () => rmSync(scratch, {recursive: true, force: true}));

/** A namespace with a release of the newest chart version. */
export async function installed(
  chart: ChartName,
  helm: string,
  ...more: readonly string[]
): Promise<Workplace> {
  const place = await installPlace();
  // The tests share a cluster, and two releases must not share a node directory.
  const own = chart === 'agent-k8s' ? ['--data-home', `/var/lib/${place.namespace}`] : [];
  const {exit, stdout, stderr} = await install(
    place,
    helm,
    [...(await stepFlags(chart)), ...own, '--yes', ...more],
    {env: TOKEN},
  );
  expect(exit, stdout + stderr).toBe(0);
  return place;
}

/** A release of a version that the program no longer installs. */
export async function installedLongAgo(
  chart: ChartName,
  version: string,
  helm: string,
): Promise<Workplace> {
  const place = await installPlace();
  const where = ['--namespace', place.namespace, '--kubeconfig', place.kubeconfig];
  const source = await directoryOf({chart, version}, scratch);
  await execa(helm, [
    'install',
    'scalr-agent',
    source,
    ...where,
    '--set',
    'agent.tokenExistingSecret=token,agent.url=https://acme.scalr.io',
  ]);
  return place;
}
