import {closest} from '../../ground/similar-text.ts';
import {isMap, type Tree} from '../../ground/tree.ts';
import {exceeds, MEBIBYTE, milliOf} from '../../settings/kinds/quantities.ts';
import {hasFormat, inRange, int32, itemsHaveFormat, validLabels} from './field-rules.ts';
import type {Misspelling} from './formats.ts';
import {allOf, badFormat, isSet, notEmpty, type PodRule, violation} from './rule-parts.ts';

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** A requirement of a selector; `numeric` operators compare a label with one number. */
const requirement = (numeric: readonly string[]): PodRule =>
  allOf(hasFormat('qualified-name', 'key'), notEmpty('key'), ({operator, values}) => {
    const given = Array.isArray(values) ? values : [];
    const known = [...OPERATORS, ...numeric];
    if (!known.includes(String(operator)))
      return [
        violation(
          `Unsupported value ${JSON.stringify(operator)}: must be one of ${known.join(', ')}.`,
          'operator',
        ),
      ];
    if (operator === 'Exists' || operator === 'DoesNotExist')
      return [
        given.length > 0 &&
          violation(`values must be empty when operator is ${operator}.`, 'values'),
      ];
    if (operator === 'In' || operator === 'NotIn')
      return [
        given.length === 0 &&
          violation(`values is required when operator is ${operator}.`, 'operator'),
        ...itemsHaveFormat('label-value', 'values')({values: given}),
      ];
    const isOneNumber = given.length === 1 && /^-?\d+$/.test(String(given[0]));
    return [
      !isOneNumber &&
        violation(`values must be one integer when operator is ${operator}.`, 'values'),
    ];
  });

const profile =
  (kind: string): PodRule =>
  ({type, localhostProfile}) => [
    type === 'Localhost' &&
      !isSet(localhostProfile) &&
      violation(`localhostProfile is required for a ${kind} profile of type Localhost.`, 'type'),
    type === '' && violation(`type is required for a ${kind} profile.`, 'type'),
    type !== 'Localhost' &&
      isSet(localhostProfile) &&
      violation('localhostProfile can only be set when type is Localhost.', 'localhostProfile'),
  ];

const runsAsRoot: PodRule = ({runAsNonRoot, runAsUser}) => [
  runAsNonRoot === true &&
    runAsUser === 0 &&
    violation(
      'runAsUser must not be 0 with runAsNonRoot: true. The kubelet would not start the container.',
      'runAsUser',
    ),
];

const toleration: PodRule = ({key, operator, value, effect, tolerationSeconds}) => [
  !isSet(key) && operator !== 'Exists' && violation('operator must be Exists when key is empty.'),
  operator === 'Exists' &&
    isSet(value) &&
    violation('value must be empty when operator is Exists.', 'value'),
  (operator === 'Gt' || operator === 'Lt') &&
    violation(`Operator ${operator} requires a Kubernetes feature gate.`, 'operator'),
  isSet(tolerationSeconds) &&
    effect !== 'NoExecute' &&
    violation('effect must be NoExecute when tolerationSeconds is set.', 'tolerationSeconds'),
];

const HUNDRED_CORES = 100_000n;

/** An amount that is valid but probably a mistake: 512 is 512 bytes, 512m half a byte, and few nodes have 500 cores. */
function unlikely(kind: string, name: string, amount: Tree | undefined): Misspelling | undefined {
  const milli = amount === undefined || amount === null ? undefined : milliOf(String(amount));
  if (milli === undefined) return undefined;
  if (milli === 0n && kind !== 'limits') return undefined;
  if (milli === 0n)
    return {message: 'A limit of zero means no limit. Remove it, or set an amount.'};
  if (name === 'cpu' && milli >= HUNDRED_CORES) {
    const cores = milli / 1000n;
    return {message: `${amount} means ${cores} cores.`, suggestion: meantCores(String(amount))};
  }
  const isBytes = name === 'memory' || name === 'ephemeral-storage';
  if (!isBytes || milli >= MEBIBYTE) return undefined;
  const [, mebibytes] = /^(\d+)m$/.exec(String(amount)) ?? [];
  const suggestion = mebibytes === undefined ? 'Mi or Gi' : `${mebibytes}Mi`;
  return {message: `${amount} means ${Number(milli) / 1000} bytes.`, suggestion};
}

/** No node has this much CPU. */
const isUnschedulable = (name: string, amount: Tree | undefined): boolean =>
  name === 'cpu' && (milliOf(String(amount)) ?? 0n) >= 100n * HUNDRED_CORES;

/** 500M and 500 are millicores, 2G are cores. */
function meantCores(amount: string): string {
  const [, number = amount, unit = 'm'] = /^(\d+(?:\.\d+)?)([kMGTPE]i?)?$/.exec(amount) ?? [];
  return /^M/i.test(unit) ? `${number}m` : number;
}

const STANDARD = ['cpu', 'memory', 'ephemeral-storage'];

/** Resources other than the standard ones have a prefix, such as nvidia.com/gpu. */
const isResource = (name: string): boolean =>
  STANDARD.includes(name) || name.includes('/') || name.startsWith('hugepages-');

/** Extended resources, such as devices, are whole numbers. */
const isExtended = (name: string): boolean =>
  name.includes('/') && !name.includes('kubernetes.io/');

/** A quantity without the exponent that Kubernetes also accepts. */
const decimal = (amount: Tree | undefined): string => {
  const text = String(amount);
  return /^\d+(\.\d+)?[eE]\+?\d{1,2}$/.test(text) ? Number(text).toFixed(3) : text;
};

