import {gzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {objectsIn, type ReleaseRecord} from '../../src/cluster/helm/release-record.ts';
import {ownLabels} from '../../src/cluster/kubernetes/own-objects.ts';
import {
  type DesiredRelease,
  PLACEHOLDER,
  type RenderedRelease,
} from '../../src/cluster/release/desired-release.ts';
import type {InstallFacts} from '../../src/cluster/release/read-release.ts';
import type {Call} from '../../src/ground/call.ts';
import {argumentsOf, callText} from '../../src/ground/call-arguments.ts';
import {warningOf} from '../../src/ground/finding.ts';
import {Secret} from '../../src/ground/secret.ts';
import {type InstallChoices, planInstall} from '../../src/operations/install.ts';
import type {Step} from '../../src/operations/step.ts';
import {tokenSecret} from '../../src/settings/agent.ts';

const NAME = {release: 'agent', kubeTarget: {namespace: 'scalr'}};
const TOKEN = {
  name: 'scalr-agent-token',
  type: 'Opaque',
  data: {token: new Secret('hunter2')},
  howToGive: {text: 'Give the token'},
  setting: tokenSecret,
} as const;
const DEPLOYMENT =
  'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: agent-main}\nspec: {replicas: 2}\n';
const desired = ({
  manifest = DEPLOYMENT,
  ...more
}: Partial<DesiredRelease> & {manifest?: string} = {}): RenderedRelease => ({
  name: NAME,
  chart: {chart: 'agent-job', version: '0.6.5'},
  values: {a: 1},
  effective: {a: 1},
  explicitPaths: [],
  yaml: 'a: 1\n',
  manifest: objectsIn(manifest),
  secrets: [TOKEN],
  ...more,
});
const facts = (more: Partial<InstallFacts> = {}): InstallFacts => ({
  context: {name: 'c', cluster: 'c', server: 's'},
  serverVersion: 'v1.35.0',
  namespace: {metadata: {name: 'scalr'}},
  release: undefined,
  installed: [],
  drift: [],
  live: [],
  stopped: new Set(),
  secrets: new Map(),
  ...more,
});
const secret = (content: string, labels = {}) => ({
  metadata: {name: 'scalr-agent-token', labels},
  data: {token: Buffer.from(content).toString('base64')},
});
const release = (more: Partial<ReleaseRecord> = {}): ReleaseRecord => ({
  revision: 3,
  status: 'deployed',
  chart: 'agent-job-0.6.5',
  updated: '2026-11-22T12:00:00Z',
  values: {a: 1},
  defaults: {},
  manifest: '',
  isServerSide: false,
  ...more,
});
const plan = (given: RenderedRelease, found: InstallFacts, choices: Partial<InstallChoices> = {}) =>
  planInstall(given, found, {
    takesOver: false,
    timeoutMs: 600_000,
    drainTimeoutSeconds: 1800,
    now: new Date('2026-11-22T13:00:00Z'),
    ...choices,
  });
const ids = (given: RenderedRelease, found: InstallFacts): string[] =>
  plan(given, found).steps.map(({id}) => id);
const inPlace = {secrets: new Map([['scalr-agent-token', secret('hunter2')]]), release: release()};

const textOf = (step: Step | undefined): string => callText(step?.call as Call);

test('creates namespace, Secret and release on a first install, without secrets in arguments', () => {
  const {steps} = plan(desired(), facts({namespace: undefined}));
  expect(steps.map(({id}) => id)).toEqual(['namespace', 'secret/scalr-agent-token', 'release']);
  expect(JSON.stringify(steps.map(({call}) => argumentsOf(call)))).not.toContain('hunter2');
  expect(textOf(steps.at(-1))).toContain('--reset-values');
});

test('tells which content a Secret must have afterwards, so that it can be read again', () => {
  const {steps} = plan(desired(), facts());
  const stored = steps.flatMap(({stores}) => stores ?? []);
  expect(stored.map(({name, data}) => [name, data['token']?.reveal()])).toEqual([
    ['scalr-agent-token', 'hunter2'],
  ]);
  expect(JSON.stringify(steps.map(({stores}) => stores))).not.toContain('hunter2');
});

test('has no steps when the release is up to date', () => {
  expect(ids(desired(), facts(inPlace))).toEqual([]);
});

test.each<
  [
    what: string,
    given: Parameters<typeof desired>[0],
    found: Partial<InstallFacts>,
    steps: string[],
  ]
>([
  ['upgrades when the values change', {values: {a: 2}}, {}, ['release']],
  [
    'upgrades when the last revision failed',
    {},
    {release: release({status: 'failed'})},
    ['release'],
  ],
  [
    'applies only the Secret when the token changes',
    {},
    {secrets: new Map([['scalr-agent-token', secret('old', ownLabels('agent'))]])},
    ['secret/scalr-agent-token'],
  ],
  [
    'starts a Deployment that an uninstall stopped',
    {},
    {stopped: new Set(['Deployment agent-main'])},
    ['start/agent-main'],
  ],
  [
    'ignores a stopped Deployment of another release',
    {},
    {stopped: new Set(['Deployment another'])},
    [],
  ],
])('%s', (_, given, found, steps) => {
  expect(ids(desired(given), facts({...inPlace, ...found}))).toEqual(steps);
});

test('scales a stopped Deployment to the replicas of the chart', () => {
  const {steps} = plan(desired(), facts({...inPlace, stopped: new Set(['Deployment agent-main'])}));
  expect(textOf(steps[0])).toContain('scale deployment/agent-main --replicas=2');
});

describe('a token that changed', () => {
  const reading = (kind: string, name: string, image = 'a') => `---
kind: ${kind}
metadata: {name: ${name}}
spec:
  template:
    spec:
      containers: [{name: agent, image: ${image}, env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: scalr-agent-token, key: token}}}]}]
`;
  const manifest = `${reading('Deployment', 'main')}${reading('DaemonSet', 'worker')}---
kind: Deployment
metadata: {name: other}
spec: {template: {spec: {containers: [{name: a}], imagePullSecrets: [{name: scalr-agent-token}]}}}
---
kind: AgentTaskTemplate
metadata: {name: task}
spec: {template: {spec: {containers: [{name: a, envFrom: [{secretRef: {name: scalr-agent-token}}]}]}}}
`;
  const rotated = {
    ...inPlace,
    installed: objectsIn(manifest),
    secrets: new Map([['scalr-agent-token', secret('old', ownLabels('agent'))]]),
  };
  const restarts = ['restart/main', 'restart/worker', 'restarted/scalr-agent-token'];

  test('restarts the workloads that read it when they started, and no others', () => {
    const {steps} = plan(desired({manifest}), facts(rotated));
    expect(steps.map(({id}) => id)).toEqual(['secret/scalr-agent-token', ...restarts]);
    expect(textOf(steps[1])).toContain('kubectl rollout restart deployment/main ');
    expect(steps[1]?.title).toContain(
      'Restart Deployment main to load the new content of Secret scalr-agent-token',
    );
  });

  test('does not restart workloads that the upgrade or a start replaces', () => {
    const newImage = manifest.replace('image: a', 'image: b');
    const changed = {values: {a: 2}, manifest: newImage};
    expect(ids(desired(changed), facts(rotated))).toEqual([
      'secret/scalr-agent-token',
      'release',
      ...restarts.slice(1),
    ]);
    const failed = {...rotated, release: release({status: 'failed'})};
    expect(ids(desired(changed), facts(failed))).toEqual([
      'secret/scalr-agent-token',
      'release',
      ...restarts,
    ]);
    const another = {
      ...failed,
      installed: objectsIn(manifest.replaceAll('scalr-agent-token', 'another')),
    };
    expect(ids(desired(changed), facts(another))).toEqual(['secret/scalr-agent-token', 'release']);
    const stopped = {...rotated, stopped: new Set(['Deployment main'])};
    expect(ids(desired({manifest}), facts(stopped))).toEqual([
      'secret/scalr-agent-token',
      'start/main',
      ...restarts.slice(1),
    ]);
  });

  test('continues after an interruption before the restarts', () => {
    const {call} = plan(desired({manifest}), facts(rotated)).steps[0] as Step;
    const {metadata} = JSON.parse((call.input as Secret).reveal());
    const brokenOff = {
      ...rotated,
      secrets: new Map([['scalr-agent-token', {...secret('hunter2'), metadata}]]),
    };
    expect(ids(desired({manifest}), facts(brokenOff))).toEqual(restarts);
    const done = {
      ...rotated,
      secrets: new Map([['scalr-agent-token', secret('hunter2', ownLabels('agent'))]]),
    };
    expect(ids(desired({manifest}), facts(done))).toEqual([]);
  });
});

test('applies CRDs before the release, and only when the chart changes', () => {
  const manifest =
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: agenttasktemplates.scalr.io}\n';
  const older = {...inPlace, release: release({chart: 'agent-job-0.5.67'})};
  expect(ids(desired({manifest}), facts(older))).toEqual(['definitions', 'release']);
  expect(ids(desired({manifest, values: {a: 2}}), facts(inPlace))).toEqual(['release']);
});

