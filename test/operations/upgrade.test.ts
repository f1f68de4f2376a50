import {describe, expect, test} from 'vitest';
import {objectsIn, type ReleaseRecord} from '../../src/cluster/helm/release-record.ts';
import type {ClusterAccess} from '../../src/cluster/helm/releases.ts';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import {ownLabels} from '../../src/cluster/kubernetes/own-objects.ts';
import type {Inventory} from '../../src/cluster/release/inventory.ts';
import type {InstalledRelease} from '../../src/cluster/release/read-inventory.ts';
import type {InstallFacts} from '../../src/cluster/release/read-release.ts';
import type {Call} from '../../src/ground/call.ts';
import {argumentsOf, callText} from '../../src/ground/call-arguments.ts';
import {Secret} from '../../src/ground/secret.ts';
import type {Values} from '../../src/ground/tree.ts';
import {migratedRelease, withOldClaims, withValues} from '../../src/operations/migrated-release.ts';
import {
  blockedBy,
  newestFor,
  newReleaseName,
  prepareUpgrade,
} from '../../src/operations/prepare-upgrade.ts';
import {planUpgrade, type UpgradeChoices} from '../../src/operations/upgrade.ts';
import {tokenSecret} from '../../src/settings/agent.ts';
import {secretNamesOf} from '../../src/settings/release.ts';

const NAME = {release: 'scalr-agent', kubeTarget: {namespace: 'agents'}};
const OLD = {chart: 'agent-job', version: '0.5.67'} as const;
const NEW = {chart: 'agent-job', version: '0.6.5'} as const;
const CHOICES: UpgradeChoices = {
  takesOver: false,
  timeoutMs: 600_000,
  timeoutSeconds: 600,
  now: new Date('2026-11-23T09:00:00Z'),
  drain: true,
  drainTimeoutSeconds: 1800,
};

const deployment = (label: string, name = 'scalr-agent') => `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec: {selector: {matchLabels: {app: ${label}}}, template: {spec: {containers: [{name: controller, image: a}]}}}
`;
const definition = (name: string, storage = 'v1') => `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${name}}
spec: {versions: [{name: v1alpha1, storage: ${storage !== 'v1'}}, {name: v1, storage: ${storage === 'v1'}}]}
`;
const BEFORE = deployment('agent-job');
const AFTER = `${definition('agenttasktemplates.scalr.io')}${deployment('scalr-agent')}`;

const WITH_CLAIM = {
  installed: objectsIn(`${BEFORE}---\nkind: PersistentVolumeClaim\nmetadata: {name: old-cache}\n`),
};

const release: ReleaseRecord = {
  revision: 3,
  status: 'deployed',
  chart: 'agent-job-0.5.67',
  updated: '2026-11-22T12:00:00Z',
  values: {},
  defaults: {},
  manifest: '',
  isServerSide: true,
};
const controller = {
  kind: 'Deployment',
  name: 'scalr-agent',
  onStop: 'drain',
  graceSeconds: 180,
  replicas: 1,
} as const;
const RUN = {kind: 'Job', name: 'run-1', isCertain: true} as const;

function installed(
  more: {facts?: Partial<InstallFacts>; inventory?: Partial<Inventory>} & Partial<
    Omit<InstalledRelease, 'facts' | 'inventory'>
  > = {},
): InstalledRelease {
  const facts = {
    context: {name: 'c', cluster: 'c', server: 's'},
    serverVersion: 'v1.35.1',
    namespace: {metadata: {name: 'agents'}},
    release,

    installed: objectsIn(BEFORE),
    drift: [],
    live: [],
    stopped: new Set<string>(),
    secrets: new Map(),
    ...more.facts,
  } as InstalledRelease['facts'];
  const inventory = {
    release: {...OLD, status: 'deployed', revision: 3, objects: []},
    runs: [],
    controllers: [controller],
    claims: [],
    volumes: [],

    runsOf: {...OLD, release: 'scalr-agent', taskLabels: {}},
    definitions: [],
    secrets: [],
    namespace: undefined,
    leftovers: [],
    nodeData: [],
    ...more.inventory,
  } as Inventory;
  const {facts: _, inventory: __, ...others} = more;
  return {
    name: NAME,
    target: OLD,
    deployed: release,
    live: objectsIn(BEFORE),
    users: [],
    unlisted: [],
    nodes: [],
    definitions: [],
    ...others,
    facts,
    inventory,
  };
}

