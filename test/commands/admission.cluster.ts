import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, expect, test} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import type {CheckDocument} from '../../src/checks/preflight/checks/check.ts';
import {warningOf} from '../../src/ground/finding.ts';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {enforce, type Policy} from '../control-plane/admission-policy.ts';
import {injectingWebhook} from '../control-plane/mutating-webhook.ts';
import {webhookWithSideEffects} from '../control-plane/validating-webhook.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {chartFlags, installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {installedByHelm} from '../support/installed-by-helm.ts';
import {violations} from '../support/output-schema.ts';
import {debug, install, preflight, rotateToken, upgrade} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));

const source = (chart: ChartName, version: string): Promise<string> =>
  directoryOf({chart, version}, scratch);

const [{path: helm} = {path: 'helm'}] = await findHelmMatrix();
const local = await stepFlags('agent-local');
const agent = await chartFlags('agent-local');
const MESSAGE = 'images must come from registry.corp.example';

const podsFrom = (registry: string): Policy => ({
  rules: [{group: '', resource: 'pods', operations: ['CREATE']}],
  expression: `object.spec.containers.all(c, c.image.startsWith('${registry}'))`,
  message: MESSAGE,
});

const deploymentsFrom = (registry: string): Policy => ({
  rules: [{group: 'apps', resource: 'deployments', operations: ['CREATE', 'UPDATE']}],
  expression: `object.spec.template.spec.containers.all(c, c.image.startsWith('${registry}'))`,
  message: MESSAGE,
});

/** Everything that the tested commands may change in the namespace. */
const state = ({kubectl}: Workplace): Promise<string> =>
  kubectl(
    'get',
    'deployments,secrets,serviceaccounts,configmaps',
    '--output',
    'jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid} {.metadata.generation}{"\\n"}{end}',
  );

interface Refused {
  exit: number;
  stdout: string;
  stderr: string;
}

/** The command names the object and the policy, and has changed nothing; its dry run says the same. */
async function expectRefusal(
  place: Workplace,
  what: string,
  run: (...more: string[]) => Promise<Refused>,
): Promise<void> {
  const before = await state(place);
  for (const flag of ['--dry-run', '--yes']) {
    const {exit, stdout, stderr} = await run(flag, '--json');
    expect(exit, stdout + stderr).toBe(1);
    const {error} = JSON.parse(stdout);
    expect(error.code).toBe('TOOL_FAILED');
    expect(error.message).toContain('The API server rejected the plan. Nothing was changed.');
    expect(error.message).toMatch(
      new RegExp(`× ${what}: .*ValidatingAdmissionPolicy '.*${MESSAGE}`),
    );
    expect(error.suggestions).toEqual([
      'Use images from a registry that the policy allows: --image-registry',
      'An admission policy rejects the request: correct what the message lists, or ask the policy owner for an exception',
    ]);
    expect(error.suggestions.join()).not.toContain('permission');
  }
  expect(await state(place)).toBe(before);
}

test('upgrade of a Deployment that is replaced stops before the first step when a policy rejects the new one', async () => {
  const target = {chart: 'agent-job', version: '0.5.67'} as const;
  const place = await installedByHelm(
    helm,
    'scalr-agent',
    target,
    await source('agent-job', '0.5.67'),
    [],
  );
  await enforce(place, deploymentsFrom('registry.corp.example/'));
  const argv = ['--chart-source', await source('agent-job', '0.6.5')];
  await expectRefusal(place, 'Deployment scalr-agent', (...more) =>
    upgrade(place, helm, [...argv, '--skip-preflight', ...more]),
  );
});

test('install and its dry run stop before the first step when a policy rejects only the pods', async () => {
  const place = await installPlace();
  await enforce(place, podsFrom('registry.corp.example/'));
  await expectRefusal(place, 'Pod of Deployment scalr-agent-agent-local', (...more) =>
    install(place, helm, [...local, ...more], {env: TOKEN}),
  );
});

