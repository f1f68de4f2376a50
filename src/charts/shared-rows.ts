import {
  at,
  getAt,
  isMap,
  itemsAt,
  type Path,
  sameTree,
  type Tree,
  textAt,
  type Values,
} from '../ground/tree.ts';
import {otelEndpoint, otelMetrics, otelTraces} from '../settings/agent.ts';
import type {Get, Setting} from '../settings/define.ts';
import {extraEnv} from '../settings/escape-hatch.ts';
import {type Mount, textMapIn} from '../settings/lists.ts';
import {httpProxy, httpsProxy, IN_CLUSTER, noProxy} from '../settings/network.ts';
import * as pods from '../settings/pods.ts';
import {
  cache,
  cacheAccessMode,
  cacheClaim,
  cacheSize,
  cacheStorageClass,
  cacheSubPath,
} from '../settings/storage.ts';
import {caFile, caPublicRoots, caScope, caSecret, caSecretKey} from '../settings/tls.ts';
import type {Row, Scope, ValuesEntry} from './define.ts';
import {compare} from './releases.ts';
import {
  asBase64,
  asMebibytes,
  asOnOff,
  behindSwitch,
  type Codec,
  implied,
  isWholeMebibytes,
  key,
  notWritten,
  row,
  variable,
} from './row-kinds.ts';
import {VARIABLES_OF_SETTINGS} from './shared-rules.ts';

const textIn = (values: Values, path: string | Path): string | undefined =>
  textAt(values, path) || undefined;

interface CacheKeys {
  /** Map that holds `enabled` and `persistentVolumeClaim`. */
  volume: string;
  /** Key of the limit of the ephemeral volume, where the version has one. */
  limit?: string;
  /** Additional keys for a PersistentVolumeClaim in this chart. */
  withClaim?: {paths: readonly Path[]; write(scope: Scope): readonly ValuesEntry[]};
}

const isNewClaim = (get: Get): boolean => get(cache) === 'pvc';
const isExistingClaim = (get: Get): boolean => get(cache) === 'existing-pvc';
const isEphemeral = (get: Get): boolean => (get(cache) ?? 'ephemeral') === 'ephemeral';

/** A cache on a new PersistentVolumeClaim, an existing one or an ephemeral volume. */
export const claimCache = ({volume, limit, withClaim}: CacheKeys): Row[] => {
  const enabled = at(`${volume}.enabled`);
  const claim = `${volume}.persistentVolumeClaim`;
  return [
    row({
      setting: cache,
      accepts: (kind) => kind === 'ephemeral' || kind === 'pvc' || kind === 'existing-pvc',
      paths: [enabled, ...(withClaim?.paths ?? [])],
      write: (kind, scope) =>
        kind === 'ephemeral'
          ? [[enabled, false]]
          : [[enabled, true], ...(withClaim?.write(scope) ?? [])],
      read: (values) => {
        if (getAt(values, enabled) !== true) return 'ephemeral';
        return textIn(values, `${claim}.claimName`) === undefined ? 'pvc' : 'existing-pvc';
      },
    }),
    key(cacheClaim, `${claim}.claimName`, {when: isExistingClaim}),
    key(cacheSize, `${claim}.storage`, {when: isNewClaim}),
    ...(limit === undefined ? [] : [key(cacheSize, limit, {when: isEphemeral})]),
    key(cacheStorageClass, `${claim}.storageClassName`, {
      when: isNewClaim,
      // docs/charts/upgrades.md, "A storage class of -": the templates break on it before 0.6.2.
      accepts: (name, {version}) => name !== '-' || compare(version, '0.6.2') >= 0,
    }),
    key(cacheAccessMode, `${claim}.accessMode`, {when: isNewClaim}),
    // Informational for an existing PersistentVolumeClaim; no template reads it.
    notWritten(cacheAccessMode, {when: isExistingClaim}),
    key(cacheSubPath, `${claim}.subPath`, {when: (get) => isNewClaim(get) || isExistingClaim(get)}),
  ];
};