const desired = (manifest: string, values = {}) => ({
  ...withValues({name: NAME, chart: NEW, explicitPaths: [], secrets: []}, values, NEW),
  manifest: objectsIn(manifest),
});

const plan = (
  found: InstalledRelease,
  manifest = AFTER,
  more: Partial<UpgradeChoices> & {values?: object} = {},
) => {
  const {values = {}, ...choices} = more;
  return planUpgrade(found, desired(manifest, values), NEW, {...CHOICES, ...choices});
};
const ids = ({plan: {steps}}: ReturnType<typeof plan>) => steps.map(({id}) => id);

describe('steps', () => {
  test('keep PVCs, apply CRDs, drain, delete what cannot be updated, and upgrade last', () => {
    const found = plan(installed({inventory: {runs: [RUN]}, facts: WITH_CLAIM}));
    expect(ids(found)).toEqual([
      'keep/old-cache',
      'definitions',
      'stop/scalr-agent',
      'drain',
      'stopped',
      'replace',
      'release',
    ]);
    const [keep, replace] = ['keep/old-cache', 'replace'].map((id) =>
      callText(found.plan.steps.find((each) => each.id === id)?.call as Call),
    );
    expect(keep).toContain(
      'annotate persistentvolumeclaim/old-cache helm.sh/resource-policy=keep --overwrite',
    );
    expect(replace).toContain('delete deployment/scalr-agent --ignore-not-found');
    expect(JSON.stringify(found.plan.steps)).not.toContain('--reuse-values');
  });

  test('delete a Deployment with another selector even without a drain', () => {
    expect(ids(plan(installed(), AFTER, {drain: false}))).toEqual([
      'definitions',
      'replace',
      'release',
    ]);
  });

  test('compare the selector with the cluster, not with the manifest of a failed upgrade', () => {
    const found = installed({facts: {installed: objectsIn(AFTER)}});
    expect(ids(plan(found))).toContain('replace');
  });

  test('do not drain or delete when runs keep their template and the selector stays', () => {
    const found = plan(installed({inventory: {runs: [RUN]}}), BEFORE);
    expect(ids(found)).toEqual(['release']);
    expect(found.plan.warnings).toMatchObject([
      {message: 'The controller restarts. 1 run is in flight; they continue.'},
    ]);
  });

  test('wait for runs that a restart of agent-k8s would interrupt, and create its controller again', () => {
    const target = {chart: 'agent-k8s', version: '0.5.75'} as const;
    const inventory = {
      runs: [RUN],
      controllers: [{...controller, onStop: 'interrupt' as const}],
      runsOf: {...target, release: 'scalr-agent', taskLabels: {}},
    };
    const found = installed({
      target,
      inventory,
      facts: {release: {...release, chart: 'agent-k8s-0.5.75'}},
    });
    const steps = planUpgrade(
      found,
      {...desired(BEFORE), chart: {chart: 'agent-k8s', version: '0.6.5'}},
      {chart: 'agent-k8s', version: '0.6.5'},
      CHOICES,
    );
    expect(ids(steps)).toEqual(['drain', 'stop/scalr-agent', 'stopped', 'replace', 'release']);
  });

  test('stop a controller that an interrupted upgrade has started, so that no pod of the release remains', () => {
    const manifest = `${deployment('scalr-agent', 'new')}---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: new}\n`;
    const account = objectsIn('apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: old}\n');
    const facts = {
      installed: [...objectsIn(BEFORE), ...account],
      release: {...release, revision: 4, status: 'failed'},
    };
    const found = plan(installed({facts, live: objectsIn(BEFORE + manifest)}), manifest);
    expect(ids(found)).toEqual([
      'stop/scalr-agent',
      'stop/new',
      'drain',
      'stopped',
      'replace',
      'release',
    ]);
    expect(argumentsOf(found.plan.steps.find(({id}) => id === 'replace')?.call as Call)).toContain(
      'deployment/new',
    );
  });

  test('do not start a controller again that an interrupted drain has stopped', () => {
    expect(
      ids(plan(installed({facts: {stopped: new Set(['Deployment scalr-agent'])}}))),
    ).not.toContain('start/scalr-agent');
  });

  test('are none when the release is up to date', () => {
    const current = {...release, chart: 'agent-job-0.6.5'};
    const found = installed({
      target: NEW,
      facts: {release: current, installed: objectsIn(AFTER)},
      live: objectsIn(AFTER),
      deployed: current,
    });
    expect(plan(found).plan.steps).toEqual([]);
  });

  test('apply custom resources that a failed upgrade may have created, unless Helm applies them on the server', () => {
    const manifest = `${AFTER}---\napiVersion: scalr.io/v1\nkind: AgentTaskTemplate\nmetadata: {name: task}\n`;
    const failed = {...release, revision: 4, status: 'failed'};
    const steps = (isServerSide: boolean) =>
      ids(plan(installed({facts: {release: {...failed, isServerSide}}}), manifest)).slice(-2);
    expect(steps(false)).toEqual(['release', 'restore/task']);
    expect(steps(true)).toEqual(['replace', 'release']);
  });
});

