import {isMap, type Tree, type Values} from '../../charts/tree.ts';
import {exceeds, milliOf} from '../../settings/quantity.ts';
import {closest} from '../../settings/similar.ts';
import {FORMATS} from './formats.ts';

/** What Kubernetes refuses although its schema allows it. */
export interface Problem {
  /** The field it is about. */
  at: readonly (string | number)[];
  message: string;
  code?: string;
  severity?: 'warning';
}

type Rule = (object: Values) => readonly (Problem | false | undefined)[];

const say = (message: string, ...at: (string | number)[]): Problem => ({at, message});
const isSet = (value: Tree | undefined): boolean => value !== undefined && value !== null && value !== '';

const form = (format: string, field: string): Rule => {
  return (object) => {
    const value = object[field];
    const problem = typeof value === 'string' && value !== '' ? FORMATS[format]?.(value) : undefined;
    return [problem !== undefined && say(problem, field)];
  };
};

const filled =
  (field: string): Rule =>
  (object) => [object[field] === '' && say(`${field} is empty.`, field)];

const between =
  (least: number, most: number, field: string): Rule =>
  ({[field]: value}) => [
    typeof value === 'number' && (value < least || value > most) && say(`${value} is not between ${least} and ${most}.`, field),
  ];

/** One of several fields, and only one. */
const one =
  (what: string, isOther: (field: string) => boolean = () => false): Rule =>
  (object) => {
    const given = Object.keys(object).filter((field) => !isOther(field) && object[field] !== null);
    if (given.length === 0) return [say(`There is no ${what}.`)];
    return [given.length > 1 && say(`Only one ${what} is allowed, and these are ${given.join(', ')}.`, given[1] as string)];
  };

const notBoth =
  (first: string, second: string): Rule =>
  (object) => [isSet(object[first]) && isSet(object[second]) && say(`${first} and ${second} exclude one another.`, second)];

const requirement =
  (singles: readonly string[]): Rule =>
  ({operator, values}) => {
    const count = Array.isArray(values) ? values.length : 0;
    if (operator === 'In' || operator === 'NotIn') return [count === 0 && say(`${operator} needs values.`, 'operator')];
    if (operator === 'Exists' || operator === 'DoesNotExist') return [count > 0 && say(`${operator} takes no values.`, 'values')];
    const isWhole = Array.isArray(values) && /^-?\d+$/.test(String(values[0]));
    return [singles.includes(String(operator)) && (count !== 1 || !isWhole) && say(`${operator} takes one whole number.`, 'values')];
  };

const profile =
  (kind: string): Rule =>
  ({type, localhostProfile}) => [
    type === 'Localhost' && !isSet(localhostProfile) && say(`A ${kind} profile of type Localhost needs localhostProfile.`, 'type'),
    type !== 'Localhost' && isSet(localhostProfile) && say('localhostProfile counts only with type: Localhost.', 'localhostProfile'),
  ];

const runsAsRoot: Rule = ({runAsNonRoot, runAsUser}) => [
  runAsNonRoot === true && runAsUser === 0 && say('runAsNonRoot forbids user 0: the kubelet does not start the container.', 'runAsUser'),
];

const all =
  (...rules: Rule[]): Rule =>
  (object) =>
    rules.flatMap((rule) => rule(object));

const toleration: Rule = ({key, operator, value, effect, tolerationSeconds}) => [
  !isSet(key) && operator !== 'Exists' && say('Without a key the operator has to be Exists.'),
  operator === 'Exists' && isSet(value) && say('The operator Exists takes no value.', 'value'),
  (operator === 'Gt' || operator === 'Lt') && say(`The operator ${operator} is behind a feature gate of Kubernetes.`, 'operator'),
  isSet(tolerationSeconds) && effect !== 'NoExecute' && say('tolerationSeconds counts only with effect: NoExecute.', 'tolerationSeconds'),
];

const MEBI = 1000n * 1024n ** 2n;
const HUNDRED_CORES = 100_000n;

/** An amount that Kubernetes takes and nobody means: 512 is 512 bytes, 512m half a byte, 500 cores are a large machine. */
function unlikely(name: string, amount: Tree | undefined): string | undefined {
  const milli = amount === undefined || amount === null ? undefined : milliOf(String(amount));
  if (milli === undefined || milli === 0n) return undefined;
  if (name === 'cpu') return milli > HUNDRED_CORES ? `${amount} are cores. Did you mean ${milli / 1000n}m?` : undefined;
  const isBytes = name === 'memory' || name === 'ephemeral-storage';
  return isBytes && milli < MEBI ? `${amount} is less than a mebibyte: ${number(milli)} bytes. Did you mean Mi or Gi?` : undefined;
}

const STANDARD = ['cpu', 'memory', 'ephemeral-storage'];

/** What is not one of Kubernetes' own has a prefix, such as nvidia.com/gpu. */
const isResource = (name: string): boolean => STANDARD.includes(name) || name.includes('/') || name.startsWith('hugepages-');

function unknownResource(name: string): string {
  const near = closest(name, STANDARD);
  return `Kubernetes knows no resource ${name}.${near ? ` Did you mean ${near}?` : ''}`;
}

const number = (milli: bigint): string => String(Number(milli) / 1000);

