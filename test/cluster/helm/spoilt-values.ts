import {closedSchema, type SchemaNode, schemaOf} from '../../../src/charts/releases/schema.ts';
import type {Target} from '../../../src/charts/releases/target.ts';
import {isMap, mergeValues, setAt, type Tree, type Values} from '../../../src/ground/tree.ts';
import {certificates} from '../../support/certificates.ts';

type TreePath = readonly (string | number)[];

const PEM = String(certificates['ca.pem']);
const SELECTOR = {
  matchLabels: {app: 'x'},
  matchExpressions: [{key: 'tier', operator: 'In', values: ['a']}],
};
const TERM = {
  matchExpressions: [
    {key: 'zone', operator: 'In', values: ['a']},
    {key: 'cpus', operator: 'Gt', values: ['4']},
  ],
};
const POD_TERM = {
  labelSelector: SELECTOR,
  topologyKey: 'kubernetes.io/hostname',
  namespaces: ['x'],
  namespaceSelector: {},
};

/** A valid, full value of each Kubernetes type in the charts. */
const RIGHT: Readonly<Record<string, Tree>> = {
  Labels: {team: 'infra', 'example.com/zone': 'a-1'},
  Annotations: {'example.com/note': 'Some text: with "quotes"'},
  ResourceRequirements: {
    requests: {cpu: '250m', memory: '256Mi', 'ephemeral-storage': '1Gi'},
    limits: {cpu: 4, memory: '2Gi', 'ephemeral-storage': '2Gi', 'nvidia.com/gpu': 1},
  },
  'Toleration[]': [
    {
      key: 'dedicated',
      operator: 'Equal',
      value: 'scalr',
      effect: 'NoExecute',
      tolerationSeconds: 60,
    },
    {operator: 'Exists'},
  ],
  Affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [TERM]},
      preferredDuringSchedulingIgnoredDuringExecution: [{weight: 10, preference: TERM}],
    },
    podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [POD_TERM]},
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: POD_TERM}],
    },
  },
  PodSecurityContext: {
    runAsNonRoot: true,
    runAsUser: 1000,
    runAsGroup: 1000,
    fsGroup: 1000,
    fsGroupChangePolicy: 'OnRootMismatch',
    supplementalGroups: [2000],
    supplementalGroupsPolicy: 'Merge',
    sysctls: [{name: 'net.ipv4.tcp_syncookies', value: '1'}],
    seLinuxOptions: {level: 's0:c123,c456'},
    seccompProfile: {type: 'RuntimeDefault'},
    appArmorProfile: {type: 'RuntimeDefault'},
  },
  SecurityContext: {
    runAsNonRoot: true,
    runAsUser: 1000,
    runAsGroup: 1000,
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    procMount: 'Default',
    capabilities: {drop: ['ALL'], add: ['NET_ADMIN']},
    seccompProfile: {type: 'Localhost', localhostProfile: 'profiles/x.json'},
  },
  'Volume[]': [
    {name: 'scratch', emptyDir: {medium: 'Memory', sizeLimit: '1Gi'}},
    {
      name: 'config',
      configMap: {
        name: 'tools',
        defaultMode: 420,
        optional: true,
        items: [{key: 'a', path: 'b/c', mode: 256}],
      },
    },
    {name: 'keys', secret: {secretName: 'keys', items: [{key: 'a', path: 'a'}]}},
    {name: 'node', hostPath: {path: '/mnt/x', type: 'Directory'}},
    {name: 'claim', persistentVolumeClaim: {claimName: 'tools', readOnly: true}},
    {name: 'nfs', nfs: {server: 'nfs.example.com', path: '/x', readOnly: true}},
    {
      name: 'csi',
      csi: {
        driver: 'secrets-store.csi.k8s.io',
        readOnly: true,
        volumeAttributes: {secretProviderClass: 'x'},
      },
    },
    {
      name: 'info',
      downwardAPI: {items: [{path: 'labels', fieldRef: {fieldPath: 'metadata.labels'}}]},
    },
    {
      name: 'all',
      projected: {
        defaultMode: 420,
        sources: [
          {secret: {name: 'x', items: [{key: 'a', path: 'x/a'}]}},
          {configMap: {name: 'y'}},
          {serviceAccountToken: {path: 'token', audience: 'vault', expirationSeconds: 3600}},
        ],
      },
    },
    {
      name: 'own',
      ephemeral: {
        volumeClaimTemplate: {
          metadata: {labels: {a: 'b'}},
          spec: {
            accessModes: ['ReadWriteOnce'],
            storageClassName: 'fast',
            resources: {requests: {storage: '1Gi'}},
          },
        },
      },
    },
    {name: 'image', image: {reference: 'example.com/tools:1', pullPolicy: 'IfNotPresent'}},
  ],
  'VolumeMount[]': [
    {name: 'scratch', mountPath: '/scratch'},
    {name: 'config', mountPath: '/etc/tools', subPath: 'tools', readOnly: true},
    {name: 'node', mountPath: '/node', mountPropagation: 'HostToContainer'},
  ],
  'TopologySpreadConstraint[]': [
    {
      maxSkew: 1,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'DoNotSchedule',
      minDomains: 2,
      labelSelector: SELECTOR,
    },
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
      nodeTaintsPolicy: 'Honor',
    },
  ],
  'LocalObjectReference[]': [{name: 'registry'}],
  'EnvVar[]': [
    {name: 'PLAIN', value: 'x'},
    {name: 'FROM_SECRET', valueFrom: {secretKeyRef: {name: 'x', key: 'y', optional: true}}},
    {name: 'FROM_CONFIG', valueFrom: {configMapKeyRef: {name: 'x', key: 'y'}}},
    {name: 'FROM_FIELD', valueFrom: {fieldRef: {fieldPath: 'status.podIP'}}},
    {
      name: 'FROM_RESOURCE',
      valueFrom: {
        resourceFieldRef: {containerName: 'controller', resource: 'limits.cpu', divisor: '1m'},
      },
    },
  ],
  'EnvFromSource[]': [
    {prefix: 'X_', configMapRef: {name: 'x', optional: true}},
    {secretRef: {name: 'y'}},
  ],
  'PolicyRule[]': [
    {apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: ['x']},
    {apiGroups: ['scalr.io'], resources: ['*'], verbs: ['*']},
  ],
  'Container[]': [
    {
      name: 'proxy',
      image: 'example.com/proxy:1',
      imagePullPolicy: 'Always',
      command: ['proxy'],
      args: ['--port', '8080'],
      workingDir: '/tmp',
      env: [{name: 'A', value: 'b'}],
      envFrom: [{configMapRef: {name: 'x'}}],
      ports: [{name: 'http', containerPort: 8080, protocol: 'TCP'}],
      resources: {requests: {cpu: '10m'}, limits: {cpu: '20m', memory: '64Mi'}},
      volumeMounts: [{name: 'scratch', mountPath: '/scratch'}],
      readinessProbe: {
        httpGet: {path: '/', port: 8080, scheme: 'HTTP', httpHeaders: [{name: 'X-A', value: 'b'}]},
        periodSeconds: 5,
      },
      livenessProbe: {exec: {command: ['true']}, failureThreshold: 3, timeoutSeconds: 1},
      startupProbe: {tcpSocket: {port: 'http'}, initialDelaySeconds: 5},
      lifecycle: {preStop: {exec: {command: ['sleep', '5']}}},
      securityContext: {runAsUser: 1000, capabilities: {drop: ['ALL']}},
      terminationMessagePolicy: 'File',
    },
  ],
};

