import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, expect, onTestFinished, test} from 'vitest';
import {HelmReleases} from '../../../src/cluster/helm/helm-releases.ts';
import type {ReleaseRecord, Revision} from '../../../src/cluster/helm/release-record.ts';
import {StoredReleases} from '../../../src/cluster/helm/stored-releases.ts';
import {kubernetesClient} from '../../../src/cluster/kubernetes/connect.ts';
import {nodeProcesses} from '../../../src/ground/system/node-processes.ts';
import {mergeValues} from '../../../src/ground/tree.ts';
import {account} from '../../control-plane/accounts.ts';
import {findKubectl} from '../../control-plane/kubectl.ts';
import {workplace} from '../../control-plane/workplace.ts';
import {directoryOf} from './charts-under-test.ts';
import {findHelm} from './find-helm.ts';

const kubectl = await findKubectl();
const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true}));
const options = {signal: new AbortController().signal};

test.each(await findHelm())('reads Secrets of Helm $major as helm itself prints them', async ({
  path: helm,
  major,
}) => {
  const {namespace, kubeconfig} = await workplace();
  const source = await directoryOf({chart: 'agent-local', version: '0.6.5'}, scratch);
  const run = (...args: readonly string[]) =>
    execa(helm, [...args, '--namespace', namespace, '--kubeconfig', kubeconfig], {reject: false});
  const set = (url: string) => ['--set', `agent.url=${url},agent.tokenExistingSecret.name=pool`];
  for (const name of ['agent', 'uninstalled', 'failed'])
    expect((await run('install', name, source, ...set('https://a.scalr.io'))).stderr).toBe('');
  for (const url of ['https://b.scalr.io', 'https://c.scalr.io'])
    await run('upgrade', 'agent', source, ...set(url));
  await run('uninstall', 'uninstalled', '--keep-history');
  // A port that is no number is refused by the API server only.
  await run('upgrade', 'failed', source, ...set('https://b.scalr.io'), '--set', 'replicaCount=-1');
  const kubeTarget = {namespace, kubeconfig};
  const client = kubernetesClient(kubeTarget, {kubectl});
  onTestFinished(() => client.close());
  const secrets = new StoredReleases(client);
  const printed = new HelmReleases(nodeProcesses({helm, kubectl}));

  const listed = await secrets.list(kubeTarget, {...options, everywhere: false});
  expect(listed.items.map(({name}) => name)).toEqual(['agent', 'failed']);
  const lines = ({items}: typeof listed) =>
    items.map(({name, namespace, status, chart, values}) => ({
      name,
      namespace,
      status,
      chart,
      values,
    }));
  expect(lines(listed)).toEqual(
    lines(await printed.list(kubeTarget, {...options, everywhere: false})),
  );
  for (const release of ['agent', 'failed', 'uninstalled', 'missing']) {
    const name = {release, kubeTarget};
    const history = await secrets.history(name, options);
    const lineOf = ({revision, updated, status, chart, app_version, description}: Revision) => ({
      revision,
      updated: Date.parse(updated),
      status,
      chart,
      app_version,
      description,
    });
    expect(history.items.map(lineOf)).toEqual(
      (await printed.history(name, options)).items.map(lineOf),
    );
    for (const which of ['newest', 'deployed'] as const) {
      const [stored, shown] = await Promise.all([
        secrets[which](name, options),
        printed[which](name, options),
      ]);
      expect(factsOf(stored.object), `${which} of ${release}`).toEqual(factsOf(shown.object));
      expect(stored.object?.operator?.toLowerCase()).toBe(stored.object && 'helm');
    }
  }
  expect((await secrets.newest({release: 'agent', kubeTarget}, options)).object).toMatchObject({
    revision: 3,
    isServerSide: major === 4,
  });
});

/** helm ends its output with a newline of its own, and prints the defaults together with the values. */
const factsOf = (record: ReleaseRecord | undefined) =>
  record && {
    revision: record.revision,
    status: record.status,
    values: record.values,
    isServerSide: record.isServerSide,
    manifest: record.manifest.trim(),
    all: mergeValues(record.defaults, record.values),
  };

test('an account that may only list Secrets can read releases, as with helm', async () => {
  const place = await workplace();
  const {namespace, kubeconfig} = place;
  const source = await directoryOf({chart: 'agent-local', version: '0.6.5'}, scratch);
  const [{path: helm} = {path: 'helm'}] = await findHelm();
  const set = ['--set', 'agent.url=https://a.scalr.io,agent.tokenExistingSecret.name=pool'];
  await execa(helm, [
    'install',
    'agent',
    source,
    ...set,
    '--namespace',
    namespace,
    '--kubeconfig',
    kubeconfig,
  ]);
  const lister = await account(place, [{group: '', resource: 'secrets', verb: 'list'}]);
  const client = kubernetesClient({namespace, kubeconfig: lister.kubeconfig}, {kubectl});
  onTestFinished(() => client.close());
  const releases = new StoredReleases(client);
  expect(
    (await releases.newest({release: 'agent', kubeTarget: {namespace}}, options)).object,
  ).toMatchObject({chart: 'agent-local-0.6.5'});
  expect(
    (await releases.list({namespace}, {...options, everywhere: false})).items.map(({name}) => name),
  ).toEqual(['agent']);
});
