import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, expect, test} from 'vitest';
import {directoryOf, REAL} from '../cluster/helm/charts-under-test.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {issueCertificates} from '../control-plane/certificates.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {commandsIn} from '../support/commands-in.ts';
import {installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {boundClaims, installedByHelm} from '../support/installed-by-helm.ts';
import {debug, install, uninstall, upgrade} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));

const [{path: helm} = {path: 'helm'}] = await findHelmMatrix();
const LOCAL = {chart: 'agent-local', version: '0.6.5'} as const;
const CACHE = 'persistence.cache.enabled=true';

const tokenIn = async ({kubectl}: Workplace, secret: string): Promise<string> => {
  const data = await kubectl('get', 'secret', secret, '--output', 'jsonpath={.data.token}');
  return Buffer.from(data, 'base64').toString();
};
const errorIn = ({
  stdout,
}: {
  stdout: string;
}): {code: string; message: string; suggestions: string[]} => JSON.parse(stdout).error;

/** A release of plain helm, with its token in the values. */
const byHelm = async (release: string) =>
  installedByHelm(
    helm,
    release,
    {chart: 'agent-local', version: '0.5.74'},
    await directoryOf({chart: 'agent-local', version: '0.5.74'}, scratch),
    ['agent.token=token-of-b'],
  );

test('an upgrade leaves Secrets of other releases and of persons unchanged', async () => {
  const place = await byHelm('b');
  const first = await install(
    place,
    helm,
    [...(await stepFlags('agent-local')), '--release', 'scalr-agent', '--yes'],
    {env: TOKEN},
  );
  expect(first.exit, first.stderr).toBe(0);
  await place.kubectl('create', 'secret', 'generic', 'b-token', '--from-literal=token=of-a-person');
  const argv = [
    '--release',
    'b',
    '--chart-source',
    await directoryOf(LOCAL, scratch),
    '--yes',
    '--json',
  ];
  expect(errorIn(await upgrade(place, helm, argv))).toMatchObject({
    code: 'OBJECT_NOT_OWNED',
    message: expect.stringMatching(
      /^Secret b-token in \S+ already exists with other content, and was not created by scalr-agent\./,
    ),
    suggestions: expect.arrayContaining(['Use another Secret: --token-secret b-token-2']),
  });
  expect(
    errorIn(await upgrade(place, helm, [...argv, '--token-secret', 'scalr-agent-token'])).message,
  ).toContain('belongs to release scalr-agent');
  const done = await upgrade(place, helm, [...argv, '--token-secret', 'b-pool']);
  expect(done.exit, done.stdout + done.stderr).toBe(0);
  expect(JSON.parse(done.stdout).steps[0].title).toBe('Create Secret b-pool');
  expect(await tokenIn(place, 'b-token')).toBe('of-a-person');
  expect(await tokenIn(place, 'scalr-agent-token')).toBe('hunter2');
  expect(await tokenIn(place, 'b-pool')).toBe('token-of-b');
  // The next install keeps the Secret, without a flag.
  const again = await install(place, helm, [
    ...(await stepFlags('agent-local')),
    '--from-cluster',
    '--release',
    'b',
    '--yes',
    '--json',
  ]);
  expect(JSON.parse(again.stdout), again.stderr).toMatchObject({changed: expect.any(Boolean)});
  expect(
    await place.kubectl(
      'get',
      'deployment',
      'b-agent-local',
      '--output',
      'jsonpath={..secretKeyRef.name}',
    ),
  ).toBe('b-pool');
});

test('an install of a second release gets a Secret of its own, and does not replace one that others read', async () => {
  const place = await installPlace();
  const flags = [...(await stepFlags('agent-local')), '--yes', '--json'];
  expect((await install(place, helm, flags, {env: TOKEN})).exit).toBe(0);
  expect(
    (await install(place, helm, [...flags, '--release', 'b'], {env: {SCALR_AGENT_TOKEN: 'other'}}))
      .exit,
  ).toBe(0);
  expect([await tokenIn(place, 'scalr-agent-token'), await tokenIn(place, 'b-token')]).toEqual([
    'hunter2',
    'other',
  ]);
  const shared = [...flags, '--release', 'c', '--token-secret', 'b-token'];
  expect(errorIn(await install(place, helm, shared, {env: TOKEN})).message).toContain(
    'belongs to release b',
  );
  expect((await install(place, helm, shared)).exit).toBe(0);
  const rotated = await install(place, helm, [...flags, '--release', 'b'], {env: TOKEN});
  expect(errorIn(rotated).message).toContain('is also used by Deployment c-agent-local');
  expect(await tokenIn(place, 'b-token')).toBe('other');
});