/** Valid values of other keys: the first layer creates PVCs and certificates, the second uses existing ones. */
const SHARED: Values = {
  replicaCount: 2,
  strategy: {type: 'RollingUpdate', rollingUpdate: {maxSurge: 1, maxUnavailable: '50%'}},
  terminationGracePeriodSeconds: 4000,
  extraEnv: {HTTPS_PROXY: 'http://proxy:3128', EMPTY: ''},
  serviceAccount: {create: true},
  worker: {runner: {image: {tag: '1.2.3'}}},
};
const OWN: Values = {
  ...SHARED,
  agent: {
    token: 'abc',
    url: 'https://acme.scalr.io',
    data_home: '/var/lib/scalr',
    extraEnv: {A: 'b'},
    ca_cert: '/etc/ssl/ca.pem',
    providerCache: {enabled: true, sizeLimit: '10Gi'},
    moduleCache: {enabled: true, sizeLimit: '10Gi'},
    providerNetworkMirrors: [{url: 'https://mirror.example.com/', include: ['*/*'], token: 'abc'}],
    replicaCount: 2,
    tls: {caBundle: PEM, clientCert: PEM, clientKey: PEM},
  },
  global: {
    proxy: {
      enabled: true,
      httpProxy: 'http://proxy:3128',
      httpsProxy: 'http://proxy:3128',
      noProxy: '.svc,.cluster.local',
    },
    tls: {caBundle: PEM, clientCert: PEM, clientKey: PEM},
    imageRegistry: 'registry.example.com',
  },
  task: {worker: {extraEnv: {B: 'c'}}, runner: {extraEnv: {TF_VAR_x: '1'}}},
  persistence: {
    cache: {
      enabled: true,
      persistentVolumeClaim: {
        storageClassName: 'fast',
        storage: '90Gi',
        accessMode: 'ReadWriteMany',
        subPath: 'a/b',
      },
    },
  },
  efsVolumeHandle: 'fs-0123456789abcdef0',
  otel: {enabled: true, endpoint: 'otel-collector:4317'},
};
const EXISTING: Values = {
  ...SHARED,
  agent: {
    url: 'https://acme.scalr.io',
    tokenExistingSecret: {name: 'scalr', key: 'token'},
    tls: {clientCertSecret: {name: 'tls'}, caBundleSecret: {name: 'ca'}},
  },
  global: {tls: {clientCertSecret: {name: 'tls'}, caBundleSecret: {name: 'ca'}}},
  serviceAccount: {create: true, name: 'scalr'},
  fullnameOverride: 'scalr',
  persistence: {
    cache: {
      enabled: true,
      hostPath: {path: '/mnt/cache/x'},
      persistentVolumeClaim: {accessMode: 'ReadWriteMany'},
    },
  },
  restrictMetadataService: true,
};