describe('a change', () => {
  const claim = (name: string, more = '') =>
    `---\nkind: PersistentVolumeClaim\nmetadata: {name: ${name}${more}}\nspec: {volumeName: ${name}}\n`;
  const keep = ", annotations: {'helm.sh/resource-policy': keep}";
  const installed = objectsIn(
    `${claim('cache')}${claim('data')}${claim('kept', keep)}${claim('efs')}---\nkind: PersistentVolume\nmetadata: {name: efs}\n`,
  );
  const changed = (given: Parameters<typeof desired>[0]) =>
    plan(desired(given), facts({...inPlace, installed}));

  test('keeps PVCs that are no longer rendered, unless helm or their volume keeps the data', () => {
    const {keptClaims, steps} = changed({values: {a: 1, b: 2}, manifest: claim('data')});
    expect(keptClaims).toEqual(['cache']);
    expect(steps.map(({id}) => id)).toEqual(['keep/cache', 'release']);
    expect(textOf(steps[0])).toContain(
      'annotate persistentvolumeclaim/cache helm.sh/resource-policy=keep',
    );
    expect(changed({manifest: ''}).keptClaims).toEqual([]);
  });

  test('lists values that no explicit setting changes, without secrets', () => {
    const values = {
      replicas: 3,
      labels: {a: 'x'},
      extraEnv: {PASSWORD: 'hunter2'},
      count: 5,
      tag: 'old',
      same: true,
    };
    const found = facts({...inPlace, release: release({values})});
    const defaults = {count: 1, same: true};
    const changed = {tag: 'new', more: 1};
    const given = desired({
      values: changed,
      effective: {...defaults, ...changed},
      explicitPaths: [['tag'], ['more']],
    });
    expect(plan(given, found).lostValues).toEqual([
      {path: 'count', installed: 5, file: 1},
      {path: 'extraEnv.PASSWORD', installed: '[hidden]'},
      {path: 'labels.a', installed: 'x'},
      {path: 'replicas', installed: 3},
    ]);
  });
});