test('a PVC that the release of the new chart mounts is neither deleted nor offered for deletion', async () => {
  const old = {chart: 'agent-local', version: '0.5.74'} as const;
  const place = await installedByHelm(helm, 'scalr-agent', old, await directoryOf(old, scratch), [
    CACHE,
  ]);
  const before = await boundClaims(place);
  const [claim = ''] = Object.keys(before);
  const renamed = {chart: 'agent-local', version: '0.5.75'} as const;
  const same = await upgrade(place, helm, [
    '--chart-source',
    await directoryOf(renamed, scratch),
    '--yes',
    '--json',
  ]);
  expect(JSON.parse(same.stdout), same.stderr).toMatchObject({keptPersistentVolumeClaims: [claim]});
  expect(same.stderr.replaceAll(/\s+/g, ' ')).toContain(
    `The release uses PVC ${claim} from now on. For the next install, add --cache-claim ${claim} (in an answers file, cache-claim: ${claim}); without it, a new PVC is created.`,
  );
  const job = {chart: 'agent-job', version: '0.6.5'} as const;
  const changed = await upgrade(place, helm, [
    '--chart',
    'agent-job',
    '--chart-source',
    await directoryOf(job, scratch),
    // The claim of agent-local can be mounted on one node only, which preflight refuses for agent-job.
    '--skip-preflight',
    '--yes',
  ]);
  expect(changed.exit, changed.stderr).toBe(0);
  const claims = await place.kubectl(
    'get',
    'agenttasktemplates',
    '--output',
    'jsonpath={..persistentVolumeClaim.claimName}',
  );
  expect(claims).toContain(claim);
  expect(changed.stderr).not.toContain('--purge=claims');
  for (const argv of [['--dry-run'], ['--confirm', 'scalr-agent', '--yes']]) {
    const {stdout} = await uninstall(place, helm, ['--purge=claims', '--json', ...argv]);
    expect(JSON.parse(stdout)).toMatchObject({
      steps: [],
      kept: expect.arrayContaining([
        expect.objectContaining({
          what: expect.stringContaining(claim),
          how: 'Keep it while it is used',
        }),
      ]),
    });
  }
  expect(await boundClaims(place)).toEqual(before);
});

test('an uninstall stops before Helm would delete a PVC that a pod of others mounts', async () => {
  const place = await installPlace();
  const flags = await stepFlags('agent-local');
  expect(
    (await install(place, helm, [...flags, '--cache', 'pvc', '--yes'], {env: TOKEN})).exit,
  ).toBe(0);
  const before = await boundClaims(place);
  const [claimName] = Object.keys(before);
  const volumes = [{name: 'cache', persistentVolumeClaim: {claimName}}];
  await place.kubectl.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'reader'},
    spec: {containers: [{name: 'a', image: 'a'}], volumes},
  });
  expect(errorIn(await uninstall(place, helm, ['--yes', '--json']))).toMatchObject({
    code: 'OBJECT_NOT_OWNED',
    message: `Helm would delete PVC ${claimName} of release scalr-agent, which Pod reader also mounts.`,
  });
  expect(
    await place.kubectl('get', 'deployments', '--output', 'jsonpath={.items[*].spec.replicas}'),
  ).toBe('1');
  await place.kubectl('delete', 'pod', 'reader', '--now');
  expect((await uninstall(place, helm, ['--yes'])).exit).toBe(0);
});

test('every command reviews the permissions of all steps before the first one', async () => {
  const place = await installPlace();
  const flags = await stepFlags('agent-job');
  expect((await install(place, helm, [...flags, '--yes'], {env: TOKEN})).exit).toBe(0);
  const all = {resources: ['*', 'pods'], verbs: ['*']};
  // All but the custom resource, which belongs to the release too.
  const rules = [
    '',
    'apps',
    'batch',
    'networking.k8s.io',
    'rbac.authorization.k8s.io',
    'policy',
  ].map((group) => ({
    ...all,
    apiGroups: [group],
  }));
  const readsOnly = {apiGroups: ['scalr.io'], resources: ['*'], verbs: ['get', 'list', 'watch']};
  const limited = {...place, kubeconfig: await accountWith([...rules, readsOnly], place)};
  const uids = () =>
    place.kubectl(
      'get',
      'deployments,agenttasktemplates',
      '--output',
      'jsonpath={.items[*].metadata.uid} {.items[*].spec.replicas}',
    );
  const before = await uids();
  const refused = await uninstall(limited, helm, ['--yes', '--json']);
  expect(errorIn(refused)).toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringMatching(
      /Nothing was changed\.\n× Uninstall release scalr-agent .*: delete .*agenttasktemplates\.scalr\.io/,
    ),
  });
  expect(errorIn(await uninstall(limited, helm, ['--dry-run', '--json'])).code).toBe('FORBIDDEN');
  expect(
    errorIn(
      await debug(limited, helm, ['on', '--chart-source', flags[3] as string, '--yes', '--json']),
    ).code,
  ).toBe('FORBIDDEN');
  expect(
    errorIn(await install(limited, helm, [...flags, '--extra-env', 'A=b', '--yes', '--json'])).code,
  ).toBe('FORBIDDEN');
  expect(await uids()).toBe(before);
  const complete = {...place, kubeconfig: await accountWith('admin', place)};
  await place.kubectl(
    'create',
    'clusterrolebinding',
    place.namespace,
    '--clusterrole=cluster-admin',
    `--user=${place.namespace}-admin`,
  );
  const done = await uninstall(complete, helm, ['--yes', '--json']);
  expect(JSON.parse(done.stdout), done.stderr).toMatchObject({complete: true});
  await place.kubectl('delete', 'clusterrolebinding', place.namespace);
}, 120_000);