describe('obsolete CRDs', () => {
  const user = {by: 'release', release: 'b', namespace: 'a', chart: 'agent-job-0.5.60'} as const;
  const definitions = [
    {name: 'atasks.scalr.io', neededBy: []},
    {name: 'agentworkers.scalr.io', neededBy: [user]},
    {name: 'agenttasktemplates.scalr.io', neededBy: []},
  ];

  test('are deleted separately, unless the new version or another release needs them', () => {
    const {cleanup, plan: own} = plan(installed({inventory: {definitions}}));
    expect(cleanup.map(({id}) => id)).toEqual(['crd/atasks.scalr.io']);
    expect(own.steps.some(({id}) => id.startsWith('crd/'))).toBe(false);
  });

  test('stay when this account cannot read who uses them', () => {
    expect(
      plan(installed({inventory: {definitions: [{name: 'atasks.scalr.io', neededBy: undefined}]}}))
        .cleanup,
    ).toEqual([]);
  });
});

describe('rollback', () => {
  test('deletes what the upgrade replaces, and records kept PVCs before it rolls back', () => {
    const {rollback} = plan(installed({facts: WITH_CLAIM}));
    expect(rollback.steps.map(({id}) => id)).toEqual(['restore', 'adopt', 'rollback']);
    expect(
      rollback.steps[1]?.tolerates?.test(
        'Error: no PersistentVolumeClaim with the name "old-cache" found',
      ),
    ).toBe(true);
    expect(
      rollback.steps[1]?.tolerates?.test(
        'Error: original object PersistentVolumeClaim with the name "old-cache" not found',
      ),
    ).toBe(true);
  });

  test('names CRDs that change their storage version, and CRDs that it cannot restore', () => {
    const found = installed({
      definitions: objectsIn(definition('agenttasktemplates.scalr.io', 'v1alpha1')),
      inventory: {definitions: [{name: 'atasks.scalr.io', neededBy: []}]},
    });
    expect(plan(found).rollback.limits).toEqual([
      'CRD agenttasktemplates.scalr.io stores objects as v1 instead of v1alpha1, even after a rollback.',
      'A rollback requires CRD atasks.scalr.io: it is not possible after the CRD is deleted.',
    ]);
  });

  test('is not possible without a deployed revision', () => {
    expect(plan(installed({deployed: undefined})).rollback).toMatchObject({
      steps: [],
      limits: [expect.stringContaining('so a rollback is not possible')],
    });
  });
});