test('restores objects that are missing or changed in the cluster', () => {
  const drift = [
    {object: 'Role agent', problem: 'missing' as const, paths: []},
    {
      object: 'Deployment agent-main',
      problem: 'changed' as const,
      paths: ['spec.template.spec.containers[agent].image'],
    },
  ];
  const {steps} = plan(desired(), facts({...inPlace, drift}));
  expect(steps.map(({title}) => title)).toEqual([
    'Restore Role agent, Deployment agent-main (release agent)',
  ]);
  const scaled = [
    {object: 'Deployment agent-main', problem: 'changed' as const, paths: ['spec.replicas']},
  ];
  expect(
    ids(desired(), facts({...inPlace, drift: scaled, stopped: new Set(['Deployment agent-main'])})),
  ).toEqual(['start/agent-main']);
});

describe('a pending Helm operation', () => {
  const packed = gzipSync(JSON.stringify({info: {status: 'pending-upgrade'}})).toString('base64');
  const record = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'sh.helm.release.v1.agent.v3'},
    data: {release: Buffer.from(packed).toString('base64')},
  };

  test('is marked as failed before the upgrade', () => {
    const found = {...inPlace, release: release({status: 'pending-upgrade', record})};
    expect(ids(desired(), facts(found))).toEqual(['unlock', 'release']);
  });

  test('counts as running until it is older than the timeout, or taken over', () => {
    const found = facts({
      ...inPlace,
      release: release({
        status: 'pending-upgrade',
        description: 'Preparing upgrade',
        operator: 'helm-controller',
        record,
      }),
    });
    const now = new Date('2026-11-22T12:00:40Z');
    const busy = expect.objectContaining({
      code: 'RELEASE_BUSY',
      message:
        'Release agent is busy: pending-upgrade (revision 3) since 2026-11-22T12:00:00Z, 40s ago. The Helm client "helm-controller" started it ("Preparing upgrade") and may still be running.',
      suggestions: [
        'Wait until it ends, then run the same command again: helm history agent --namespace scalr',
        'If that operation no longer runs, add --take-over',
      ],
    });
    expect(() => plan(desired(), found, {now})).toThrow(busy);
    expect(plan(desired(), found, {now, takesOver: true}).steps.map(({id}) => id)).toEqual([
      'unlock',
      'release',
    ]);
    expect(plan(desired(), found, {now, timeoutMs: 30_000}).steps.map(({id}) => id)).toEqual([
      'unlock',
      'release',
    ]);
  });

  test('fails with a remedy when Helm does not store it in a Secret', () => {
    const found = facts({...inPlace, release: release({status: 'pending-install'})});
    expect(() => plan(desired(), found)).toThrow(expect.objectContaining({code: 'RELEASE_BUSY'}));
  });
});