test('debug and rotate-token stop before the first step when a policy rejects the restarted pods', async () => {
  const place = await installPlace();
  const done = await install(place, helm, [...local, '--yes'], {env: TOKEN});
  expect(done.exit, done.stderr).toBe(0);
  await enforce(place, podsFrom('registry.corp.example/'));
  const pod = 'Pod of Deployment scalr-agent-agent-local';
  await expectRefusal(place, pod, (...more) =>
    debug(place, helm, ['on', ...local.slice(2, 4), ...more]),
  );
  await expectRefusal(place, pod, (...more) =>
    rotateToken(place, helm, more, {env: {SCALR_AGENT_TOKEN: 'hunter3'}}),
  );
});

test('a policy that rejects one deletion stops a chart change before the first step', async () => {
  const target = {chart: 'agent-k8s', version: '0.6.5'} as const;
  const set = [`agent.data_home=/var/lib/${Math.random().toString(36).slice(2)}`];
  const place = await installedByHelm(
    helm,
    'prod',
    target,
    await source('agent-k8s', '0.6.5'),
    set,
  );
  await enforce(place, {
    rules: [{group: '', resource: 'serviceaccounts', operations: ['DELETE']}],
    expression: 'false',
    message: MESSAGE,
  });
  const argv = ['--release', 'prod', '--chart', 'agent-job'];
  const next = await source('agent-job', '0.6.5');
  await expectRefusal(place, 'Deletion of ServiceAccount [^:]*', (...more) =>
    upgrade(place, helm, [...argv, '--chart-source', next, ...more]),
  );
});

/** All that an install does in its namespace, but no pods are created. */
const WITHOUT_PODS = [
  {
    apiGroups: ['', 'apps', 'batch', 'networking.k8s.io', 'policy', 'rbac.authorization.k8s.io'],
    resources: [
      ...['secrets', 'configmaps', 'serviceaccounts', 'persistentvolumeclaims'],
      ...['deployments', 'jobs', 'networkpolicies', 'poddisruptionbudgets'],
      ...['roles', 'rolebindings'],
    ],
    verbs: ['*'],
  },
  {
    apiGroups: ['', 'apps', 'batch'],
    resources: ['namespaces', 'events', 'pods', 'pods/log', 'replicasets', 'daemonsets'],
    verbs: ['get', 'list'],
  },
];

test('names the pods that the user may not try, and installs', async () => {
  const place = await installPlace();
  const kubeconfig = await accountWith(WITHOUT_PODS, place);
  const warning = warningOf(
    'NOT_CHECKED',
    'Not checked with a dry run: Pod of Deployment scalr-agent-agent-local (your user cannot create pods).',
  );
  const asUser = {...place, kubeconfig};
  const dry = await install(asUser, helm, [...local, '--dry-run'], {env: TOKEN});
  expect(dry.exit, dry.stderr).toBe(0);
  expect(dry.stderr).toContain(
    'The API server accepts all other objects. Not checked:\n  - Pod of Deployment scalr-agent-agent-local: your user cannot create pods\n',
  );
  for (const flag of ['--dry-run', '--yes']) {
    const {stdout, stderr, exit} = await install(asUser, helm, [...local, flag, '--json'], {
      env: TOKEN,
    });
    expect(exit, stdout + stderr).toBe(0);
    expect(violations('install', stdout)).toEqual([]);
    expect(JSON.parse(stdout).warnings).toContainEqual(warning);
  }
});

test('install stops before the first step when a quota or Pod Security rejects its pods', async () => {
  const place = await installPlace();
  const {kubectl, namespace} = place;
  await kubectl('create', 'quota', 'tight', '--hard=limits.memory=1Gi');
  await kubectl('wait', 'quota/tight', '--for=jsonpath={.status.hard}', '--timeout=10s');
  const run = () => install(place, helm, [...local, '--yes', '--json'], {env: TOKEN});
  const quota = JSON.parse((await run()).stdout).error;
  expect(quota.message).toMatch(
    /Nothing was changed\.\n× Pod of Deployment scalr-agent-agent-local: pods ".*" is forbidden: (exceeded|failed) quota: tight/,
  );
  await kubectl('delete', 'quota', 'tight');
  const level = 'pod-security.kubernetes.io/enforce';
  await kubectl('label', 'namespace', namespace, `${level}=restricted`);
  await expect
    .poll(async () => JSON.parse((await run()).stdout).error?.message)
    .toMatch(
      /× Pod of Deployment .*: pods ".*" is forbidden: violates PodSecurity "restricted:latest"/,
    );
  expect(await kubectl('get', 'deployments,secrets', '--output', 'name')).toBe('');
});

