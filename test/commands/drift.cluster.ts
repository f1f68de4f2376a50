import {mkdtempSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {objectsIn} from '../../src/cluster/helm/release-record.ts';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import type {ObjectFinding} from '../../src/ground/finding.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {mirroringWebhook} from '../control-plane/mutating-webhook.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {collected} from '../support/collected.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {violations} from '../support/output-schema.ts';
import {install, preflight, status} from '../support/run-on-cluster.ts';

/** With every kind of object that the chart has for one release; a metadata service that is blocked needs a NetworkPolicy. */
const FLAGS: Readonly<Record<ChartName, readonly string[]>> = {
  'agent-local': [
    '--cache',
    'pvc',
    '--metadata-service',
    'block',
    '--ca-file',
    'test/cluster/helm/fixtures/ca.pem',
    '--no-ca-public-roots',
  ],
  'agent-k8s': ['--metadata-service', 'block'],
  'agent-job': [
    '--cache',
    'pvc',
    '--metadata-service',
    'block',
    '--ca-file',
    'test/cluster/helm/fixtures/ca.pem',
    '--no-ca-public-roots',
  ],
};
/** What somebody may change by hand, by kind. Nothing of a PersistentVolumeClaim can be, but its size. */
const CHANGES: Readonly<Record<string, object>> = {
  AgentTaskTemplate: {
    spec: {
      jobTemplate: {
        spec: {template: {metadata: {labels: {'app.kubernetes.io/component': 'changed'}}}},
      },
    },
  },
  ClusterRole: {rules: []},
  ClusterRoleBinding: {subjects: []},
  DaemonSet: {spec: {template: {spec: {terminationGracePeriodSeconds: 7}}}},
  Deployment: {spec: {template: {spec: {terminationGracePeriodSeconds: 7}}}},
  NetworkPolicy: {spec: {egress: []}},
  PodDisruptionBudget: {spec: {maxUnavailable: 7}},
  Role: {rules: []},
  RoleBinding: {subjects: []},
  Secret: {data: {'ca-bundle.crt': 'Y2hhbmdlZA=='}},
  ServiceAccount: {metadata: {annotations: {team: 'changed'}}},
};

const statusOf = async (place: Workplace, helm: string) => {
  const {stdout, exit} = await status(place, helm, ['--exit-code', '--json']);
  return {exit, objects: JSON.parse(stdout).objects};
};
const AS_INSTALLED = {exit: 0, objects: {differs: false, verified: true, differences: []}};

const READ = [
  'pods',
  'pods/log',
  'secrets',
  'deployments',
  'daemonsets',
  'replicasets',
  'jobs',
  'persistentvolumeclaims',
  'events',
  'serviceaccounts',
];

/** The objects that each of the commands finds, as `missing Deployment scalr-agent`. */
const foundBy = async (place: Workplace, helm: string, argv: readonly string[]) => {
  const {objects, exit} = await statusOf(place, helm);
  const diff = await install(place, helm, [...argv, '--diff', '--exit-code'], {env: TOKEN});
  const {result} = await collected(place, helm);
  return {
    status: objects.differences
      .map(({object, problem}: Record<string, string>) => `${problem} ${object}`)
      .toSorted(),
    diff: diffed(diff.stdout),
    bundle: result.findings
      .filter(({code}: ObjectFinding) => code === 'CHANGED_IN_CLUSTER')
      .map(
        ({subject, message}: ObjectFinding) =>
          `${/^(missing|changed)\b/.exec(message)?.[1]} ${subject.object}`,
      )
      .toSorted(),
    exits: [exit, diff.exit],
    text: diff.stdout,
  };
};

/** An object that comes back as a whole was missing. */
const diffed = (text: string): string[] =>
  text
    .split(/^--- /m)
    .slice(1)
    .map(
      (part) =>
        `${/^[ -]/m.test(part.slice(part.indexOf('@@'))) ? 'changed' : 'missing'} ${part.split('\n')[0]}`,
    )
    .toSorted();

const all = (problem: 'missing' | 'changed', objects: readonly KubernetesObject[]) => {
  const names = objects.map(({kind, metadata}) => `${kind} ${metadata.name}`).toSorted();
  return {
    status: names.map((name) => `${problem} ${name}`),
    diff: names.map((name) => `${problem} ${name}`),
    bundle: names
      .map(
        (name) =>
          `${problem} ${name.replace(/^\w+/, (kind) => kind.toLowerCase()).replace(' ', '/')}`,
      )
      .toSorted(),
    // Without its workloads a release is not ready, which counts for more.
    exits: [problem === 'missing' ? 1 : 5, 5],
  };
};

const helms = await findHelm();
const charts = Object.keys(FLAGS) as ChartName[];
/** The majors restore in different ways, but the same objects: agent-job, which has a custom resource, is restored with both. */
const chartsOf = (major: number): ChartName[] =>
  major === helms[0]?.major || process.env['TEST_FULL']
    ? charts
    : charts.filter((chart) => chart === 'agent-job');

describe.each(helms)('with Helm $major', ({path: helm, major}) => {
  test.each(
    chartsOf(major),
  )('reports and restores every changed or deleted object of %s', async (chart) => {
    const place = await installPlace();
    const {kubectl, kubeconfig, namespace} = place;
    const ownDirectory = chart === 'agent-k8s' ? ['--data-home', `/var/lib/${namespace}`] : [];
    const argv = [
      ...(await chartFlags(chart)),
      ...FLAGS[chart],
      '--service-account-annotation',
      'team=own',
      ...ownDirectory,
    ];
    const restore = async (): Promise<void> => {
      const restored = await install(place, helm, [...argv, '--yes', '--json'], {env: TOKEN});
      expect(restored.exit, restored.stdout + restored.stderr).toBe(0);
      expect(JSON.parse(restored.stdout).changed).toBe(true);
      expect(await statusOf(place, helm)).toEqual(AS_INSTALLED);
    };
    await restore();
    const {stdout} = await execa(helm, [
      'get',
      'manifest',
      'scalr-agent',
      '--namespace',
      namespace,
      '--kubeconfig',
      kubeconfig,
    ]);
    const objects = objectsIn(stdout);

    const changeable = objects.filter(({kind = ''}) => kind !== 'PersistentVolumeClaim');
    for (const {kind = '', metadata} of changeable)
      await kubectl(
        'patch',
        kind,
        metadata.name,
        '--type=merge',
        `--patch=${JSON.stringify(CHANGES[kind])}`,
      );
    for (const {kind = '', metadata} of objects.filter(
      ({kind}) => kind === 'Deployment' || kind === 'DaemonSet',
    ))
      await kubectl('rollout', 'status', `${kind}/${metadata.name}`);
    const changed = await foundBy(place, helm, argv);
    expect(changed).toMatchObject(all('changed', changeable));
    expect(changed.text).toMatch(/^-\s+terminationGracePeriodSeconds: 7$/m);
    expect(changed.text).toMatch(/^\+\s+terminationGracePeriodSeconds: (?!7)/m);
    expect(changed.text).toMatch(/^-\s+team: "changed"\n\+\s+team: "own"$/m);
    expect(changed.text).not.toContain('Y2hhbmdlZA==');
    await restore();

    await kubectl(
      'delete',
      '--wait=false',
      ...objects.map(({kind, metadata}) => `${kind}/${metadata.name}`),
    );
    // Claims go after the pods that use them.
    await expect.poll(() => kubectl('get', 'persistentvolumeclaims', '--output', 'name')).toBe('');
    expect(await foundBy(place, helm, argv)).toMatchObject(all('missing', objects));
    await restore();
  });

  test('reports another image and an added field, and restores the image', async () => {
    const place = await installPlace();
    const {kubectl} = place;
    const argv = [...(await chartFlags('agent-local')), '--yes', '--json'];
    expect((await install(place, helm, argv, {env: TOKEN})).exit).toBe(0);
    const deployment = 'deployment/scalr-agent-agent-local';
    await kubectl('set', 'image', deployment, '*=scalr/agent:0.0.1');
    await kubectl(
      'patch',
      deployment,
      '--patch={"spec":{"template":{"spec":{"hostNetwork":true}}}}',
    );
    await kubectl('rollout', 'status', deployment);
    const {exit, stdout} = await status(place, helm, ['--exit-code']);
    expect(exit).toBe(5);
    expect(stdout).toContain('is ready, but 1 object differs from the installed manifest');
    const text = stdout.replaceAll(/\s+/g, ' ');
    expect(text).toContain(
      '! CHANGED_IN_CLUSTER deployment/scalr-agent-agent-local: changed since the install: spec.template.spec.containers[agent-local].image',
    );
    expect(text).toContain(
      'has added fields, which install does not remove: spec.template.spec.hostNetwork',
    );
    expect(stdout).toMatch(/Images +scalr\/agent:0\.0\.1/);
    await kubectl('set', 'env', deployment, 'SCALR_URL=https://another.scalr.io');
    const diff = await install(
      place,
      helm,
      [...(await chartFlags('agent-local')), '--diff', '--exit-code'],
      {env: TOKEN},
    );
    expect(diff.exit).toBe(5);
    expect(diff.stdout).toMatch(
      /^-\s+- image: "scalr\/agent:0\.0\.1"$|^-\s+image: "scalr\/agent:0\.0\.1"$/m,
    );
    expect(diff.stdout).toMatch(/^\+\s+value: "\[hidden\], changed"$/m);
    const json = await install(place, helm, [...argv, '--diff'], {env: TOKEN});
    expect(violations('install', json.stdout)).toEqual([]);
    expect(JSON.parse(json.stdout).differences).toMatchObject({
      values: [],
      objects: [{object: 'Deployment scalr-agent-agent-local', before: {}, after: {}}],
    });
    // On call, without the settings.
    const cluster = ['--kubeconfig', place.kubeconfig, '--namespace', place.namespace];
    const values = await execa(helm, ['get', 'values', 'scalr-agent', ...cluster, '-o', 'yaml']);
    const file = join(mkdtempSync(join(tmpdir(), 'scalr-agent-')), 'current.yaml');
    writeFileSync(file, values.stdout);
    const current = ['--values-file', file, ...(await chartFlags('agent-local'))];
    const restored = await install(place, helm, [...current, '--yes', '--json']);
    expect(restored.exit, restored.stdout + restored.stderr).toBe(0);
    expect(
      await kubectl(
        'get',
        deployment,
        '--output=jsonpath={.spec.template.spec.containers[0].image}',
      ),
    ).not.toBe('scalr/agent:0.0.1');
  });

  test('names the field manager that took over fields, and does not take them back', async () => {
    const place = await installPlace();
    const {kubectl, namespace} = place;
    const argv = await chartFlags('agent-local');
    const accepted = [...argv, '--yes', '--json'];
    expect((await install(place, helm, accepted, {env: TOKEN})).exit).toBe(0);
    const name = 'scalr-agent-agent-local';
    const theirs = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {name, namespace},
      spec: {template: {spec: {containers: [{name: 'agent-local', image: 'scalr/agent:0.0.1'}]}}},
    };
    await execa(
      await findKubectl(),
      [
        'apply',
        '--kubeconfig',
        place.kubeconfig,
        '--server-side',
        '--force-conflicts',
        '--field-manager=jane',
        '--filename=-',
      ],
      {input: JSON.stringify(theirs)},
    );
    await kubectl('rollout', 'status', `deployment/${name}`);
    const paths = ['spec.template.spec.containers[agent-local].image'];
    const differences = [
      {object: `Deployment ${name}`, problem: 'overridden', paths, manager: 'jane'},
    ];
    expect(await statusOf(place, helm)).toEqual({
      exit: 0,
      objects: {differs: false, verified: true, differences},
    });
    const {stdout} = await preflight(place, helm, [...argv, '--json'], {env: TOKEN});
    const found = JSON.parse(stdout).checks.find(({id}: {id: string}) => id === 'object-names');
    expect(found).toMatchObject({
      status: 'pass',
      message: expect.stringMatching(/^\d+ objects? of this release$/),
    });
    expect(JSON.parse((await install(place, helm, accepted, {env: TOKEN})).stdout).changed).toBe(
      false,
    );
    const changed = await install(place, helm, [...accepted, '--grace-period', '99'], {env: TOKEN});
    const image = await kubectl(
      'get',
      `deployment/${name}`,
      '--output=jsonpath={.spec.template.spec.containers[0].image}',
    );
    if (changed.exit === 0) {
      // Helm 3 has no field managers.
      expect(changed.stderr).toContain(
        'Helm changes fields of Deployment scalr-agent-agent-local that jane sets',
      );
      return;
    }
    expect(JSON.parse(changed.stdout).error).toMatchObject({
      code: 'OBJECT_NOT_OWNED',
      message: `jane sets ${paths} of Deployment ${name}, and Helm does not change fields that another program manages.`,
    });
    expect(image).toBe('scalr/agent:0.0.1');
  });

  test('names the webhook that changes objects while they are admitted, instead of restoring them for ever', async () => {
    const place = await installPlace();
    const webhook = await mirroringWebhook(place, 'mirror.example.com');
    const argv = [...(await chartFlags('agent-local')), '--yes', '--json'];
    expect((await install(place, helm, argv, {env: TOKEN})).exit).toBe(0);
    const again = await install(place, helm, argv, {env: TOKEN});
    expect({exit: again.exit, changed: JSON.parse(again.stdout).changed}).toEqual({
      exit: 0,
      changed: false,
    });
    const {exit, objects} = await statusOf(place, helm);
    expect({exit, objects}).toMatchObject({exit: 0, objects: {differs: false, verified: true}});
    expect(objects.differences).toMatchObject([{problem: 'overridden', webhooks: [webhook]}]);
    const {stdout} = await status(place, helm, []);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      `fields that admission webhook ${webhook} sets, and that install does not revert`,
    );
    const diff = await install(place, helm, [...argv.slice(0, -2), '--diff', '--exit-code'], {
      env: TOKEN,
    });
    expect(diff.exit, diff.stdout).toBe(0);
    // The cluster shows only what differs to an account that may not try the manifest.
    const viewer = await accountWith(
      [{apiGroups: ['*'], resources: READ, verbs: ['get', 'list']}],
      place,
    );
    const seen = await statusOf({...place, kubeconfig: viewer}, helm);
    expect(seen).toMatchObject({
      exit: 5,
      objects: {differs: true, verified: false, differences: [{problem: 'changed'}]},
    });
  });
});