test('refuses to overwrite a Secret of another owner', () => {
  const found = facts({secrets: new Map([['scalr-agent-token', secret('theirs')]])});
  expect(() => plan(desired(), found)).toThrow(
    expect.objectContaining({code: 'OBJECT_NOT_OWNED', exit: 2}),
  );
});

test('fails with all missing keys when a Secret neither exists nor was given', () => {
  const without = desired({secrets: [{...TOKEN, data: {token: undefined}}]});
  expect(() => plan(without, facts())).toThrow(
    expect.objectContaining({code: 'MISSING_SETTING', suggestions: ['Give the token']}),
  );
  const other = facts({
    secrets: new Map([['scalr-agent-token', {metadata: {name: 'x'}, data: {password: ''}}]]),
  });
  expect(() => plan(without, other)).toThrow('has no key token (existing keys: password)');
});

describe('a Secret with other content', () => {
  const found = (labels: object, more: Partial<InstallFacts> = {}) =>
    facts({
      ...inPlace,
      secrets: new Map([['scalr-agent-token', secret('other', labels)]]),
      ...more,
    });

  test.each<[whose: string, found: InstallFacts, message: RegExp]>([
    [
      'of a person',
      found({}),
      /Secret scalr-agent-token in scalr already exists with other content, and was not created by scalr-agent\./,
    ],
    [
      'of another release',
      found(ownLabels('b')),
      /already exists with other content, and belongs to release b\./,
    ],
    [
      'that another release reads',
      found(ownLabels('agent'), {
        secretUsers: new Map([['scalr-agent-token', ['Deployment b-agent-local']]]),
      }),
      /is also used by Deployment b-agent-local, so its content is not replaced\./,
    ],
  ])('%s is not written', (_, state, message) => {
    expect(() => plan(desired(), state)).toThrow(message);
    expect(() => plan(desired(), state)).toThrow(
      expect.objectContaining({
        code: 'OBJECT_NOT_OWNED',
        suggestions: expect.arrayContaining([
          'Use another Secret: --token-secret scalr-agent-token-2',
        ]),
      }),
    );
  });

  test('that pods of an unlisted kind may read is written with a warning', () => {
    const {warnings} = plan(
      desired(),
      found(ownLabels('agent'), {secretUsers: new Map(), unlistedUsers: ['cronjobs', 'pods']}),
    );
    const message =
      'Secret scalr-agent-token changes. Your Kubernetes user may not list cronjobs, pods, so it is unknown whether one of them uses it.';
    expect(warnings).toEqual([warningOf('SECRET_USERS', message)]);
  });

  test('is used without a change when its content is the given token', () => {
    expect(
      ids(
        desired(),
        facts({
          ...inPlace,
          secrets: new Map([['scalr-agent-token', secret('hunter2', ownLabels('b'))]]),
        }),
      ),
    ).toEqual([]);
  });
});

