import {devNull} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import fc from 'fast-check';
import {beforeAll, expect, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import {chartSchema, leavesOf} from '../../../src/charts/releases/schema.ts';
import type {Target} from '../../../src/charts/releases/target.ts';
import {within} from '../../../src/charts/releases/versions.ts';
import {at, isMap, setAt, type Tree, type Values} from '../../../src/ground/tree.ts';
import {toYaml} from '../../../src/values/document.ts';
import {type MigratedValues, migrateValues} from '../../../src/values/migrate/migrate.ts';
import {errorsIn, validate} from '../../../src/values/validate/validate.ts';
import {numRuns} from '../../support/sample.ts';
import {DISTINCT, REAL} from './charts-under-test.ts';
import {findHelm} from './find-helm.ts';
import {type Container, type KubeObject, podTemplates, selects} from './workloads.ts';

const RUNS = numRuns(20);
const isFull = process.env['TEST_FULL'] === '1';

let helm: string;
beforeAll(async () => {
  helm = (await findHelm())[0]?.path as string;
});

const TOKEN: Readonly<Record<string, Values>> = {
  flat: {agent: {url: 'https://acme.scalr.io', tokenExistingSecret: 'infra'}},
  nested: {agent: {url: 'https://acme.scalr.io', tokenExistingSecret: {name: 'infra'}}},
};
const plainValues = ({chart, version}: Target): Values =>
  structuredClone(
    chart === 'agent-k8s' || (chart === 'agent-job' && within(version, '<=0.5.63'))
      ? TOKEN['flat']
      : TOKEN['nested'],
  ) as Values;

async function objectsOf({chart, version}: Target, values: Values): Promise<KubeObject[]> {
  const argv = [
    'template',
    'prod',
    join(REAL as string, chart, version),
    '--values',
    '-',
    '--kube-version',
    '1.35.4',
  ];
  const {stdout} = await execa(helm, argv, {
    input: JSON.stringify(values),
    extendEnv: false,
    env: {HOME: '/nowhere', KUBECONFIG: devNull},
  });
  const documents = parseAllDocuments(stdout, {
    version: '1.1',
    uniqueKeys: false,
    logLevel: 'silent',
  });
  return (Array.isArray(documents) ? documents : [])
    .map((each) => each.toJS() as unknown)
    .filter((each): each is KubeObject => isMap(each));
}

const mapOf = (tree: Tree | undefined): Values => (isMap(tree) ? tree : {});

/** What restricts the container that executes runs, or starts their pods, read from the manifest only. */
function restrictionsOf(objects: readonly KubeObject[]): string[] {
  const containers = podTemplates(objects).flatMap((pod) => pod.containers);
  const own = ['runner', 'agent', 'worker']
    .map((role) => containers.find((each) => each.role === role))
    .find((each) => each) as Container;
  const container = own.securityContext;
  const pod = mapOf(own.pod.spec['securityContext']);
  const {runAsUser, runAsNonRoot, seccompProfile}: Values = {...pod, ...container};
  const policies = objects
    .filter(({kind}) => kind === 'NetworkPolicy')
    .filter((policy) => selects(policy, own.pod));
  const facts = {
    'metadata service': policies.some((policy) =>
      JSON.stringify(policy['spec']).includes('169.254.169.254/32'),
    ),
    'other than root': runAsNonRoot === true || Number(runAsUser ?? 0) > 0,
    'privilege escalation': container['allowPrivilegeEscalation'] === false,
    'read-only root': container['readOnlyRootFilesystem'] === true,
    seccomp: mapOf(seccompProfile)['type'] === 'RuntimeDefault',
    capabilities: [mapOf(container['capabilities'])['drop']].flat().includes('ALL'),
    'privileged mode': container['privileged'] !== true,
    'Kubernetes API':
      own.role === 'worker' || own.pod.spec['automountServiceAccountToken'] === false,
  };
  return Object.entries(facts).flatMap(([name, isOn]) => (isOn ? [name] : []));
}

/** Restrictions that the migration loses without a word. */
async function silentlyLost(from: Target, to: Target, values: Values): Promise<string[]> {
  const {values: after, changes}: MigratedValues = migrateValues(values, from, to);
  const old = restrictionsOf(await objectsOf(from, values));
  const fresh = restrictionsOf(await objectsOf(to, after));
  const listed = changes.flatMap(({kind, message}) =>
    kind === 'default-changed' && message.includes('cannot be kept') ? [message] : [],
  );
  // The user's own key is not carried over.
  if (changes.some(({kind, subject}) => kind === 'dropped' && /etadataService$/.test(subject.path)))
    listed.push('metadata service');
  // A policy for other pods than those of runs.
  if (validate(toYaml(after), to).some(({code}) => code === 'RUNS_NOT_COVERED'))
    listed.push('metadata service');
  return old.filter(
    (name) => !fresh.includes(name) && !listed.some((message) => message.includes(name)),
  );
}

/** Keys of security contexts and the like, with strict and lax values. */
const LAX: readonly [RegExp, readonly Tree[]][] = [
  [/runAsNonRoot$/, [true, false]],
  [/runAs(User|Group)$|fsGroup$/, [0, 1000, 2000]],
  [/readOnlyRootFilesystem$|allowPrivilegeEscalation$|privileged$/, [true, false]],
  [/etadataService$|automountToken$|automount_service_account_token$/, [true, false]],
  [/seccompProfile\.type$/, ['RuntimeDefault', 'Unconfined']],
  [/capabilities\.drop$/, [['ALL'], []]],
  [
    /^(task|agent)\.podSecurityContext$/,
    [{runAsUser: 2000}, {runAsNonRoot: false}, {runAsUser: 0}],
  ],
];

const securityKeys = ({chart, version}: Target): fc.Arbitrary<[readonly string[], Tree][]> => {
  const known = leavesOf(chartSchema(chart), version).flatMap(({path}) => {
    const choices = LAX.find(([pattern]) => pattern.test(path.join('.')))?.[1];
    return choices ? [{path, choices}] : [];
  });
  const one = fc
    .constantFrom(...known)
    .chain(({path, choices}) =>
      fc.constantFrom(...choices).map((tree): [readonly string[], Tree] => [path, tree]),
    );
  return fc.array(one, {maxLength: 3});
};

const withKeys = (target: Target, keys: readonly [readonly string[], Tree][]): Values =>
  keys.reduce((values, [path, tree]) => {
    const more = structuredClone(values);
    setAt(more, path, tree);
    return errorsIn(more, target).length === 0 ? more : values;
  }, plainValues(target));

const NEWEST = DISTINCT.filter(({version}) => within(version, '>=0.6.4'));

test.skipIf(REAL === undefined)(
  'never restricts runs less than before without a word',
  {timeout: 3_600_000},
  async () => {
    let lost = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...DISTINCT).chain((from) =>
          fc.record({
            from: fc.constant(from),
            to: fc.constantFrom(...DISTINCT, ...NEWEST),
            keys: securityKeys(from),
          }),
        ),
        async ({from, to, keys}) => {
          const values = withKeys(from, keys);
          expect(await silentlyLost(from, to, values)).toEqual([]);
          lost += migrateValues(values, from, to).changes.filter(({message}) =>
            message.includes('The old value is written'),
          ).length;
        },
      ),
      {numRuns: isFull ? RUNS * 10 : RUNS},
    );
    expect(lost).toBeGreaterThan(RUNS / 10);
  },
);

test.skipIf(REAL === undefined)(
  'keeps every restriction of the defaults of agent-job in agent-local that its chart permits',
  async () => {
    const [from, to] = [
      {chart: 'agent-job', version: '0.6.5'},
      {chart: 'agent-local', version: '0.6.5'},
    ] as const;
    const {values} = migrateValues(plainValues(from), from, to);
    const before = restrictionsOf(await objectsOf(from, plainValues(from)));
    const after = restrictionsOf(await objectsOf(to, values));
    expect(before.filter((each) => !after.includes(each))).toEqual(['read-only root']);
  },
);

test.skipIf(REAL === undefined)(
  'keeps a user other than root where two contexts are merged in another order',
  async () => {
    const [from, to] = [
      {chart: 'agent-job', version: '0.5.79'},
      {chart: 'agent-job', version: '0.6.5'},
    ] as const;
    const values = plainValues(from);
    setAt(values, at('task.podSecurityContext'), {seccompProfile: {type: 'Unconfined'}});
    expect(await silentlyLost(from, to, values)).toEqual([]);
    expect(restrictionsOf(await objectsOf(to, migrateValues(values, from, to).values))).toContain(
      'seccomp',
    );
  },
);