const resources: PodRule = ({limits, requests}) => {
  const most = isMap(limits) ? limits : {};
  const least = isMap(requests) ? requests : {};
  const amounts = Object.entries({limits: most, requests: least}).flatMap(([kind, each]) =>
    Object.entries(each).map(([name, amount]) => [kind, name, amount] as const),
  );
  return [
    ...amounts.map(
      ([kind, name]) =>
        !isResource(name) && {
          ...violation(`Unknown resource ${name}.`, kind, name),
          code: 'UNKNOWN_KEY',
          suggestion: closest(name, STANDARD),
        },
    ),
    ...amounts.map(([kind, name, amount]) => {
      const found = badFormat(unlikely(kind, name, amount), kind, name);
      const verdict = isUnschedulable(name, amount) ? {} : {verdict: 'warning' as const};
      return found && {...found, code: 'UNLIKELY_AMOUNT', ...verdict};
    }),
    ...amounts.map(
      ([kind, name, amount]) =>
        isExtended(name) &&
        (milliOf(String(amount)) ?? 0n) % 1000n !== 0n &&
        violation(`Invalid value ${amount}: ${name} must be an integer.`, kind, name),
    ),
    ...Object.entries(least).map(
      ([name, amount]) =>
        isSet(most[name]) &&
        exceeds(decimal(amount), decimal(most[name])) && {
          ...violation(
            `Request ${amount} must be less than or equal to the limit ${most[name]}.`,
            'requests',
            name,
          ),
          code: 'REQUEST_ABOVE_LIMIT',
        },
    ),
  ];
};

const securityContext: PodRule = ({privileged, allowPrivilegeEscalation, capabilities}) => {
  const added =
    isMap(capabilities) && Array.isArray(capabilities['add']) ? capabilities['add'] : [];
  const isRaised =
    privileged === true || added.some((each) => each === 'SYS_ADMIN' || each === 'CAP_SYS_ADMIN');
  return [
    allowPrivilegeEscalation === false &&
      isRaised &&
      violation(
        'allowPrivilegeEscalation cannot be false with privileged: true or SYS_ADMIN.',
        'allowPrivilegeEscalation',
      ),
  ];
};

const spread: PodRule = ({minDomains, whenUnsatisfiable}) => [
  isSet(minDomains) &&
    whenUnsatisfiable !== 'DoNotSchedule' &&
    violation('minDomains requires whenUnsatisfiable: DoNotSchedule.', 'minDomains'),
];

const groups: PodRule = ({supplementalGroups: items}) =>
  (Array.isArray(items) ? items : []).flatMap((item, index) =>
    int32('group')({group: item}).map(
      (problem) => problem && {...problem, at: ['supplementalGroups', index]},
    ),
  );

const sysctls: PodRule = ({sysctls: items}) => {
  const names = (Array.isArray(items) ? items : []).map((item) =>
    isMap(item) ? item['name'] : undefined,
  );
  return names.map(
    (name, index) =>
      names.indexOf(name) < index && violation(`Duplicate name ${name}.`, 'sysctls', index, 'name'),
  );
};

const FILLED_IN_SPREAD = ['whenUnsatisfiable', 'nodeAffinityPolicy', 'nodeTaintsPolicy'];

/** Rules of pods, their placement and their security, by type. */
export const POD_RULES: Readonly<Record<string, PodRule>> = {
  AppArmorProfile: profile('AppArmor'),
  LabelSelector: validLabels('matchLabels'),
  LabelSelectorRequirement: requirement([]),
  LocalObjectReference: allOf(hasFormat('object-name', 'name'), notEmpty('name'), ({name}) => [
    name === null && violation('name is required.', 'name'),
  ]),
  NodeSelector: ({nodeSelectorTerms: terms}) => [
    Array.isArray(terms) &&
      terms.length === 0 &&
      violation('nodeSelectorTerms is required.', 'nodeSelectorTerms'),
  ],
  NodeSelectorRequirement: requirement(['Gt', 'Lt']),
  PodAffinityTerm: allOf(
    hasFormat('qualified-name', 'topologyKey'),
    notEmpty('topologyKey'),
    itemsHaveFormat('dns-label', 'namespaces'),
  ),
  PodSecurityContext: allOf(
    ...['fsGroup', 'runAsUser', 'runAsGroup'].map((each) => int32(each)),
    ...['fsGroupChangePolicy', 'supplementalGroupsPolicy'].map(notEmpty),
    runsAsRoot,
    groups,
    sysctls,
  ),
  PreferredSchedulingTerm: inRange(1, 100, 'weight'),
  ResourceRequirements: resources,
  SeccompProfile: allOf(profile('seccomp'), hasFormat('relative-path', 'localhostProfile')),
  SecurityContext: allOf(
    int32('runAsUser'),
    int32('runAsGroup'),
    notEmpty('procMount'),
    runsAsRoot,
    securityContext,
  ),
  Sysctl: allOf(hasFormat('sysctl', 'name'), notEmpty('name')),
  Toleration: allOf(
    hasFormat('qualified-name', 'key'),
    hasFormat('label-value', 'value'),
    toleration,
  ),
  TopologySpreadConstraint: allOf(
    hasFormat('qualified-name', 'topologyKey'),
    notEmpty('topologyKey'),
    int32('maxSkew', 1),
    int32('minDomains', 1),
    ...FILLED_IN_SPREAD.map(notEmpty),
    spread,
  ),
  WeightedPodAffinityTerm: inRange(1, 100, 'weight'),
};
