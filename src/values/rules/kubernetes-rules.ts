import {getAt, isMap, type Tree, type Values} from '../../ground/tree.ts';
import {milliOf} from '../../settings/kinds/quantities.ts';
import {hasFormat, inRange, int32, validLabels} from './field-rules.ts';
import {FORMATS} from './formats.ts';
import {POD_RULES} from './kubernetes-pod-rules.ts';
import {
  allOf,
  badFormat,
  exactlyOne,
  isSet,
  notBoth,
  notEmpty,
  type PodRule,
  type Problem,
  required,
  violation,
} from './rule-parts.ts';

const isEmptyList = (value: Tree | undefined): boolean =>
  !Array.isArray(value) || value.length === 0;

/** A number, or the name of a container port. */
const port: PodRule = ({port: value}) => {
  const isNumber = typeof value === 'number' && value >= 1 && value <= 65535;
  return [
    !isNumber &&
      !(typeof value === 'string' && FORMATS['port-name']?.(value) === undefined) &&
      violation(
        `Invalid value ${JSON.stringify(value)}: must be a port number (1-65535) or a port name.`,
        'port',
      ),
  ];
};

/** Exactly one of several actions; the other fields set times and thresholds. */
const action = (...kinds: string[]): PodRule =>
  exactlyOne('handler', (each) => !kinds.includes(each));

const TIMES = [
  'failureThreshold',
  'initialDelaySeconds',
  'periodSeconds',
  'successThreshold',
  'timeoutSeconds',
];

const OF_POD = /^metadata\.(name|namespace|uid)$|^metadata\.(labels|annotations)\['[^']+'\]$/;
const OF_NODE = /^spec\.(nodeName|serviceAccountName)$|^status\.(hostIPs?|podIPs?)$/;

const field: PodRule = ({fieldRef}) => {
  const path = isMap(fieldRef) ? fieldRef['fieldPath'] : undefined;
  const isKnown = typeof path !== 'string' || OF_POD.test(path) || OF_NODE.test(path);
  return [
    !isKnown &&
      violation(
        `Unsupported fieldPath ${path} for an environment variable.`,
        'fieldRef',
        'fieldPath',
      ),
  ];
};

const AMOUNT = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/;

const amount: PodRule = ({resource, divisor}) => {
  const units = String(resource).endsWith('cpu')
    ? ['1', '1m']
    : ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];
  const isUnit = !isSet(divisor) || Number(divisor) === 0 || units.includes(String(divisor));
  return [
    !AMOUNT.test(String(resource)) &&
      violation(`Unsupported resource ${resource}: use a name such as limits.memory.`, 'resource'),
    !isUnit && violation(`divisor must be one of ${units.join(', ')} for ${resource}.`, 'divisor'),
  ];
};

const keyOfObject: PodRule = allOf(
  hasFormat('object-name', 'name'),
  required('name'),
  hasFormat('data-key', 'key'),
  required('key'),
);
const object: PodRule = allOf(hasFormat('object-name', 'name'), required('name'));

const policy: PodRule = ({verbs, resources, apiGroups, nonResourceURLs}): (Problem | false)[] => [
  Array.isArray(verbs) &&
    verbs.length === 0 &&
    violation('verbs must contain at least one value.', 'verbs'),
  isEmptyList(nonResourceURLs) &&
    (isEmptyList(resources) || isEmptyList(apiGroups)) &&
    violation('resources and apiGroups must contain at least one value.'),
];