test('blocks a variable that the new version sets itself', () => {
  const {advice} = plan(installed(), AFTER, {
    values: {agent: {extraEnv: {SCALR_AGENT_SENTRY_DSN: 'x'}}},
  });
  expect(advice[0]).toMatchObject({
    code: 'RESERVED_VARIABLE',
    verdict: 'error',
    remedies: [{text: expect.stringContaining('agent.extraEnv')}],
  });
  expect(blockedBy(advice)?.message).toMatch(/sets SCALR_AGENT_SENTRY_DSN in container/);
});

test.each([
  [
    {repository: 'scalr/agent', tag: '0.55.0'},
    ['Remove agent.image.tag: set null in a file for --values'],
  ],
  [
    {repository: 'scalr/agent-runner', tag: '0.59.0'},
    ['Remove agent.image.tag and agent.image.repository: set null in a file for --values'],
  ],
  [{repository: 'scalr/agent', tag: '1.4.0'}, []],
  [{repository: 'scalr/agent', tag: '1.4.0@sha256:0'}, []],
  [{repository: 'team/agent', tag: '0.55.0'}, []],
])('advises to remove the version of an agent that stays old, for %o', (image, remedies) => {
  const {advice} = plan(installed(), AFTER, {values: {agent: {image}}});
  expect(
    advice.filter(({code}) => code === 'AGENT_VERSION').flatMap(({remedies: found}) => found),
  ).toEqual(remedies.map((text) => ({text})));
});

test('blocks a version for a newer Kubernetes before the chart is rendered', async () => {
  const access = {processes: {run: async () => expect.unreachable()}} as unknown as ClusterAccess;
  const options = {
    to: NEW,
    source: undefined,
    overlay: {},
    newRelease: undefined,
    secretNames: {},
  };
  const old = installed({nodes: [{name: 'old', version: 'v1.34.1'}]});
  await expect(
    prepareUpgrade(old, options, {choices: CHOICES, access, signal: AbortSignal.timeout(1000)}),
  ).rejects.toThrow(/node old \(v1\.34\.1\)/);
});

test('keeps tokens of provider mirrors, which the charts read from values only', () => {
  const mirrors = [{url: 'https://m.example.com/', token: 'hunter2'}];
  const {desired: found, changes} = migratedRelease(
    NAME,
    {agent: {providerNetworkMirrors: mirrors}},
    {from: {chart: 'agent-job', version: '0.6.4'}, to: NEW},
    {source: undefined, overlay: {}, secretNames: secretNamesOf('scalr-agent')},
  );
  expect(found.values).toMatchObject({agent: {providerNetworkMirrors: mirrors}});
  expect(changes.filter(({kind}) => kind === 'dropped')).toEqual([]);
});

test('leaves nothing to do for a token in plain text, whose Secret the upgrade creates', () => {
  const {desired: found, changes} = migratedRelease(
    NAME,
    {agent: {token: 'a.b.c'}},
    {from: {chart: 'agent-job', version: '0.6.1'}, to: NEW},
    {source: undefined, overlay: {}, secretNames: secretNamesOf('scalr-agent')},
  );
  expect(found.secrets.map(({name}) => name)).toEqual(['scalr-agent-token']);
  expect(changes.find(({subject}) => subject.path === 'agent.token')?.remedies).toEqual([]);
});