test.each([
  ['pods', podsFrom, 'Pod of Deployment scalr-agent-agent-local'],
  ['Deployments', deploymentsFrom, 'Deployment scalr-agent-agent-local'],
] as const)('preflight says that a policy on %s rejects the install, and which setting complies', async (_, policy, what) => {
  const place = await installPlace();
  await enforce(place, policy('registry.corp.example/'));
  const check = async (...more: string[]) => {
    const {stdout, exit} = await preflight(place, helm, [...agent, '--json', ...more], {
      env: TOKEN,
    });
    const {checks} = JSON.parse(stdout) as {checks: CheckDocument[]};
    return {exit, admission: checks.find(({id}) => id === 'admission')};
  };
  const refused = await check();
  expect(refused).toMatchObject({exit: 3, admission: {status: 'fail'}});
  expect(refused.admission?.message).toContain(`${what}: ValidatingAdmissionPolicy '`);
  expect(refused.admission?.message).toContain(MESSAGE);
  expect(refused.admission?.remedy).toMatch(/^Use images .*: --image-registry; /);
  expect(refused.admission?.remedy).not.toMatch(/permission|RBAC|role/i);
  expect((await check('--image-registry', 'registry.corp.example')).admission).toMatchObject({
    status: 'pass',
  });
});

test('preflight says that a policy on Secrets rejects the token, and that a Secret of others complies', async () => {
  const place = await installPlace();
  await enforce(place, {
    rules: [{group: '', resource: 'secrets', operations: ['CREATE']}],
    expression: "object.metadata.name.startsWith('sealed-')",
    message: 'Secrets come from the vault',
  });
  const {stdout} = await preflight(place, helm, [...agent, '--json'], {env: TOKEN});
  const {checks} = JSON.parse(stdout) as {checks: CheckDocument[]};
  expect(checks.find(({id}) => id === 'admission')).toMatchObject({
    status: 'fail',
    message: expect.stringMatching(/^Secret scalr-agent-token: .*Secrets come from the vault/),
    remedy: expect.stringContaining('--token-secret'),
  });
  expect(stdout).not.toContain('hunter2');
});

test('preflight leaves out what the user may not create, and says so', async () => {
  const place = await installPlace();
  const reader = await accountWith('view', place);
  const {stdout} = await preflight({...place, kubeconfig: reader}, helm, [...agent, '--json'], {
    env: TOKEN,
  });
  const {checks} = JSON.parse(stdout) as {checks: CheckDocument[]};
  expect(checks.find(({id}) => id === 'admission')).toMatchObject({
    status: 'skip',
    message: expect.stringContaining('not tried: your user cannot create'),
  });
});

test('a policy that accepts the plan changes nothing, and the dry run says that all was tried', async () => {
  const place = await installPlace();
  await enforce(place, podsFrom(''));
  const {stderr, exit} = await install(place, helm, [...local, '--dry-run'], {env: TOKEN});
  expect(exit, stderr).toBe(0);
  expect(stderr).toContain('The API server accepts all objects.\n');
});

/** The checks of a preflight, by their ids. */
async function checksOf(place: Workplace, ...argv: string[]) {
  const {stdout, stderr, exit} = await preflight(place, helm, [...argv, '--json'], {env: TOKEN});
  const {checks} = JSON.parse(stdout) as {checks: CheckDocument[]};
  return {exit, stderr, check: (id: string) => checks.find((each) => each.id === id)};
}