/** All keys of one chart version in a valid file, with created or existing PVCs and certificates. */
export function rightValues(target: Target, kind: 'own' | 'existing'): Values {
  const values: Values = {};
  const desired = kind === 'own' ? OWN : EXISTING;
  const walk = (node: SchemaNode, given: Tree | undefined, path: readonly string[]): void => {
    const type = node['x-kubernetes'];
    if (type !== undefined) {
      if (RIGHT[type] !== undefined) setAt(values, path, structuredClone(RIGHT[type]));
    } else if (node.properties) {
      for (const [key, child] of Object.entries(node.properties))
        walk(child, isMap(given) ? given[key] : undefined, [...path, key]);
    } else if (given !== undefined) {
      // agent-k8s and early versions of agent-job reference a Secret by a plain name.
      const isText = [node, ...(node.anyOf ?? [])].some((each) => each.type === 'string');
      const text = isMap(given) && isText ? given['name'] : given;
      if (text !== undefined) setAt(values, path, structuredClone(text));
    }
  };
  walk(closedSchema(schemaOf(target), target.version), desired, []);
  return values;
}

/** Values that are invalid at most paths and valid at some. */
const ODD: readonly Tree[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  7,
  1.5,
  100,
  65536,
  1e6,
  3e9,
  1e20,

  '',
  ' ',
  'a b',
  ' a',
  'ABC',
  'abc',
  'a:b',
  'a: b',
  'x #y',
  'a\nb',
  'a\n',
  'a"b',
  "a'b",
  'a\\b',
  'ünï',
  '{x',
  '[x',
  '*x',
  '&x',
  '- x',

  '-',
  '~',
  '%',
  '@x',
  '!x',
  '`',
  'null',
  'true',
  'no',
  '1',
  '4000',
  '010',
  '1e3',
  '1_000',
  '0x1f',
  '2020-01-01',
  '12:30',
  '1.10',

  '1Gi',
  '1.5Gi',
  '40 Gi',
  '512MB',
  '100m',
  '0.5',
  '25%',
  '150%',
  '-1Gi',
  '1E',
  'x'.repeat(64),
  'x'.repeat(254),

  '/a',
  '/',
  '/a/../b',
  '../x',
  'a/b',
  'a/',
  '/a:b',
  'a_b',
  'a.b',
  '.a',
  '-a',
  'a-',
  '../..',
  'https://x.example.com',
  'tcp://x:1',
  '$(X)',

  [],
  ['a'],
  [''],
  ['a', 'a'],
  [1],
  [null],
  [{}],
  [['a']],
  [{name: 'a'}],
  [{name: 'a'}, {name: 'a'}],

  {},
  {a: 'b'},
  {a: 1},
  {a: true},
  {a: null},
  {a: ''},
  {a: {b: 'c'}},
  {a: ['b']},
  {'a b': 'c'},
  {'': 'c'},
  {A_1: 'b'},
  {'a/b/c': 'd'},
  {a: 'b c'},
  {'1a': 'b'},
  {name: 'a'},
];