const resources: Rule = ({limits, requests}) => {
  const most = isMap(limits) ? limits : {};
  const least = isMap(requests) ? requests : {};
  const amounts = [
    ...Object.entries(most).map(([name, amount]) => ['limits', name, amount] as const),
    ...Object.entries(least).map(([name, amount]) => ['requests', name, amount] as const),
  ];
  return [
    ...amounts.map(([kind, name]) => !isResource(name) && {...say(unknownResource(name), kind, name), code: 'UNKNOWN_KEY'}),
    ...amounts.map(([kind, name, amount]) => {
      const message = unlikely(name, amount);
      return message !== undefined && {...say(message, kind, name), code: 'UNLIKELY_AMOUNT', severity: 'warning' as const};
    }),
    ...amounts.map(([kind, name, amount]) => String(amount).startsWith('-') && say(`An amount of ${name} cannot be negative.`, kind, name)),
    ...Object.entries(least).map(
      ([name, amount]) =>
        isSet(most[name]) &&
        exceeds(String(amount), String(most[name])) && {
          ...say(`The request ${amount} is more than the limit ${most[name]}, and Kubernetes refuses such a pod.`, 'requests', name),
          code: 'REQUEST_ABOVE_LIMIT',
        },
    ),
  ];
};

const securityContext: Rule = ({privileged, allowPrivilegeEscalation, capabilities}) => {
  const added = isMap(capabilities) && Array.isArray(capabilities['add']) ? capabilities['add'] : [];
  const isRaised = privileged === true || added.some((each) => each === 'SYS_ADMIN' || each === 'CAP_SYS_ADMIN');
  return [
    allowPrivilegeEscalation === false &&
      isRaised &&
      say('allowPrivilegeEscalation: false contradicts privileged and SYS_ADMIN.', 'allowPrivilegeEscalation'),
  ];
};

const spread: Rule = ({maxSkew, minDomains, whenUnsatisfiable}) => [
  typeof maxSkew === 'number' && maxSkew < 1 && say('maxSkew has to be 1 or more.', 'maxSkew'),
  typeof minDomains === 'number' && minDomains < 1 && say('minDomains has to be 1 or more.', 'minDomains'),
  isSet(minDomains) && whenUnsatisfiable !== 'DoNotSchedule' && say('minDomains counts only with DoNotSchedule.', 'minDomains'),
];

const volumeMount: Rule = ({mountPath, subPath}) => [
  typeof mountPath === 'string' && mountPath.includes(':') && say('A mount path cannot hold a colon.', 'mountPath'),
  typeof subPath === 'string' &&
    (subPath.startsWith('/') || subPath.split('/').includes('..')) &&
    say('A sub path is relative and goes nowhere above the volume.', 'subPath'),
];

const policy: Rule = ({verbs, resources: kinds, apiGroups, nonResourceURLs}) => [
  Array.isArray(verbs) && verbs.length === 0 && say('A rule needs verbs.', 'verbs'),
  !isSet(nonResourceURLs) && (!isSet(kinds) || !isSet(apiGroups)) && say('A rule needs resources and their apiGroups.'),
];

const FILE_MODE = between(0, 0o777, 'defaultMode');

/** By type; as pkg/apis/core/validation and pkg/apis/rbac/validation of Kubernetes check them. */
export const KUBERNETES_RULES: Readonly<Record<string, Rule>> = {
  AppArmorProfile: profile('AppArmor'),
  ConfigMapVolumeSource: FILE_MODE,
  Container: all(form('dns-label', 'name'), filled('name'), filled('image')),
  ContainerPort: between(1, 65535, 'containerPort'),
  EnvFromSource: one('source of variables', (field) => field === 'prefix'),
  EnvVar: all(form('variable-name', 'name'), filled('name'), notBoth('value', 'valueFrom')),
  EnvVarSource: one('source of the value'),
  HostPathVolumeSource: form('absolute-path', 'path'),
  LabelSelectorRequirement: all(form('qualified-name', 'key'), requirement([])),
  LocalObjectReference: all(form('object-name', 'name'), filled('name')),
  NodeSelector: ({nodeSelectorTerms: terms}) => [
    Array.isArray(terms) && terms.length === 0 && say('There have to be nodeSelectorTerms.', 'nodeSelectorTerms'),
  ],
  NodeSelectorRequirement: all(form('qualified-name', 'key'), requirement(['Gt', 'Lt'])),
  PersistentVolumeClaimVolumeSource: all(form('object-name', 'claimName'), filled('claimName')),
  PodAffinityTerm: all(form('qualified-name', 'topologyKey'), filled('topologyKey')),
  PodSecurityContext: all(between(0, 2 ** 31 - 1, 'fsGroup'), between(0, 2 ** 31 - 1, 'runAsUser'), runsAsRoot),
  PolicyRule: policy,
  PreferredSchedulingTerm: between(1, 100, 'weight'),
  ResourceRequirements: resources,
  SeccompProfile: profile('seccomp'),
  SecretVolumeSource: all(form('object-name', 'secretName'), FILE_MODE, ({secretName}) => [
    !isSet(secretName) && say('There is no secretName.', 'secretName'),
  ]),
  SecurityContext: all(between(0, 2 ** 31 - 1, 'runAsUser'), runsAsRoot, securityContext),
  Toleration: all(form('qualified-name', 'key'), form('label-value', 'value'), toleration),
  TopologySpreadConstraint: all(form('qualified-name', 'topologyKey'), filled('topologyKey'), spread),
  Volume: all(
    form('dns-label', 'name'),
    filled('name'),
    one('source of the volume', (field) => field === 'name'),
  ),
  VolumeMount: all(volumeMount, filled('name'), filled('mountPath'), notBoth('subPath', 'subPathExpr')),
  WeightedPodAffinityTerm: between(1, 100, 'weight'),
};