const REPLACES =
  'The CA bundle replaces the public root certificates. If it contains only private CAs, public registries cannot be reached.';
const PUBLIC_ROOTS = '# Public root certificates\n';

/** CA bundle as PEM at `<path>.caBundle` or in an existing Secret at `<path>.caBundleSecret`. */
export const caBundleRows = (path: string): Row[] => {
  const inline = at(`${path}.caBundle`);
  const secretKey = `${path}.caBundleSecret.key`;
  return [
    key(caSecret, `${path}.caBundleSecret.name`),
    row({
      ...key(caSecretKey, secretKey),
      read: (values, {get}) =>
        get(caSecret) === undefined ? undefined : textIn(values, secretKey),
    }),
    implied(caPublicRoots, (values) => textIn(values, inline)?.includes(PUBLIC_ROOTS)),
    implied(
      caScope,
      (values, {get}) => ((get(caSecret) ?? textIn(values, inline)) ? 'all' : undefined),
      {
        accepts: (scope) => scope === 'all',
      },
    ),
    row({
      setting: caFile,
      paths: [inline],
      write: (pem, {get}) => [
        [inline, get(caPublicRoots) ? `${pem}${PUBLIC_ROOTS}${publicRoots().join('\n')}\n` : pem],
      ],
      read: (values) => textIn(values, inline)?.split(PUBLIC_ROOTS)[0],
      partly: (_, {get}) =>
        get(caPublicRoots) === undefined
          ? `${REPLACES} Add --ca-public-roots, or --no-ca-public-roots to keep only these CAs.`
          : undefined,
    }),
  ];
};

/** Loaded only when they are written, because every command knows the rows. */
const publicRoots = (): readonly string[] => process.getBuiltinModule('node:tls').rootCertificates;

/** Linux passes no environment string longer than this to a process (MAX_ARG_STRLEN, execve(2)). */
const MAX_VARIABLE_BYTES = 131_072;

/** CA bundle as base64 in one environment variable of the agent, which is too small for public root certificates. */
export const caVariable = (caRow: Row<string>): Row[] => [
  row({
    ...caRow,
    partly: (pem, scope) =>
      [
        caRow.partly?.(pem, scope),
        scope.get(caPublicRoots) === undefined
          ? `${REPLACES} The public root certificates do not fit in an environment variable. Add the required ones to the file, or set --no-ca-public-roots.`
          : undefined,
      ]
        .filter(Boolean)
        .join(' ') || undefined,
    accepts: (pem) => String(asBase64.write(pem)).length + 64 < MAX_VARIABLE_BYTES,
  }),
  implied(
    caPublicRoots,
    (values, scope) => (caRow.read(values, scope) === undefined ? undefined : false),
    {accepts: (asked) => !asked},
  ),
];

/** CA bundle in the extra variables, shared by the agent and its runs. */
export const caExtraVariable = (options: Pick<Row<string>, 'partly'> = {}): Row[] => [
  ...caVariable(
    variable(caFile, {map: 'extraEnv', name: 'SCALR_AGENT_CA_CERT', as: asBase64, ...options}),
  ),
  implied(
    caScope,
    (values) => (getAt(values, at('extraEnv.SCALR_AGENT_CA_CERT')) ? 'all' : undefined),
    {
      accepts: (scope) => scope === 'all',
    },
  ),
];

const asNoProxy = (internal: readonly string[]): Codec<string[]> => ({
  write: (entries) => [...entries, ...internal].join(','),
  read: (tree) =>
    typeof tree === 'string' && tree !== ''
      ? tree.split(',').filter((entry) => !internal.includes(entry))
      : undefined,
});

/** Proxy settings as extra environment variables. */
export const proxyVariables = (
  map: string,
  options: Pick<Row<string>, 'partly'> = {},
  internal = IN_CLUSTER,
): Row[] => [
  variable(httpProxy, {map, name: 'HTTP_PROXY', ...options}),
  variable(httpsProxy, {map, name: 'HTTPS_PROXY', ...options}),
  variable(noProxy, {map, name: 'NO_PROXY', as: asNoProxy(internal)}),
];

