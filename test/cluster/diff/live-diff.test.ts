import {describe, expect, test} from 'vitest';
import {comparePaths, liveView} from '../../../src/cluster/diff/live-diff.ts';

const rendered = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {name: 'agent', labels: {app: 'agent'}},
  spec: {
    replicas: 1,
    template: {
      spec: {
        serviceAccountName: 'agent',
        automountServiceAccountToken: false,
        nodeSelector: {},
        tolerations: null,
        containers: [
          {
            name: 'agent',
            image: 'scalr/agent:1',
            resources: {limits: {cpu: '1000m', memory: '2Gi'}},
            env: [
              {name: 'A', value: ''},
              {name: 'B', value: '1'},
            ],
          },
        ],
      },
    },
  },
};

/** As the API server returns it: with defaults, other spellings and what controllers add. */
const live = () => ({
  ...rendered,
  metadata: {
    ...rendered.metadata,
    annotations: {'deployment.kubernetes.io/revision': '3'},
    managedFields: [] as object[],
  },
  spec: {
    ...rendered.spec,
    revisionHistoryLimit: 10,
    template: {
      metadata: {annotations: {'kubectl.kubernetes.io/restartedAt': 'now'}},
      spec: {
        serviceAccountName: 'agent',
        serviceAccount: 'agent',
        automountServiceAccountToken: false,
        containers: [
          {
            name: 'agent',
            image: 'scalr/agent:1',
            imagePullPolicy: 'IfNotPresent',
            resources: {limits: {cpu: '1', memory: '2Gi'}},
            env: [{name: 'A'}, {name: 'B', value: '1'}],
          },
        ],
      },
    },
  },
});

// biome-ignore lint/suspicious/noExplicitAny: changes that no type of a valid object allows
type Mutable = any;

const compared = (change: (object: Mutable) => unknown): ReturnType<typeof comparePaths> => {
  const object = structuredClone(live());
  change(object);
  return comparePaths(rendered, object as Parameters<typeof comparePaths>[1]);
};
const CONTAINER = 'spec.template.spec.containers[agent]';

test('finds nothing in what defaults and controllers add', () => {
  expect(compared(() => undefined)).toEqual({changed: [], added: []});
});

test.each<[string, string, (object: Mutable) => unknown]>([
  [
    'an image',
    `${CONTAINER}.image`,
    ({spec}) => (spec.template.spec.containers[0].image = 'scalr/agent:2'),
  ],
  [
    'a limit',
    `${CONTAINER}.resources.limits.cpu`,
    ({spec}) => (spec.template.spec.containers[0].resources.limits.cpu = '2'),
  ],
  [
    'a variable',
    `${CONTAINER}.env[B].value`,
    ({spec}) => (spec.template.spec.containers[0].env[1].value = '2'),
  ],
  [
    'a switch that is off',
    'spec.template.spec.automountServiceAccountToken',
    ({spec}) => (spec.template.spec.automountServiceAccountToken = true),
  ],
  ['a number', 'spec.replicas', ({spec}) => (spec.replicas = 0)],
  ['a label', 'metadata.labels.app', ({metadata}) => delete metadata.labels.app],
])('finds %s that was changed', (_, path, change) => {
  expect(compared(change)).toEqual({changed: [path], added: []});
});

describe('a field that the manifest does not have', () => {
  const fieldsV1 = {
    'f:spec': {'f:template': {'f:spec': {'f:hostNetwork': {}, 'f:nodeSelector': {'f:a': {}}}}},
  };

  test('counts when a user set it with kubectl', () => {
    expect(
      compared(({metadata}) => metadata.managedFields.push({manager: 'kubectl-patch', fieldsV1})),
    ).toEqual({
      changed: [],
      added: ['spec.template.spec.hostNetwork', 'spec.template.spec.nodeSelector.a'],
    });
  });

  test('does not count when a controller or a rollout set it', () => {
    const annotations = {
      'f:spec': {
        'f:template': {
          'f:metadata': {'f:annotations': {'f:kubectl.kubernetes.io/restartedAt': {}}},
        },
      },
    };
    expect(
      compared(({metadata}) =>
        metadata.managedFields.push(
          {manager: 'some-webhook', fieldsV1},
          {manager: 'kubectl-rollout', fieldsV1: annotations},
        ),
      ),
    ).toEqual({changed: [], added: []});
  });

  test('counts when it is one more variable', () => {
    expect(
      compared(({spec}) => spec.template.spec.containers[0].env.push({name: 'C', value: 'c'})),
    ).toEqual({
      changed: [],
      added: [`${CONTAINER}.env[C]`],
    });
  });
});

