import {getAt, leafPaths, type Path, sameTree, type Tree, type Values} from '../ground/tree.ts';
import {type ChartSchema, type Leaf, leavesOf, type SchemaNode} from './releases/schema.ts';
import {compare, type Release, rangeOf} from './releases/versions.ts';

interface Known {
  release: Release;
  leaves: readonly Leaf[];
}

const KUBERNETES_TYPES: readonly [RegExp, string][] = [
  [/(^|\.)resources$/, 'ResourceRequirements'],
  [/(nodeSelector|[lL]abels)$/i, 'Labels'],
  [/annotations$/i, 'Annotations'],
  [/tolerations$/i, 'Toleration[]'],
  [/(^|\.)affinity$/, 'Affinity'],
  [/podSecurityContext$/, 'PodSecurityContext'],
  [/(^|\.)securityContext$/, 'SecurityContext'],
  [/extraVolumes$/, 'Volume[]'],
  [/extraVolumeMounts$/, 'VolumeMount[]'],
  [/topologySpreadConstraints$/, 'TopologySpreadConstraint[]'],
  [/imagePullSecrets$/, 'LocalObjectReference[]'],
  [/sidecars$/, 'Container[]'],
  [/controller\.extraEnv$/, 'EnvVar[]'],
  [/extraEnvFrom$/, 'EnvFromSource[]'],
  [/(^|\.)rbac\.(r|clusterR)ules$/, 'PolicyRule[]'],
];

const NOT_NEGATIVE: SchemaNode = {minimum: 0};

