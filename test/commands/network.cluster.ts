import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, onTestFinished, test} from 'vitest';
import {parse} from 'yaml';
import Network from '../../src/commands/network.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {runCommand} from '../support/run-command.ts';

/** Settings whose policies have every kind of rule. */
const CASES = {
  'agent-local': ['--chart', 'agent-local', '--url', 'https://acme.scalr.io'],
  'agent-job on GKE': [
    '--chart',
    'agent-job',
    '--cloud',
    'gke',
    '--workload-identity',
    'gke',
    '--metadata-service',
    'allow',
  ],
  'agent-k8s with a proxy': [
    '--chart',
    'agent-k8s',
    '--cloud',
    'eks',
    '--pod-label',
    'team=a',
    '--https-proxy',
    'http://10.1.2.3:3128',
  ],
  'a VCS agent on OpenShift': [
    '--chart',
    'agent-local',
    '--cloud',
    'openshift',
    '--purpose',
    'vcs',
    '--probe-url',
    'https://gitlab.example.com:8443',
  ],
};
const OTEL = ['--otel-endpoint', 'otel-collector.observability.svc:4317'];

/** The policy in a file, for the namespace of the test. */
async function policyFile(
  argv: readonly string[],
  format: string,
  {namespace}: Workplace,
  edit = (text: string) => text,
): Promise<string> {
  const {stdout, stderr, exit} = await runCommand(Network, [
    ...argv,
    ...OTEL,
    '--namespace',
    namespace,
    '--format',
    format,
  ]);
  expect(exit, stderr).toBe(0);
  const folder = await mkdtemp(join(tmpdir(), 'policy-'));
  onTestFinished(() => rm(folder, {recursive: true, force: true}));
  const path = join(folder, 'policy.yaml');
  await writeFile(path, edit(stdout));
  return path;
}

describe.each(Object.entries(CASES))('%s', (_, argv) => {
  test('has a NetworkPolicy that the API server accepts', async () => {
    const place = await workplace();
    const file = await policyFile(argv, 'network-policy', place);
    const created = await place.kubectl(
      'create',
      '--validate=strict',
      '--filename',
      file,
      '--output',
      'name',
    );
    expect(created).toContain('networkpolicy.networking.k8s.io/scalr-agent-egress');
  });
});

const CILIUM = 'github.com/cilium/cilium@v1.18.4';
const CRD = 'pkg/k8s/apis/cilium.io/client/crds/v2/ciliumnetworkpolicies.yaml';
/** With its own group, the CRD would make the shared cluster look like one with Cilium. */
const GROUP = 'cilium.io';
const RENAMED = 'cilium.test.scalr.io';

interface Definition {
  metadata: {name: string};
  spec: {group: string; names: {plural: string; shortNames?: string[]; categories?: string[]}};
}

/** Serves the CRD of Cilium, from its Go module, under another group. */
async function serveCilium({kubectl}: Workplace): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'cilium-'));
  onTestFinished(() => rm(folder, {recursive: true, force: true}));
  const {stdout} = await execa('go', ['mod', 'download', '-json', CILIUM], {cwd: folder});
  const definition = parse(await readFile(join(JSON.parse(stdout).Dir, CRD), 'utf8')) as Definition;
  const {names} = definition.spec;
  const renamed = {
    ...definition,
    metadata: {name: `${names.plural}.${RENAMED}`},
    spec: {...definition.spec, group: RENAMED, names: {...names, shortNames: [], categories: []}},
  };
  const crd = `customresourcedefinitions/${renamed.metadata.name}`;
  onTestFinished(async () => void (await kubectl('delete', crd, '--ignore-not-found')));
  await kubectl.apply(renamed);
  // kubectl wait fails while there are no conditions yet.
  await expect
    .poll(
      () =>
        kubectl(
          'get',
          crd,
          '--output',
          'jsonpath={.status.conditions[?(@.type=="Established")].status}',
        ),
      {timeout: 60_000},
    )
    .toBe('True');
}

test('every CiliumNetworkPolicy matches the schema of Cilium, and a wrong one does not', async ({
  skip,
}) => {
  const {exitCode} = await execa('go', ['version'], {reject: false});
  if (exitCode !== 0) skip('go is not installed: its module cache has the CRD of Cilium');
  const place = await workplace();
  await serveCilium(place);
  const rename = (text: string): string =>
    text.replaceAll(`apiVersion: "${GROUP}/`, `apiVersion: "${RENAMED}/`);
  const create = async (file: string): Promise<string> =>
    place.kubectl(
      'create',
      '--validate=strict',
      '--dry-run=server',
      '--filename',
      file,
      '--output',
      'name',
    );
  for (const argv of Object.values(CASES)) {
    const names = await create(await policyFile(argv, 'cilium', place, rename));
    expect(names).toContain(`ciliumnetworkpolicy.${RENAMED}/scalr-agent-egress`);
  }
  const wrong = await policyFile(CASES['agent-local'], 'cilium', place, (text) =>
    rename(text).replaceAll('matchName', 'host'),
  );
  await expect(create(wrong)).rejects.toThrow(/unknown field/);
});