test('tells mounts of one volume apart by their paths', () => {
  const pod = (...paths: string[]) => ({
    kind: 'Deployment',
    metadata: {name: 'a'},
    spec: {
      containers: [
        {
          name: 'run',
          volumeMounts: paths.map((mountPath) => ({
            name: 'data',
            mountPath,
            subPath: `of${mountPath}`,
          })),
        },
      ],
    },
  });
  expect(comparePaths(pod('/a', '/b'), pod('/b', '/a'))).toEqual({changed: [], added: []});
  expect(comparePaths(pod('/a', '/b'), pod('/a', '/c'))).toEqual({
    changed: ['mountPath', 'name', 'subPath'].map(
      (field) => `spec.containers[run].volumeMounts[/b].${field}`,
    ),
    added: ['spec.containers[run].volumeMounts[/c]'],
  });
});

test('compares a Secret by its content, and a claim not by its size', () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'a'},
    stringData: {token: 'x'},
  };
  const stored = (token: string) => ({
    kind: 'Secret',
    metadata: {name: 'a'},
    data: {token: Buffer.from(token).toString('base64')},
  });
  const changed = (object: object, stored: object) =>
    comparePaths(object as never, stored as never).changed;
  expect(changed(secret, stored('x'))).toEqual([]);
  expect(changed(secret, stored('y'))).toEqual(['data.token']);
  const claim = (storage: string) => ({
    kind: 'PersistentVolumeClaim',
    metadata: {name: 'a'},
    spec: {resources: {requests: {storage}}},
  });
  expect(changed(claim('20Gi'), claim('50Gi'))).toEqual([]);
});

describe('the view of a live object', () => {
  const viewed = (change: (object: Mutable) => unknown): ReturnType<typeof liveView> => {
    const object = structuredClone(live());
    change(object);
    return liveView(rendered, object as Parameters<typeof liveView>[1]);
  };

  test('is the manifest where nothing was changed', () => {
    expect(viewed(() => undefined)).toEqual(rendered);
  });

  test('has what was changed, and lacks what was removed or added', () => {
    const object = viewed(({metadata, spec}) => {
      metadata.labels.app = 'other';
      spec.replicas = 0;
      spec.paused = true;
      const [container] = spec.template.spec.containers;
      container.image = 'scalr/agent:2';
      container.env = [{name: 'B', value: '1'}, {name: 'C'}];
    });
    const expected: Mutable = structuredClone(rendered);
    expected.metadata.labels.app = 'other';
    expected.spec.replicas = 0;
    expected.spec.template.spec.containers[0].image = 'scalr/agent:2';
    expected.spec.template.spec.containers[0].env = [{name: 'B', value: '1'}];
    expect(object).toEqual(expected);
  });

  test('lacks what is gone as a whole', () => {
    const binding = {
      kind: 'RoleBinding',
      metadata: {name: 'a', labels: {app: 'a'}},
      subjects: [{kind: 'User', name: 'b'}],
    };
    expect(liveView(binding, {kind: 'RoleBinding', metadata: {name: 'a'}})).toEqual({
      kind: 'RoleBinding',
      metadata: {name: 'a'},
    });
  });

  test('of a claim has the size of its manifest', () => {
    const claim = (storage: string, mode: string) => ({
      kind: 'PersistentVolumeClaim',
      metadata: {name: 'a'},
      spec: {accessModes: [mode], resources: {requests: {storage}}},
    });
    expect(liveView(claim('20Gi', 'ReadWriteOnce'), claim('50Gi', 'ReadWriteMany'))).toEqual(
      claim('20Gi', 'ReadWriteMany'),
    );
  });
});
