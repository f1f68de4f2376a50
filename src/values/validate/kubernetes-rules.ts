import {isMap, type Tree} from '../../charts/tree.ts';
import {exceeds, milliOf} from '../../settings/quantity.ts';
import {closest} from '../../settings/text.ts';
import {CONTAINER_RULES} from './kubernetes-container-rules.ts';
import {all, between, count, each, filled, form, isSet, labelsIn, type Rule, relative, say} from './kubernetes-rule-kinds.ts';
import {VOLUME_RULES} from './kubernetes-volume-rules.ts';

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** One of a selector; `numeric` operators compare a label with one number. */
const requirement = (numeric: readonly string[]): Rule =>
  all(form('qualified-name', 'key'), filled('key'), ({operator, values}) => {
    const given = Array.isArray(values) ? values : [];
    const known = [...OPERATORS, ...numeric];
    if (!known.includes(String(operator))) return [say(`${JSON.stringify(operator)} is not one of ${known.join(', ')}.`, 'operator')];
    if (operator === 'Exists' || operator === 'DoesNotExist') return [given.length > 0 && say(`${operator} takes no values.`, 'values')];
    if (operator === 'In' || operator === 'NotIn')
      return [given.length === 0 && say(`${operator} needs values.`, 'operator'), ...each('label-value', 'values')({values: given})];
    const isOneNumber = given.length === 1 && /^-?\d+$/.test(String(given[0]));
    return [!isOneNumber && say(`${operator} takes one whole number.`, 'values')];
  });

const profile =
  (kind: string): Rule =>
  ({type, localhostProfile}) => [
    type === 'Localhost' && !isSet(localhostProfile) && say(`A ${kind} profile of type Localhost needs localhostProfile.`, 'type'),
    type === '' && say(`A ${kind} profile needs a type.`, 'type'),
    type !== 'Localhost' && isSet(localhostProfile) && say('localhostProfile counts only with type: Localhost.', 'localhostProfile'),
  ];

const runsAsRoot: Rule = ({runAsNonRoot, runAsUser}) => [
  runAsNonRoot === true && runAsUser === 0 && say('runAsNonRoot forbids user 0: the kubelet does not start the container.', 'runAsUser'),
];

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

/** What devices offer is counted in whole numbers. */
const isExtended = (name: string): boolean => name.includes('/') && !name.includes('kubernetes.io/');

function unknownResource(name: string): string {
  const near = closest(name, STANDARD);
  return `Kubernetes knows no resource ${name}.${near ? ` Did you mean ${near}?` : ''}`;
}

/** Without an exponent, which Kubernetes reads as well. */
const decimal = (amount: Tree | undefined): string => {
  const text = String(amount);
  return /^\d+(\.\d+)?[eE]\+?\d{1,2}$/.test(text) ? Number(text).toFixed(3) : text;
};

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
    ...amounts.map(
      ([kind, name, amount]) =>
        isExtended(name) &&
        (milliOf(String(amount)) ?? 0n) % 1000n !== 0n &&
        say(`${name} cannot be divided: ${amount} is no whole number.`, kind, name),
    ),
    ...Object.entries(least).map(
      ([name, amount]) =>
        isSet(most[name]) &&
        exceeds(decimal(amount), decimal(most[name])) && {
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

const spread: Rule = ({minDomains, whenUnsatisfiable}) => [
  isSet(minDomains) && whenUnsatisfiable !== 'DoNotSchedule' && say('minDomains counts only with DoNotSchedule.', 'minDomains'),
];

/** A user or a group. */
const id = (field: string): Rule => between(0, 2 ** 31 - 1, field);

const groups: Rule = ({supplementalGroups: items}) =>
  (Array.isArray(items) ? items : []).flatMap((item, index) =>
    id('group')({group: item}).map((problem) => problem && {...problem, at: ['supplementalGroups', index]}),
  );

const sysctls: Rule = ({sysctls: items}) => {
  const names = (Array.isArray(items) ? items : []).map((item) => (isMap(item) ? item['name'] : undefined));
  return names.map((name, index) => names.indexOf(name) < index && say(`${name} is set twice.`, 'sysctls', index, 'name'));
};

const FILLED_IN_SPREAD = ['whenUnsatisfiable', 'nodeAffinityPolicy', 'nodeTaintsPolicy'];

/** By type; as pkg/apis/core/validation and pkg/apis/rbac/validation of Kubernetes check them. */
export const KUBERNETES_RULES: Readonly<Record<string, Rule>> = {
  AppArmorProfile: profile('AppArmor'),
  LabelSelector: labelsIn('matchLabels'),
  LabelSelectorRequirement: requirement([]),
  LocalObjectReference: all(form('object-name', 'name'), filled('name')),
  NodeSelector: ({nodeSelectorTerms: terms}) => [
    Array.isArray(terms) && terms.length === 0 && say('There have to be nodeSelectorTerms.', 'nodeSelectorTerms'),
  ],
  NodeSelectorRequirement: requirement(['Gt', 'Lt']),
  PodAffinityTerm: all(form('qualified-name', 'topologyKey'), filled('topologyKey'), each('dns-label', 'namespaces')),
  PodSecurityContext: all(
    ...['fsGroup', 'runAsUser', 'runAsGroup'].map(id),
    ...['fsGroupChangePolicy', 'supplementalGroupsPolicy'].map(filled),
    runsAsRoot,
    groups,
    sysctls,
  ),
  PreferredSchedulingTerm: between(1, 100, 'weight'),
  ResourceRequirements: resources,
  SeccompProfile: all(profile('seccomp'), relative('localhostProfile')),
  SecurityContext: all(id('runAsUser'), id('runAsGroup'), filled('procMount'), runsAsRoot, securityContext),
  Sysctl: all(form('sysctl', 'name'), filled('name')),
  Toleration: all(form('qualified-name', 'key'), form('label-value', 'value'), toleration),
  TopologySpreadConstraint: all(
    form('qualified-name', 'topologyKey'),
    filled('topologyKey'),
    count('maxSkew', 1),
    count('minDomains', 1),
    ...FILLED_IN_SPREAD.map(filled),
    spread,
  ),
  WeightedPodAffinityTerm: between(1, 100, 'weight'),
  ...CONTAINER_RULES,
  ...VOLUME_RULES,
};