test.each([
  [
    'agent-job',
    '0.6.5',
    'persistence.cache',
    'a-cache',
    'persistence.cache.persistentVolumeClaim.claimName',
  ],
  [
    'agent-job',
    '0.5.65',
    'persistence.cache',
    'a-agent-job',
    'persistence.cache.persistentVolumeClaim.claimName',
  ],
  [
    'agent-job',
    '0.6.5',
    'persistence.data',
    'a-data',
    'persistence.data.persistentVolumeClaim.claimName',
  ],
  [
    'agent-local',
    '0.5.75',
    'persistence',
    'a-agent-local-cache',
    'persistence.persistentVolumeClaim.claimName',
  ],
  [
    'agent-local',
    '0.6.5',
    'persistence.cache',
    'a-agent-local',
    'persistence.cache.persistentVolumeClaim.claimName',
  ],
] as const)('%s %s mounts an old PVC at %s', (chart, version, volume, claim, key) => {
  const nested = (path: string, value: unknown): Record<string, never> =>
    path.split('.').reduceRight<unknown>((below, part) => ({[part]: below}), value) as Record<
      string,
      never
    >;
  const on = nested(`${volume}.enabled`, true);
  const target = {chart, version};
  const found = withOldClaims(on, target, [claim]);
  expect(found).toMatchObject(nested(key, claim));
  expect(withOldClaims({}, target, [claim])).toEqual({});
});

test('moves a token in plain text to a Secret, and keeps it out of the values', () => {
  const given = {agent: {token: 'hunter2', url: 'https://acme.scalr.io'}};
  const {desired: found} = migratedRelease(
    NAME,
    given,
    {from: OLD, to: NEW},
    {source: undefined, overlay: {}, secretNames: secretNamesOf('scalr-agent')},
  );
  expect(found.secrets).toMatchObject([{name: 'scalr-agent-token', type: 'Opaque'}]);
  expect(found.secrets[0]?.data['token']?.reveal()).toBe('hunter2');
  expect(found.yaml).not.toContain('hunter2');
  expect(found.values).toMatchObject({agent: {tokenExistingSecret: {name: 'scalr-agent-token'}}});
});

test('rejects errors in the files of --values, but not those that the installed values have', () => {
  const upgraded = (overlay: Values) =>
    migratedRelease(
      NAME,
      {agent: {url: 'ftp://acme'}},
      {from: OLD, to: NEW},
      {source: undefined, overlay, secretNames: secretNamesOf('scalr-agent')},
    ).desired.values;
  expect(() => upgraded({agent: {replicaCount: 'many'}})).toThrow(
    /^--values: agent\.replicaCount: /,
  );
  expect(() => upgraded({agent: {replicas: 2}})).toThrow(/^--values: agent\.replicas: /);
  expect(upgraded({agent: {replicaCount: 2}})).toMatchObject({
    agent: {url: 'ftp://acme', replicaCount: 2},
  });
});

test('uses the existing Secret of the release, which stays as it is', () => {
  const given = {agent: {tokenExistingSecret: {name: 'pool', key: 'token'}}};
  const {desired: found} = migratedRelease(
    NAME,
    given,
    {from: OLD, to: NEW},
    {source: undefined, overlay: {agent: {debug: '1'}}, secretNames: secretNamesOf('scalr-agent')},
  );
  expect(found.secrets).toEqual([]);
  expect(found.values).toMatchObject({agent: {tokenExistingSecret: {name: 'pool'}, debug: '1'}});
});

test.each([
  ['v1.35.1', OLD, 'agent-job', '0.6.5'],
  ['v1.34.9-eks', OLD, 'agent-job', '0.5.68'],
  ['v1.34.9-eks', {chart: 'agent-job', version: '0.5.79'}, 'agent-job', '0.5.79'],
  ['v1.34.9-eks', OLD, 'agent-local', '0.6.5'],
] as const)('on Kubernetes %s proposes for %o and %s version %s', (serverVersion, target, chart, version) => {
  expect(newestFor(installed({target, facts: {serverVersion}}), chart)).toBe(version);
});

