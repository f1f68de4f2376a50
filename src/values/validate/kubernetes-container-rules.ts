import {isMap, type Tree} from '../../charts/tree.ts';
import {FORMATS} from './formats.ts';
import {
  absent,
  all,
  between,
  count,
  filled,
  form,
  isSet,
  needs,
  notBoth,
  one,
  type Problem,
  type Rule,
  say,
} from './kubernetes-rule-kinds.ts';

const isEmptyList = (value: Tree | undefined): boolean => !Array.isArray(value) || value.length === 0;

/** A number, or the name of a port of the container. */
const port: Rule = ({port: value}) => {
  const isNumber = typeof value === 'number' && value >= 1 && value <= 65535;
  return [
    !isNumber &&
      !(typeof value === 'string' && FORMATS['port-name']?.(value) === undefined) &&
      say(`${JSON.stringify(value)} is neither a port nor the name of one.`, 'port'),
  ];
};

/** What to do is one of several; the other fields say when. */
const action = (...kinds: string[]): Rule => one('action', (each) => !kinds.includes(each));

const TIMES = ['failureThreshold', 'initialDelaySeconds', 'periodSeconds', 'successThreshold', 'timeoutSeconds'];

const OF_POD = /^metadata\.(name|namespace|uid)$|^metadata\.(labels|annotations)\['[^']+'\]$/;
const OF_NODE = /^spec\.(nodeName|serviceAccountName)$|^status\.(hostIPs?|podIPs?)$/;

const field: Rule = ({fieldRef}) => {
  const path = isMap(fieldRef) ? fieldRef['fieldPath'] : undefined;
  const isKnown = typeof path !== 'string' || OF_POD.test(path) || OF_NODE.test(path);
  return [!isKnown && say(`A variable cannot hold the field ${path} of the pod.`, 'fieldRef', 'fieldPath')];
};

const AMOUNT = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/;

const amount: Rule = ({resource, divisor}) => {
  const units = String(resource).endsWith('cpu')
    ? ['1', '1m']
    : ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];
  const isUnit = !isSet(divisor) || Number(divisor) === 0 || units.includes(String(divisor));
  return [
    !AMOUNT.test(String(resource)) && say(`A container has no resource ${resource}, only such as limits.memory.`, 'resource'),
    !isUnit && say(`The divisor of ${resource} is one of ${units.join(', ')}.`, 'divisor'),
  ];
};

const keyOfObject: Rule = all(form('object-name', 'name'), absent('name'), form('data-key', 'key'), absent('key'));
const object: Rule = all(form('object-name', 'name'), absent('name'));

const policy: Rule = ({verbs, resources, apiGroups, nonResourceURLs}): (Problem | false)[] => [
  Array.isArray(verbs) && verbs.length === 0 && say('A rule needs verbs.', 'verbs'),
  isEmptyList(nonResourceURLs) && (isEmptyList(resources) || isEmptyList(apiGroups)) && say('A rule needs resources and their apiGroups.'),
];

/** Rules of containers and of what they may do, by type. */
export const CONTAINER_RULES: Readonly<Record<string, Rule>> = {
  ConfigMapEnvSource: object,
  ConfigMapKeySelector: keyOfObject,
  Container: all(form('dns-label', 'name'), filled('name'), absent('image')),
  ContainerPort: all(between(1, 65535, 'containerPort'), between(0, 65535, 'hostPort'), form('port-name', 'name')),
  EnvFromSource: all(
    one('source of variables', (each) => each === 'prefix'),
    form('variable-name', 'prefix'),
  ),
  EnvVar: all(form('variable-name', 'name'), filled('name'), notBoth('value', 'valueFrom')),
  EnvVarSource: all(one('source of the value'), field),
  ExecAction: ({command}) => [isEmptyList(command) && say('There is no command.')],
  HTTPGetAction: port,
  HTTPHeader: all(form('header', 'name'), filled('name')),
  LifecycleHandler: action('exec', 'httpGet', 'tcpSocket', 'sleep'),
  PolicyRule: policy,
  Probe: all(action('exec', 'grpc', 'httpGet', 'tcpSocket'), ...TIMES.map((each) => count(each))),
  ResourceFieldSelector: amount,
  SecretEnvSource: object,
  SecretKeySelector: keyOfObject,
  TCPSocketAction: all(needs('port'), port),
};