/** Rules of containers and RBAC, by type. */
const CONTAINER_RULES: Readonly<Record<string, PodRule>> = {
  ConfigMapEnvSource: object,
  ConfigMapKeySelector: keyOfObject,
  Container: allOf(hasFormat('dns-label', 'name'), notEmpty('name'), required('image')),
  ContainerPort: allOf(
    inRange(1, 65535, 'containerPort'),
    inRange(0, 65535, 'hostPort'),
    hasFormat('port-name', 'name'),
  ),
  EnvFromSource: allOf(
    exactlyOne('ConfigMap or Secret', (each) => each === 'prefix'),
    hasFormat('variable-name', 'prefix'),
  ),
  EnvVar: allOf(
    hasFormat('variable-name', 'name'),
    notEmpty('name'),
    notBoth('value', 'valueFrom'),
  ),
  EnvVarSource: allOf(exactlyOne('value source'), field),
  ExecAction: ({command}) => [isEmptyList(command) && violation('command is required.')],
  HTTPGetAction: port,
  HTTPHeader: allOf(hasFormat('header', 'name'), notEmpty('name')),
  LifecycleHandler: action('exec', 'httpGet', 'tcpSocket', 'sleep'),
  PolicyRule: policy,
  Probe: allOf(action('exec', 'grpc', 'httpGet', 'tcpSocket'), ...TIMES.map((each) => int32(each))),
  ResourceFieldSelector: amount,
  SecretEnvSource: object,
  SecretKeySelector: keyOfObject,
  TCPSocketAction: allOf(required('port'), port),
};

const FILE_MODE = inRange(0, 0o777, 'defaultMode');
const TEN_MINUTES = 600;
const MOST_SECONDS = 2 ** 32;

/** A PVC that Kubernetes creates with the pod; as ValidatePersistentVolumeClaimTemplate. */
const claim: PodRule = ({volumeClaimTemplate: template}) => {
  if (!isMap(template)) return [violation('volumeClaimTemplate is required.')];
  const {metadata, spec} = template as {metadata?: Values; spec?: Values};
  const modes = spec?.['accessModes'];
  const storage = getAt(spec, ['resources', 'requests', 'storage']);
  const here = ['volumeClaimTemplate', 'spec'];
  return [
    ...Object.keys(metadata ?? {}).map(
      (key) =>
        key !== 'labels' &&
        key !== 'annotations' &&
        violation(
          'Only labels and annotations can be set in the template metadata.',
          'volumeClaimTemplate',
          'metadata',
          key,
        ),
    ),
    (!Array.isArray(modes) || modes.length === 0) &&
      violation('At least one access mode is required.', ...here),
    Array.isArray(modes) &&
      modes.includes('') &&
      violation('An access mode must not be empty.', ...here, 'accessModes'),
    (!isSet(storage) ||
      (milliOf(String(storage)) ?? 1n) <= 0n ||
      String(storage).startsWith('-')) &&
      violation('resources.requests.storage is required and must be greater than zero.', ...here),
  ];
};

/** Two files of one volume cannot have the same path. */
const separatePaths: PodRule = ({sources}) => {
  const paths = (Array.isArray(sources) ? sources : []).flatMap((source, index) =>
    Object.values(isMap(source) ? source : {}).flatMap((each) => {
      const items = isMap(each) && Array.isArray(each['items']) ? each['items'] : [each ?? null];
      return items.map((item) => ({index, path: isMap(item) ? item['path'] : undefined}));
    }),
  );
  return paths.map(
    ({index, path}, at) =>
      typeof path === 'string' &&
      paths.findIndex((other) => other.path === path) < at &&
      violation(`Duplicate path ${path} in this volume.`, 'sources', index),
  );
};

const mount: PodRule = ({mountPath}) => [
  typeof mountPath === 'string' &&
    mountPath.includes(':') && {
      ...violation('Some container runtimes do not support a colon in mountPath.', 'mountPath'),
      verdict: 'warning' as const,
    },
];

const FIELDS =
  /^metadata\.(name|namespace|uid|labels|annotations)$|^metadata\.(labels|annotations)\['[^']+'\]$/;

/** Kubernetes ignores case here. */
const driver: PodRule = ({driver: name}) => {
  return [
    typeof name === 'string' &&
      name !== '' &&
      badFormat(FORMATS['object-name']?.(name.toLowerCase()), 'driver'),
    String(name).length > 63 &&
      violation('The driver name must be no more than 63 characters.', 'driver'),
  ];
};