describe('labels and annotations of a Secret', () => {
  const metadata = {labels: {team: 'a'}, annotations: {'reloader/match': 'true'}};
  const given = desired({secrets: [{...TOKEN, metadata}]});
  const none = desired({secrets: [{...TOKEN, metadata: {labels: {}, annotations: {}}}]});
  const fieldsV1 = {
    'f:metadata': {
      'f:labels': {'f:team': {}, 'f:scalr.io/release': {}},
      'f:annotations': {'f:reloader/match': {}},
    },
  };
  const labeled = {
    metadata: {
      name: 'scalr-agent-token',
      labels: {...ownLabels('agent'), team: 'a', theirs: 'x'},
      annotations: {'reloader/match': 'true', theirs: 'x', 'scalr.io/token-id': 'at-1'},
      managedFields: [{manager: 'scalr-agent-install', operation: 'Apply', fieldsV1}],
    },
    data: secret('hunter2').data,
  };
  const found = (each: object) =>
    facts({...inPlace, secrets: new Map([['scalr-agent-token', each as typeof labeled]])});
  const applied = (from: RenderedRelease, state: InstallFacts) => {
    const [step] = plan(from, state).steps.filter(({id}) => id.startsWith('secret/'));
    return {title: step?.title, object: JSON.parse((step?.call.input as Secret).reveal())};
  };

  test('are part of a new Secret', () => {
    const {object} = applied(given, facts());
    expect(object.metadata).toMatchObject({
      labels: {team: 'a', 'scalr.io/release': 'agent'},
      annotations: {'reloader/match': 'true'},
    });
  });

  test('are added to an existing Secret of the release, and its content is kept', () => {
    const {title, object} = applied(given, found(secret('hunter2', ownLabels('agent'))));
    expect(title).toBe('Change labels and annotations of Secret scalr-agent-token');
    expect(object).toMatchObject({metadata: {labels: {team: 'a'}}, data: secret('hunter2').data});
    expect(ids(given, found(secret('hunter2', ownLabels('agent'))))).toEqual([
      'secret/scalr-agent-token',
    ]);
  });

  test('are applied only to the version of the Secret that was read, because its content is sent again', () => {
    const read = {...labeled, metadata: {...labeled.metadata, resourceVersion: '7'}};
    expect(applied(none, found(read)).object.metadata.resourceVersion).toBe('7');
    const rotated = desired({secrets: [{...TOKEN, data: {token: new Secret('new')}}]});
    expect(applied(rotated, found(read)).object.metadata.resourceVersion).toBeUndefined();
  });

  test('do not change when the Secret has them, whatever else others have added', () => {
    expect(ids(given, found(labeled))).toEqual([]);
  });

  test('are removed without their flags, except for those of others and of scalr-agent', () => {
    const {object} = applied(none, found(labeled));
    expect(object.metadata).toEqual({
      name: 'scalr-agent-token',
      labels: ownLabels('agent'),
      annotations: {'scalr.io/token-id': 'at-1'},
    });
  });

  test('remain when a command without these flags replaces the content', () => {
    const {object} = applied(
      desired({secrets: [{...TOKEN, data: {token: new Secret('new')}}]}),
      found(labeled),
    );
    expect(object).toMatchObject({
      metadata: {labels: {team: 'a'}, annotations: {'reloader/match': 'true'}},
      stringData: {token: 'new'},
    });
    expect(object.metadata.labels).not.toHaveProperty('theirs');
  });

  test('of a Secret of another owner are not changed', () => {
    expect(() => plan(given, found(secret('hunter2')))).toThrow(
      expect.objectContaining({
        code: 'OBJECT_NOT_OWNED',
        exit: 2,
        message:
          'Secret scalr-agent-token in scalr already exists with other labels or annotations, and was not created by scalr-agent.',
        suggestions: expect.arrayContaining([
          'To keep its labels and annotations, omit --secret-label and --secret-annotation',
        ]),
      }),
    );
    expect(
      ids(none, found({...labeled, metadata: {...labeled.metadata, labels: {team: 'a'}}})),
    ).toEqual([]);
  });
});