/** Constraints of Kubernetes or the agent that no chart schema contains. */
const KEYWORDS: readonly [RegExp, SchemaNode][] = [
  [/\.pullPolicy$/, {enum: ['Always', 'IfNotPresent', 'Never']}],
  [/\.accessMode$/, {enum: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod']}],
  [/^strategy\.type$/, {enum: ['RollingUpdate', 'Recreate']}],
  [/\.container_task_image_mode$/, {enum: ['legacy', 'golden']}],
  [/\.logFormat$/, {enum: ['plain', 'dev', 'json']}],
  [/^persistence\..*(storage|sizeLimit)$/, {format: 'quantity'}],
  [/\.subPath$/, {format: 'sub-path'}],
  [/\.maxSurge$/, {pattern: '^\\d+%?$', minimum: 0}],
  [/\.(minAvailable|maxUnavailable)$/, {format: 'int-or-percent', minimum: 0}],
  // Booleans that templates only print.
  [
    /^agent\.(debug|disconnect_on_stop|automount_service_account_token)$|\.dropKernelPages$/,
    {format: 'flag'},
  ],
  [/image\.repository$/, {format: 'image-repository'}],
  [/\.imageNamespace$/, {format: 'image-repository'}],
  [/image\.tag$/, {format: 'image-tag'}],
  [/\.imageRegistry$/, {format: 'registry'}],
  [/(\.claimName|Secret\.name|tokenExistingSecret|serviceAccount\.name)$/, {format: 'object-name'}],
  [/\.storageClassName$/, {format: 'storage-class'}],
  [/(Secret\.(key|certKey|keyKey)|tokenExistingSecretKey)$/, {format: 'data-key'}],
  [/\.basename$|^(name|fullname)Override$/, {format: 'dns-label'}],
  [/\.(dataDir|cacheDir|data_home|hostPath\.path)$/, {format: 'absolute-path'}],
  // Between the quotes of the template itself.
  [/\.(data_home|container_task_image(_registry)?)$/, {pattern: '^[^"\\\\\\n]*$'}],
  [/\.tokenTTL$/, {minimum: 600}],
  [/\.concurrency$/, {minimum: 1}],
  [/\.memory(SoftLimit|Warn)Percent$/, {minimum: 1, maximum: 100}],
  [
    /(_timeout|Seconds|_limit|_request|replicaCount|\.backoffLimit|Days|AfterFinished)$/,
    NOT_NEGATIVE,
  ],
  [/\.(command|args)$|[mM]ountOptions$/, {items: {type: 'string'}}],
  [
    /\.providerNetworkMirrors$/,
    {
      items: {
        type: 'object',
        required: ['url'],
        additionalProperties: false,
        properties: {
          url: {type: 'string'},
          token: {type: 'string'},
          include: {type: 'array', items: {type: 'string'}},
        },
      },
    },
  ],
];

const KEPT_FROM_UPSTREAM = ['enum', 'pattern', 'minimum', 'maximum'];

/** An unpacked chart: its Chart.yaml, values.yaml and optional values.schema.json. */
export interface UnpackedChart {
  metadata: {name: string} & Release;
  values: Values;
  schema?: SchemaNode | undefined;
  /** The text of its templates. */
  templates?: string | undefined;
}

/**
 * The schema of a chart with one more release. Takes over keys, types and defaults, and from the chart's own schema only
 * enums, patterns and bounds; keywords that were written by hand and keys that only templates know stay.
 */
export function addRelease(
  before: ChartSchema | undefined,
  {metadata, values, schema = {}, templates = ''}: UnpackedChart,
): ChartSchema {
  const {name, version, appVersion, kubeVersion} = metadata;
  const known: Known[] = (before?.['x-releases'] ?? []).map((release) => ({
    release,
    leaves: leavesOf(before as ChartSchema, release.version),
  }));
  const others = known.filter(({release}) => release.version !== version);
  const same = known.find(({release}) => release.version === version);
  const isRead = (path: Path): boolean =>
    same !== undefined || templates.includes(`.Values.${path.join('.')}`);
  const byHand = ((same ?? others.at(-1))?.leaves ?? []).filter(
    ({node, path}) => node['x-template-only'] && isRead(path),
  );
  const digest = metadata.digest ?? same?.release.digest;
  const release = {
    version,
    appVersion,
    ...(kubeVersion === undefined ? {} : {kubeVersion}),
    ...(digest === undefined ? {} : {digest}),
  };
  const leaves = [...readLeaves(values, schema, others.at(-1)?.leaves ?? []), ...byHand];
  return build(
    name,
    [...others, {release, leaves}].toSorted((one, other) =>
      compare(one.release.version, other.release.version),
    ),
  );
}

function readLeaves(values: Values, upstream: SchemaNode, before: readonly Leaf[]): Leaf[] {
  return leafPaths(values).map((path) => {
    const value = getAt(values, path) as Tree;
    const theirs =
      path.reduce<SchemaNode | undefined>((node, key) => node?.properties?.[key], upstream) ?? {};
    const kept = Object.fromEntries(
      KEPT_FROM_UPSTREAM.flatMap((word) => (word in theirs ? [[word, theirs[word]]] : [])),
    );
    const earlier = before.find((leaf) => sameTree(leaf.path, path))?.node.type;
    return {
      path,
      node: {type: earlier && isOf(earlier, value) ? earlier : typeOf(value), ...kept},
      default: value,
    };
  });
}

const isOf = (type: string | readonly string[], value: Tree): boolean =>
  [type]
    .flat()
    .some(
      (each) =>
        [typeOf(value)].flat().includes(each) || (each === 'number' && typeof value === 'number'),
    );

function typeOf(value: Tree): string | string[] {
  if (value === null) return ['integer', 'string', 'null'];
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** A leaf in one release. */
interface Found {
  version: string;
  leaf: Leaf;
}

function build(name: string, known: readonly Known[]): ChartSchema {
  const versions = known.map(({release}) => release.version);
  // The order of keys is that of the newest release that has them.
  const found = known
    .toReversed()
    .flatMap(({release, leaves}) =>
      leaves.map((leaf): Found => ({version: release.version, leaf})),
    );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `Values of chart ${name}, all supported releases`,
    'x-releases': known.map(({release}) => release),
    ...nodeOf(found, versions, []),
  };
}

/** The node at a path, of all leaves at and below it. */
function nodeOf(found: readonly Found[], versions: readonly string[], path: Path): SchemaNode {
  const dotted = path.join('.');
  const kubernetes = KUBERNETES_TYPES.find(([pattern]) => pattern.test(dotted))?.[1];
  const mark: SchemaNode = kubernetes === undefined ? {} : {'x-kubernetes': kubernetes};
  const keywords: SchemaNode = Object.assign(
    {},
    ...KEYWORDS.flatMap(([pattern, words]) => (pattern.test(dotted) ? [words] : [])),
  );
  const groups = (
    leaves: readonly Found[],
    key: (each: Found) => string | undefined,
  ): [string, Found[]][] => {
    const all = new Map<string, Found[]>();
    for (const each of leaves) {
      const name = key(each);
      if (name !== undefined) all.set(name, [...(all.get(name) ?? []), each]);
    }
    return [...all];
  };
  const ofType = groups(found.toReversed(), ({leaf}) =>
    leaf.path.length === path.length ? JSON.stringify(leaf.node.type) : undefined,
  );
  const ofKey = groups(found, ({leaf}) => leaf.path[path.length]);
  const nodes = ofType.map(([, leaves]) => leafNode({found: leaves, versions, keywords, mark}));
  if (ofKey.length > 0) {
    const properties = Object.fromEntries(
      ofKey.map(([key, below]) => [key, nodeOf(below, versions, [...path, key])]),
    );
    nodes.push({type: 'object', ...mark, properties});
  }
  return nodes.length === 1 ? (nodes[0] as SchemaNode) : {oneOf: nodes};
}

interface LeafParts {
  found: readonly Found[];
  /** Every release, in order. */
  versions: readonly string[];
  keywords: SchemaNode;
  mark: SchemaNode;
}

function leafNode({found, versions, keywords, mark}: LeafParts): SchemaNode {
  const defaults: {versions: string[]; default: Tree}[] = [];
  for (const {version, leaf} of found) {
    const same = defaults.find((each) => sameTree(each.default, leaf.default));
    if (same) same.versions.push(version);
    else defaults.push({versions: [version], default: leaf.default});
  }
  const byHand = Object.fromEntries(
    Object.entries(Object.assign({}, ...found.map(({leaf}) => leaf.node))).filter(
      ([key]) => !DERIVED.has(key),
    ),
  );
  return {
    ...keywords,
    ...byHand,
    ...mark,
    'x-versions': rangeOf(
      found.map(({version}) => version),
      versions,
    ),
    ...(defaults.length === 1
      ? {default: defaults[0]?.default as Tree}
      : {
          'x-defaults': defaults.map((each) => ({
            versions: rangeOf(each.versions, versions),
            default: each.default,
          })),
        }),
  };
}

const DERIVED = new Set(['x-versions', 'x-defaults', 'default']);