/** Proxy keys, ignored unless the proxy is enabled. */
export const proxyKeys = (path: string): Row[] =>
  behindSwitch(`${path}.enabled`, [
    key(httpProxy, `${path}.httpProxy`),
    key(httpsProxy, `${path}.httpsProxy`),
    key(noProxy, `${path}.noProxy`, {as: asNoProxy(IN_CLUSTER)}),
  ]);

/** OpenTelemetry settings as extra environment variables (agent-local 0.6.5, README, "Metrics and observability"). */
export const telemetryVariables = (map: string): Row[] => [
  variable(otelEndpoint, {map, name: 'SCALR_AGENT_OTLP_ENDPOINT'}),
  variable(otelMetrics, {
    map,
    name: 'SCALR_AGENT_OTLP_METRICS_ENABLED',
    as: asOnOff('true', 'false'),
  }),
  variable(otelTraces, {
    map,
    name: 'SCALR_AGENT_OTLP_TRACES_ENABLED',
    as: asOnOff('true', 'false'),
  }),
];

/** CPU request, CPU limit, memory request and memory limit of a container, at `<path>.requests` and `<path>.limits`. */
export const resourceRows = (
  sizes: readonly Setting<string>[],
  path: string,
  options: Pick<Row<string>, 'partly'> = {},
): Row[] =>
  sizes.map((setting, index) =>
    key(
      setting,
      `${path}.${index % 2 === 0 ? 'requests' : 'limits'}.${index < 2 ? 'cpu' : 'memory'}`,
      options,
    ),
  );

/** Settings of resourceRows. */
export const RUN_SIZES = [
  pods.runCpuRequest,
  pods.runCpuLimit,
  pods.runMemoryRequest,
  pods.runMemoryLimit,
];
export const WORKER_SIZES = [
  pods.workerCpuRequest,
  pods.workerCpuLimit,
  pods.workerMemoryRequest,
  pods.workerMemoryLimit,
];
export const CONTROLLER_SIZES = [
  pods.controllerCpuRequest,
  pods.controllerCpuLimit,
  pods.controllerMemoryRequest,
  pods.controllerMemoryLimit,
];

/** Settings of a PersistentVolumeClaim for the cache. */
export const CLAIM_SETTINGS = [
  cacheClaim,
  cacheSize,
  cacheStorageClass,
  cacheAccessMode,
  cacheSubPath,
];

/** `what` completes "… in whole mebibytes". */
export const inMebibytes =
  (what: string): NonNullable<Row<string>['partly']> =>
  (value) =>
    isWholeMebibytes(value)
      ? undefined
      : `${what} in whole mebibytes: ${value} becomes ${asMebibytes.read(asMebibytes.write(value))}.`;

/** The limit of a cache in a variable of the agent. */
export const cacheLimit = {
  as: asMebibytes,
  partly: inMebibytes('The agent requires the cache limit'),
};

/** Pod labels without the label of Azure Workload Identity, which has its own setting. */
export const podLabels = (path: string, options: Pick<Row<object>, 'in' | 'partly'> = {}): Row =>
  row({
    setting: pods.podLabel,
    paths: [at(path)],
    write: (labels) =>
      Object.entries(labels).map(([label, value]) => [[...at(path), label], value] as const),
    read: (values) => {
      const {[pods.AZURE_LABEL]: _, ...others} = mapAt(values, path) as Values;
      return textMapIn(others);
    },
    ...options,
  });

const CREATE = at('serviceAccount.create');
const NAME = at('serviceAccount.name');
const ANNOTATIONS = at('serviceAccount.annotations');

/**
 * A name alone is an account that exists; annotations need one that the chart creates, under the name if there is one:
 * without `serviceAccount.create` all three charts drop them.
 */