test('refuses a Secret that Helm deletes with the change, even with the same content', () => {
  const installed = objectsIn(
    'apiVersion: v1\nkind: Secret\nmetadata: {name: scalr-agent-token}\n',
  );
  expect(() => plan(desired({values: {a: 2}}), facts({...inPlace, installed}))).toThrow(
    /part of the installed release, and Helm deletes it/,
  );
});

test('warns before a given token replaces a rotated one, and not if the account creates it', () => {
  const rotated = secret('new', ownLabels('agent'));
  const metadata = {...rotated.metadata, annotations: {'scalr.io/token-rotated': '2026-11-01'}};
  const found = facts({
    ...inPlace,
    secrets: new Map([['scalr-agent-token', {...rotated, metadata}]]),
  });
  const codes = (secrets: RenderedRelease['secrets']) =>
    plan(desired({secrets}), found).warnings?.map(({code}) => code);
  const ofAccount = {...TOKEN, data: {token: PLACEHOLDER}};
  const made = {...TOKEN, annotations: {'scalr.io/token-id': 'at-1'}};
  expect(codes([TOKEN])).toContain('ROTATED_TOKEN');
  // Otherwise the plan with the created token would differ from the confirmed one.
  expect(codes([ofAccount])).toEqual(codes([made]));
  expect(codes([ofAccount])).not.toContain('ROTATED_TOKEN');
});

test('names Secrets that the release no longer uses, without those that Helm deletes', () => {
  const reads = (...secrets: string[]): string =>
    `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: agent-main}\nspec: {template: {spec: {volumes: [${secrets
      .map((each) => `{name: ${each}, secret: {secretName: ${each}}}`)
      .join(', ')}]}}}\n`;
  const made = 'apiVersion: v1\nkind: Secret\nmetadata: {name: made-by-chart}\n';
  const found = facts({
    ...inPlace,
    installed: objectsIn(`${reads('kept', 'client-cert', 'made-by-chart')}---\n${made}`),
  });
  const {warnings} = plan(desired({manifest: reads('kept'), values: {a: 2}}), found);
  expect(warnings).toEqual([
    warningOf(
      'UNUSED_SECRET',
      'Release agent no longer uses Secret client-cert, which remains with its content. When nothing else uses it: kubectl delete secret/client-cert --namespace scalr',
    ),
  ]);
});