test('what a webhook with side effects would say is neither passed nor failed, and the install works', async () => {
  const place = await installPlace();
  const webhook = await webhookWithSideEffects(place);
  const pod = 'Pod of Deployment scalr-agent-agent-local';
  const reason = `admission webhook ${webhook} does not support dry runs`;
  const {check} = await checksOf(place, ...agent);
  expect(check('admission')).toMatchObject({
    status: 'skip',
    message: expect.stringContaining(`${pod} not tried: ${reason}`),
  });
  const dry = await install(place, helm, [...local, '--dry-run'], {env: TOKEN});
  expect(dry.exit, dry.stderr).toBe(0);
  expect(dry.stderr.replaceAll(/\s+/g, ' ')).toContain(
    `The API server accepts all other objects. Not checked: - ${pod}: ${reason}`,
  );
  const done = await install(place, helm, [...local, '--yes', '--json'], {env: TOKEN});
  expect(done.exit, done.stderr).toBe(0);
  expect(JSON.parse(done.stdout).warnings).toContainEqual(
    warningOf('NOT_CHECKED', `Not checked with a dry run: ${pod} (${reason}).`),
  );
});

test.each([
  ['agent-job', ['--set', 'task.podLabels.sidecar\\.istio\\.io/inject=false']],
  ['agent-k8s', ['--pod-label', 'sidecar.istio.io/inject=false']],
] as const)('preflight foresees sidecars in run pods of %s, and its remedy excludes them', async (chart, remedy) => {
  const place = await installPlace();
  await injectingWebhook(place, 'istio-proxy');
  const flags = await chartFlags(chart);
  const found = (await checksOf(place, ...flags)).check('injected-sidecars');
  expect(found).toMatchObject({status: 'warn', message: expect.stringContaining('istio-proxy')});
  expect(found?.remedy).toContain(remedy[1].replace(/^task.*$/, "'$&'"));
  const excluded = (await checksOf(place, ...flags, ...remedy)).check('injected-sidecars');
  expect(excluded).toMatchObject({status: 'pass'});
});

test('preflight and the dry run foresee a service account that does not exist', async () => {
  const place = await installPlace();
  const nosa = ['--service-account-name', 'nosa'];
  const step = 'Create the service account in the namespace, or correct --service-account-name';
  const {exit, check} = await checksOf(place, ...agent, ...nosa);
  expect({exit, admission: check('admission')}).toMatchObject({
    exit: 3,
    admission: {
      status: 'fail',
      message: expect.stringContaining('serviceaccount "nosa" not found'),
      remedy: step,
    },
  });
  const dry = await install(place, helm, [...local, ...nosa, '--dry-run', '--json'], {env: TOKEN});
  expect(dry.exit, dry.stderr).toBe(1);
  const {message, suggestions} = JSON.parse(dry.stdout).error;
  expect(message).toContain('serviceaccount "nosa" not found');
  expect(suggestions).toEqual([step]);
  await place.kubectl('create', 'serviceaccount', 'nosa');
  expect((await checksOf(place, ...agent, ...nosa)).check('admission')).toMatchObject({
    status: 'pass',
  });
});

test('preflight prints what a LimitRange with a ratio and a maximum admits', async () => {
  const place = await installPlace();
  await place.kubectl.apply({
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: {name: 'tight'},
    spec: {
      limits: [
        {type: 'Container', maxLimitRequestRatio: {cpu: '2', memory: '1'}},
        {type: 'Pod', max: {memory: '1Gi'}},
      ],
    },
  });
  const sizes = ['--run-cpu-request', '1', '--run-cpu-limit', '4'];
  const {exit, check} = await checksOf(place, ...agent, ...sizes, '--run-memory-request', '256Mi');
  expect(exit).toBe(3);
  const {status, message, remedy = ''} = check('admission') as CheckDocument;
  expect({status, message}).toMatchObject({
    status: 'fail',
    message: expect.stringContaining('cpu max limit to request ratio per Container is 2'),
  });
  const [, options = ''] = /^Use (.*?)\. Or /.exec(remedy) ?? [];
  expect(options).toContain('--run-cpu-request 2');
  const given = new Map(
    [
      ...`${sizes.join(' ')} --run-memory-request 256Mi ${options}`.matchAll(/(--\S+) ([^-]\S*)/g),
    ].map(([, flag = '', value = '']) => [flag, value]),
  );
  const complying = await checksOf(place, ...agent, ...[...given].flat());
  expect(complying.check('admission'), remedy).toMatchObject({status: 'pass'});
});
