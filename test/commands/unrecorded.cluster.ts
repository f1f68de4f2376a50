import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {commandsIn} from '../support/commands-in.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {violations} from '../support/output-schema.ts';
import {install, status, uninstall, upgrade} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const LOCAL = await chartFlags('agent-local');
const SOURCE = LOCAL.at(-1) as string;
const DEPLOYMENT = 'Deployment scalr-agent-agent-local';

/** An agent without a Helm release, as `helm template | kubectl apply` or a GitOps tool leaves it. */
async function applied(metadata: object = {}): Promise<Workplace> {
  const place = await installPlace();
  const values = [
    '--set',
    'agent.url=https://acme.scalr.io',
    '--set',
    'agent.tokenExistingSecret.name=scalr-agent-token',
  ];
  const {stdout} = await execa(helm, [
    'template',
    'scalr-agent',
    SOURCE,
    '--namespace',
    place.namespace,
    ...values,
  ]);
  const objects = parseAllDocuments(stdout).map((each) => each.toJS() as KubernetesObject);
  await place.kubectl.apply(
    ...objects.map((each) => ({...each, metadata: {...each.metadata, ...metadata}})),
  );
  await place.kubectl('rollout', 'status', 'deployment/scalr-agent-agent-local');
  return place;
}

const rejected = async (run: typeof upgrade, place: Workplace, ...argv: readonly string[]) => {
  const {stdout, exit} = await run(place, helm, [...argv, '--json']);
  return {exit, ...JSON.parse(stdout).error} as {
    exit: number;
    code: string;
    message: string;
    suggestions: string[];
  };
};

describe('an agent without a Helm release', () => {
  test('has a status', async () => {
    const place = await applied();
    const {stdout, exit} = await status(place, helm, ['--json']);
    expect(violations('status', stdout)).toEqual([]);
    expect({exit, ...JSON.parse(stdout)}).toMatchObject({
      exit: 0,
      state: 'ready',
      managedBy: 'applied without Helm',
      chart: {name: 'agent-local', version: '0.6.5'},
      objects: {differs: null},
    });
    expect((await status(place, helm, ['-A'])).stdout).toMatch(
      new RegExp(`^${place.namespace} +scalr-agent +agent-local-0.6.5 +ready`, 'm'),
    );
    expect((await status(place, helm, ['--release', 'other'])).stderr).toContain(
      `Show ${DEPLOYMENT} of agent-local-0.6.5:`,
    );
  });

  test.each([
    ['upgrade', upgrade],
    ['uninstall', uninstall],
  ] as const)('has no %s, and a command that makes an install possible', async (_, run) => {
    const place = await applied();
    const {exit, code, message, suggestions} = await rejected(run, place, '--yes');
    expect({exit, code, message}).toEqual({
      exit: 2,
      code: 'RELEASE_NOT_FOUND',
      message: `${DEPLOYMENT} in namespace ${place.namespace} has no Helm release (applied without Helm).`,
    });
    const [remove] = commandsIn(suggestions.find((each) => each.includes('kubectl delete')) ?? '');
    await place.kubectl(...(remove?.args ?? []));
    expect((await install(place, helm, [...LOCAL, '--yes'], {env: TOKEN})).exit).toBe(0);
  });

  test('belongs to the application that synchronizes it', async () => {
    const place = await applied({
      annotations: {'argocd.argoproj.io/tracking-id': 'agents:apps/Deployment:a/b'},
    });
    expect(JSON.parse((await status(place, helm, ['--json'])).stdout)).toMatchObject({
      managedBy: 'Argo CD application agents',
    });
    const {suggestions} = await rejected(upgrade, place, '--yes');
    expect(suggestions[0]).toBe('Change or remove the agent in the Argo CD application agents');
    expect(suggestions.join()).not.toContain('kubectl delete');
  });

  test('is installed again when its Helm record was deleted', async () => {
    const place = await installPlace();
    expect((await install(place, helm, [...LOCAL, '--yes'], {env: TOKEN})).exit).toBe(0);
    await place.kubectl('delete', 'secrets', '--selector=owner=helm');
    expect(JSON.parse((await status(place, helm, ['--json'])).stdout)).toMatchObject({
      managedBy: 'its Helm record was deleted, or HELM_DRIVER differs',
    });
    expect((await rejected(upgrade, place, '--yes')).suggestions[0]).toContain(
      'scalr-agent install',
    );
    expect((await install(place, helm, [...LOCAL, '--yes'], {env: TOKEN})).exit).toBe(0);
    expect(JSON.parse((await status(place, helm, ['--json'])).stdout)).toMatchObject({
      state: 'ready',
      helm: {revision: 1},
    });
  });
});