/** The fields of a pod that a file of a volume can hold. */
const podField: PodRule = ({fieldRef, resourceFieldRef}) => {
  const path = isMap(fieldRef) ? fieldRef['fieldPath'] : undefined;
  return [
    !isSet(fieldRef) &&
      !isSet(resourceFieldRef) &&
      violation('fieldRef or resourceFieldRef is required.'),
    typeof path === 'string' &&
      !FIELDS.test(path) &&
      violation(`Unsupported fieldPath ${path} for a file.`, 'fieldRef', 'fieldPath'),
  ];
};

/** Without a source Kubernetes creates an empty directory, which is seldom meant. */
const source: PodRule = (volume) => {
  const isMissing = Object.keys(volume).every(
    (field) => field === 'name' || volume[field] === null,
  );
  const problems = exactlyOne('volume type', (field) => field === 'name')(volume);
  return problems.map(
    (problem) => problem && (isMissing ? {...problem, verdict: 'warning' as const} : problem),
  );
};

/** Rules of volumes and their mounts, by type. */
const VOLUME_RULES: Readonly<Record<string, PodRule>> = {
  CSIVolumeSource: allOf(driver, notEmpty('driver')),
  ConfigMapProjection: required('name'),
  ConfigMapVolumeSource: allOf(FILE_MODE, required('name')),
  DownwardAPIVolumeFile: allOf(
    hasFormat('relative-path', 'path'),
    notEmpty('path'),
    podField,
    notBoth('fieldRef', 'resourceFieldRef'),
  ),
  DownwardAPIVolumeSource: FILE_MODE,
  EphemeralVolumeSource: claim,
  HostPathVolumeSource: allOf(hasFormat('absolute-path', 'path'), notEmpty('path')),
  KeyToPath: allOf(
    notEmpty('key'),
    hasFormat('relative-path', 'path'),
    notEmpty('path'),
    inRange(0, 0o777, 'mode'),
  ),
  NFSVolumeSource: allOf(notEmpty('server'), notEmpty('path'), ({path}) => [
    isSet(path) &&
      !String(path).startsWith('/') &&
      violation(`Invalid value "${path}": must be an absolute path.`, 'path'),
  ]),
  ObjectMeta: validLabels('labels'),
  PersistentVolumeClaimSpec: hasFormat('object-name', 'storageClassName'),
  PersistentVolumeClaimVolumeSource: allOf(
    hasFormat('object-name', 'claimName'),
    notEmpty('claimName'),
  ),
  ProjectedVolumeSource: allOf(FILE_MODE, separatePaths),
  SecretProjection: required('name'),
  SecretVolumeSource: allOf(
    hasFormat('object-name', 'secretName'),
    FILE_MODE,
    required('secretName'),
  ),
  ServiceAccountTokenProjection: allOf(
    inRange(TEN_MINUTES, MOST_SECONDS, 'expirationSeconds'),
    hasFormat('relative-path', 'path'),
    notEmpty('path'),
  ),
  Volume: allOf(hasFormat('dns-label', 'name'), notEmpty('name'), source),
  VolumeMount: allOf(
    mount,
    hasFormat('relative-path', 'subPath'),
    notEmpty('name'),
    notEmpty('mountPath'),
    notEmpty('mountPropagation'),
    notBoth('subPath', 'subPathExpr'),
  ),
  // An empty projection is valid.
  VolumeProjection: (source) =>
    Object.keys(source).length > 1 ? exactlyOne('projection source')(source) : [],
};

/** Rules by Kubernetes type, as pkg/apis/core/validation and pkg/apis/rbac/validation check them. */
export const KUBERNETES_RULES: Readonly<Record<string, PodRule>> = {
  ...POD_RULES,
  ...CONTAINER_RULES,
  ...VOLUME_RULES,
};