export const serviceAccount = (options: Pick<Row<string>, 'partly'> = {}): Row[] => [
  row({
    setting: pods.serviceAccountName,
    paths: [CREATE, NAME],
    write: (name, {get}) => [
      [CREATE, get(pods.serviceAccountAnnotation) !== undefined],
      [NAME, name],
    ],
    read: (values) => textIn(values, NAME),
    ...options,
  }),
  row({
    setting: pods.serviceAccountAnnotation,
    paths: [CREATE, ANNOTATIONS],
    write: (map) => [
      [CREATE, true],
      [ANNOTATIONS, {...map}],
    ],
    read: (values) =>
      getAt(values, CREATE) === true ? textMapIn(getAt(values, ANNOTATIONS) ?? {}) : undefined,
  }),
];

interface VariableMap {
  path: string;
  /** Filter for variable names (default: all). */
  takes?: (name: string) => boolean;
}

/** Extra variables of the agent, without those that have a setting. */
export const extraVariables = (
  maps: readonly VariableMap[],
  {
    own = VARIABLES_OF_SETTINGS,
    ...options
  }: Pick<Row<object>, 'partly'> & {own?: ReadonlyMap<string, string>} = {},
): Row =>
  row({
    setting: extraEnv,
    paths: maps.map(({path}) => at(path)),
    write: (given) =>
      maps.flatMap(({path, takes = () => true}) =>
        Object.entries(given)
          .filter(([name]) => takes(name))
          .map(([name, value]) => [[...at(path), name], value] as const),
      ),
    read: (values) => {
      const found = maps.flatMap(({path}) => Object.entries(mapAt(values, path)));
      const free = found.filter(([name, value]) => typeof value === 'string' && !own.has(name)) as [
        string,
        string,
      ][];
      return free.length === 0
        ? undefined
        : Object.fromEntries(free.toSorted(([one], [other]) => (one < other ? -1 : 1)));
    },
    ...options,
  });

function mapAt(values: Values, path: string): object {
  const map = getAt(values, at(path));
  return isMap(map) ? map : {};
}

/** Where a volume of a kind has the name of its object. */
const NAMES: Readonly<Record<Mount['kind'], readonly [string, string]>> = {
  secret: ['secret', 'secretName'],
  configmap: ['configMap', 'name'],
  pvc: ['persistentVolumeClaim', 'claimName'],
};

const volumeOf = ({kind, name}: Mount): string =>
  `${kind}-${name.replaceAll('.', '-')}`.slice(0, 63).replace(/-+$/, '');

/** Volumes of the pod, and their mounts in one container. */
export const mountRow = (volumes: string, volumeMounts: string): Row<Mount[]> => {
  const write = (all: readonly Mount[]): [Tree[], Tree[]] => {
    const once = new Map(
      all.map((each) => [
        volumeOf(each),
        {name: volumeOf(each), [NAMES[each.kind][0]]: {[NAMES[each.kind][1]]: each.name}},
      ]),
    );
    const mounts = all.map((each) => ({
      name: volumeOf(each),
      mountPath: each.path,
      ...(each.kind === 'pvc' ? {} : {readOnly: true}),
    }));
    return [[...once.values()], mounts];
  };
  return row({
    setting: pods.mount,
    paths: [at(volumes), at(volumeMounts)],
    write: (all) =>
      write(all).map((tree, index) => [at(index === 0 ? volumes : volumeMounts), tree] as const),
    read: (values) => {
      const found = [itemsAt(values, volumes), itemsAt(values, volumeMounts)] as const;
      const all = found[1].filter(isMap).flatMap((target) => {
        const source =
          found[0].filter(isMap).find(({name}) => name === target['name']) ?? ({} as Values);
        return (Object.keys(NAMES) as Mount['kind'][])
          .map(
            (kind): Mount => ({
              kind,
              name: textAt(source, NAMES[kind]),
              path: textAt(target, ['mountPath']),
            }),
          )
          .filter(({name}) => name !== '');
      });
      // Other fields, such as a sub path, have no setting.
      return all.length > 0 && sameTree(write(all), found) ? all : undefined;
    },
  });
};