test.each([
  ['scalr-agent', 'agent-job', 'scalr-agent-job'],
  ['scalr-agent-job', 'agent-local', 'scalr-agent-local'],
] as const)('names the release beside %s for %s %s', (release_, chart, name) => {
  expect(newReleaseName(release_, chart)).toBe(name);
});

describe('a token in plain text', () => {
  const token = {
    name: 'scalr-agent-token',
    type: 'Opaque' as const,
    data: {token: new Secret('hunter2')},
    howToGive: {text: ''},
    setting: tokenSecret,
  };
  const secret = (content: string, labels = {}): KubernetesObject & {data: object} => ({
    kind: 'Secret',
    metadata: {name: 'scalr-agent-token', labels},
    data: {token: Buffer.from(content).toString('base64')},
  });
  const reader: KubernetesObject = objectsIn(
    'kind: Deployment\nmetadata: {name: b}\nspec: {template: {spec: {containers: [{name: a, env: [{name: T, valueFrom: {secretKeyRef: {name: scalr-agent-token, key: token}}}]}]}}}',
  )[0] as KubernetesObject;
  const withToken = (found: InstalledRelease) =>
    planUpgrade(found, {...desired(AFTER), secrets: [token]}, NEW, CHOICES).plan.steps.map(
      ({title}) => title,
    );

  test.each<[whose: string, found: Parameters<typeof installed>[0], message: RegExp]>([
    ['of a person', {live: [secret('other')]}, /was not created by scalr-agent/],
    ['of another release', {live: [secret('other', ownLabels('a'))]}, /belongs to release a/],
    [
      'that another release reads',
      {live: [secret('other', ownLabels('scalr-agent'))], users: [reader]},
      /is also used by Deployment b/,
    ],
  ])('does not replace a Secret %s', (_, found, message) => {
    expect(() => withToken(installed(found))).toThrow(message);
  });

  test('updates the Secret of the same release, and creates a missing one', () => {
    expect(withToken(installed({live: [secret('other', ownLabels('scalr-agent'))]}))[0]).toBe(
      'Update Secret scalr-agent-token',
    );
    expect(withToken(installed())[0]).toBe('Create Secret scalr-agent-token');
    expect(withToken(installed({live: [secret('hunter2')]}))[0]).not.toContain('Secret');
  });

  test('goes into a Secret that the chart of the installed release does not render', async () => {
    const local = {chart: 'agent-local', version: '0.5.69'} as const;
    const values = {agent: {token: 'hunter2', url: 'https://acme.scalr.io'}};
    const found = installed({
      target: local,
      facts: {
        release: {...release, chart: 'agent-local-0.5.69', values},
        installed: objectsIn('kind: Secret\nmetadata: {name: scalr-agent-token}'),
      },
    });
    const access = {
      processes: {run: async () => ({exitCode: 0, stdout: '', stderr: ''})},
    } as unknown as ClusterAccess;
    const to = {chart: 'agent-local', version: '0.6.5'} as const;
    const options = {to, source: undefined, overlay: {}, newRelease: undefined, secretNames: {}};
    const prepared = await prepareUpgrade(found, options, {
      choices: CHOICES,
      access,
      signal: AbortSignal.timeout(1000),
    });
    expect(prepared.desired.secrets.map(({name}) => name)).toEqual(['scalr-agent-agent-token']);
  });

  test('rejects a Secret name that would have no effect', async () => {
    const access = {processes: {run: async () => expect.unreachable()}} as unknown as ClusterAccess;
    const options = {
      to: NEW,
      source: undefined,
      overlay: {},
      newRelease: undefined,
      secretNames: {token: 'mine'},
    };
    await expect(
      prepareUpgrade(installed(), options, {
        choices: CHOICES,
        access,
        signal: AbortSignal.timeout(1000),
      }),
    ).rejects.toThrow(
      /--token-secret has no effect: the values of release scalr-agent contain no token/,
    );
  });
});