/** One modification of a valid file. */
export interface Spoilt {
  path: TreePath;
  how: string;
  /** Values after the modification. */
  values(): Values;
}

/** All modifications of a valid file; `defaults` are the chart defaults. */
export function spoilings(right: Values, defaults: Values): Spoilt[] {
  const whole = mergeValues(defaults, right);
  return placesOf(whole).flatMap((path) => {
    const here = at(whole, path);
    const change = (how: string, where: TreePath, value: Tree | undefined): Spoilt => ({
      path: where,
      how,
      values: () => withAt(withLists(right, whole, path), where, value),
    });
    return [
      ...ODD.map((odd) => change(JSON.stringify(odd), path, odd)),
      ...(at(right, path) === undefined ? [] : [change('taken away', path, undefined)]),
      ...(Array.isArray(here) && here.length > 0
        ? [change('an item twice', path, [...here, here[0] as Tree])]
        : []),
      ...(isMap(here) ? [change('unknown', [...path, 'bogus'], 1)] : []),
    ];
  });
}

const at = (tree: Tree | undefined, path: TreePath): Tree | undefined =>
  path.reduce<Tree | undefined>(
    (node, key) => (Array.isArray(node) ? node[Number(key)] : isMap(node) ? node[key] : undefined),
    tree,
  );

/** All paths of a tree, including list items. */
function placesOf(tree: Tree, path: TreePath = []): TreePath[] {
  const below: [string | number, Tree][] = Array.isArray(tree)
    ? [...tree.entries()]
    : isMap(tree)
      ? Object.entries(tree)
      : [];
  return [
    ...(path.length > 0 ? [path] : []),
    ...below.flatMap(([key, each]) => placesOf(each, [...path, key])),
  ];
}

/** A list replaces the whole default, so a file that changes one item contains all items. */
function withLists(right: Values, whole: Values, path: TreePath): Values {
  const length = path.findIndex((_, index) => Array.isArray(at(whole, path.slice(0, index))));
  const list = path.slice(0, length);
  return length > 0 && at(right, list) === undefined ? withAt(right, list, at(whole, list)) : right;
}

/** Copy with another value at a path; undefined removes the key. */
export function withAt<T extends Tree>(
  tree: T,
  [key, ...rest]: TreePath,
  value: Tree | undefined,
): T {
  const copy = structuredClone(tree);
  const holder = rest.length === 0 ? copy : undefined;
  if (holder === undefined) {
    const below = at(copy, [key as string]) ?? {};
    (copy as Values)[key as string] = withAt(
      isMap(below) || Array.isArray(below) ? below : {},
      rest,
      value,
    );
  } else if (value !== undefined) (copy as Values)[key as string] = value;
  else if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete (copy as Values)[key as string];
  return copy;
}