test.runIf(REAL)(
  'a release that is too old keeps its values and its PVC on the way that the error prints',
  async () => {
    const old = {chart: 'agent-local', version: '0.5.55'} as const;
    const values = [
      'agent.token=hunter2',
      'persistence.enabled=true',
      'replicaCount=2',

      'extraEnv.HTTP_PROXY=http://proxy.corp:3128',
      'persistence.persistentVolumeClaim.accessMode=ReadWriteMany',
    ];
    const place = await installedByHelm(
      helm,
      'scalr-agent',
      old,
      await directoryOf(old, scratch),
      values,
    );
    const before = await boundClaims(place);
    const argv = ['--chart-source', await directoryOf(LOCAL, scratch), '--yes', '--json'];
    const {code, message, suggestions} = errorIn(await upgrade(place, helm, argv));
    expect({code, message}).toEqual({
      code: 'VERSION_TOO_OLD',
      message:
        'Release scalr-agent uses agent-local 0.5.55. This command requires 0.5.63 or newer.',
    });
    const command = (suggestions[0] as string).replace(/^.*?: helm /, '');
    const source = await directoryOf({chart: 'agent-local', version: '0.5.63'}, scratch);
    // The repository cannot be reached from every machine.
    const args = command
      .replace(/ agent-local --repo \S+ --version 0\.5\.63/, ` ${source}`)
      .split(' ');
    const {exitCode, stderr} = await execa(helm, args, {reject: false});
    expect(exitCode, stderr).toBe(0);
    const done = await upgrade(place, helm, argv);
    expect(done.exit, done.stdout + done.stderr).toBe(0);
    expect(await boundClaims(place)).toEqual(before);
    const deployed = await place.kubectl(
      'get',
      'deployment',
      'scalr-agent-agent-local',
      '--output',
      'yaml',
    );
    for (const each of [
      'replicas: 2',
      'http://proxy.corp:3128',
      `claimName: ${Object.keys(before)[0]}`,
    ])
      expect(deployed).toContain(each);
    expect(await tokenIn(place, 'scalr-agent-token')).toBe('hunter2');
  },
);

test('a release that was uninstalled with its history is installed again, and what it left can be purged', async () => {
  const place = await installPlace();
  const flags = [...(await stepFlags('agent-local')), '--yes', '--json'];
  expect((await install(place, helm, flags, {env: TOKEN})).exit).toBe(0);
  const {namespace, kubeconfig} = place;
  await execa(helm, [
    'uninstall',
    'scalr-agent',
    '--keep-history',
    '--wait',
    '--namespace',
    namespace,
    '--kubeconfig',
    kubeconfig,
  ]);
  const again = JSON.parse((await install(place, helm, [...flags, '--dry-run'])).stdout);
  expect(again.steps.map(({title}: {title: string}) => title)).toEqual([
    'Install agent-local-0.6.5 as release scalr-agent',
  ]);
  const purged = await uninstall(place, helm, [
    '--purge=secrets',
    '--confirm',
    'scalr-agent',
    '--json',
  ]);
  expect(JSON.parse(purged.stdout), purged.stderr).toMatchObject({
    removed: ['Secret scalr-agent-token'],
    complete: true,
  });
});

test('a removed client certificate is named with the Secret that remains, and the command that deletes it', async () => {
  const place = await installPlace();
  const client = (await issueCertificates(mkdtempSync(join(scratch, 'tls-')))).admin;
  const flags = await stepFlags('agent-job');
  const certificate = ['--client-cert-file', client.cert, '--client-key-file', client.key];
  const given = await install(place, helm, [...flags, ...certificate, '--yes'], {env: TOKEN});
  expect(given.exit, given.stderr).toBe(0);
  const removed = await install(place, helm, [...flags, '--yes', '--json'], {env: TOKEN});
  expect(removed.exit, removed.stderr).toBe(0);
  const {warnings} = JSON.parse(removed.stdout) as {warnings: {code: string; message: string}[]};
  const [unused] = warnings.filter(({code}) => code === 'UNUSED_SECRET');
  expect(unused?.message).toMatch(
    /^Release scalr-agent no longer uses Secret scalr-agent-client-cert, which remains/,
  );
  const [command] = commandsIn(unused?.message ?? '');
  await place.kubectl(...(command?.args ?? []));
  expect(await place.kubectl('get', 'secrets', '--output', 'name')).not.toContain('client-cert');
});
