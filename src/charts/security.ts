import {at, getAt, isMap, type Path, type Tree, type Values} from '../ground/tree.ts';
import {writableRoot} from '../settings/lifecycle.ts';
import {metadataService} from '../settings/network.ts';
import type {ChartName} from './releases/chart-name.ts';
import type {Target} from './releases/target.ts';
import {within} from './releases/versions.ts';
import type {ValuesEntry} from './shared/row.ts';

/** A restriction of the pods that execute runs: docs/charts/README.md, "Security contexts". */
export interface Protection {
  /** Completes "starts runs ". */
  name: string;
  isOn(values: Values): boolean;
  /** Keys that switch it on, tried in this order. */
  keys: readonly ValuesEntry[];
  /** Why the keys of this version must not be written. */
  refused?: string;
  /** What the keys do not cover. */
  partly?: string;
}

type Name = 'user' | 'escalation' | 'filesystem' | 'seccomp' | 'capabilities' | 'privileged';

/** Keys of the security context of the pods that execute runs. */
interface Contexts {
  chart: ChartName;
  in?: string;
  /** Of the pod; the first non-empty value takes effect. */
  pod: readonly string[];
  /** Of the container; undefined if the version has no key for it. */
  container?: string;
  /** Key that mounts the token of a service account into run pods; agent-job never does. */
  token?: string;
  refused?: Readonly<Partial<Record<Name, string>>>;
  partly?: string;
}

const NO_CONTAINER = 'this version has no key for the security context of the runner container';

const CONTEXTS: readonly Contexts[] = [
  {
    chart: 'agent-k8s',
    pod: ['podSecurityContext'],
    container: 'securityContext',
    token: 'agent.automount_service_account_token',
    refused: {
      user: 'the controller and the workers write to a directory of the node, which belongs to root',
      filesystem: 'the chart mounts no writable volume at /tmp',
    },
    partly: 'It applies to the controller and the workers. The agent creates run pods.',
  },
  {
    chart: 'agent-local',
    pod: ['podSecurityContext'],
    container: 'securityContext',
    token: 'serviceAccount.automountToken',
    refused: {filesystem: 'the chart mounts no writable volume at /tmp'},
  },
  {
    chart: 'agent-job',
    in: '<=0.5.63',
    pod: ['podSecurityContext'],
    refused: {
      user: 'the images of this version require root',
      escalation: NO_CONTAINER,
      filesystem: NO_CONTAINER,
      capabilities: NO_CONTAINER,
    },
  },
  // The templates merge both contexts, and these versions in another order.
  ...[
    {
      in: '0.5.76 - 0.5.77 || >=0.6.1',
      pod: ['task.podSecurityContext', 'global.podSecurityContext'],
    },
    {
      in: '0.5.64 - 0.5.75 || 0.5.78 - 0.5.79',
      pod: ['global.podSecurityContext', 'task.podSecurityContext'],
    },
  ].map(
    (each): Contexts => ({...each, chart: 'agent-job', container: 'task.runner.securityContext'}),
  ),
];

interface Restriction extends Pick<Protection, 'name'> {
  id: Name;
  /** `both` has the fields of the container over it. */
  isOn(both: Values, container: Values): boolean;
  /** The field exists in the pod too. */
  isOfPod?: true;
  field: readonly [key: string, value: Tree];
}

const RESTRICTIONS: readonly Restriction[] = [
  {
    id: 'user',
    name: 'as a user other than root',
    isOn: ({runAsNonRoot, runAsUser}) => runAsNonRoot === true || Number(runAsUser ?? 0) > 0,
    isOfPod: true,
    field: ['runAsUser', 1000],
  },
  {
    id: 'escalation',
    name: 'without privilege escalation',
    isOn: (_, {allowPrivilegeEscalation}) => allowPrivilegeEscalation === false,
    field: ['allowPrivilegeEscalation', false],
  },
  {
    id: 'filesystem',
    name: 'with a read-only root filesystem',
    isOn: (_, {readOnlyRootFilesystem}) => readOnlyRootFilesystem === true,
    field: ['readOnlyRootFilesystem', true],
  },
  {
    id: 'seccomp',
    name: 'with a seccomp profile',
    isOn: ({seccompProfile}) =>
      isMap(seccompProfile) && !['', 'Unconfined'].includes(String(seccompProfile['type'] ?? '')),
    isOfPod: true,
    field: ['seccompProfile', {type: 'RuntimeDefault'}],
  },
  {
    id: 'capabilities',
    name: 'without Linux capabilities',
    isOn: (_, {capabilities}) =>
      isMap(capabilities) && [capabilities['drop']].flat().includes('ALL'),
    field: ['capabilities', {drop: ['ALL']}],
  },
  {
    id: 'privileged',
    name: 'without privileged mode',
    isOn: (_, {privileged}) => privileged !== true,
    field: ['privileged', false],
  },
];

const mapAt = (values: Values, path: string | undefined): Values => {
  const found = path === undefined ? undefined : getAt(values, at(path));
  return isMap(found) ? found : {};
};

/** Templates merge contexts with a function that takes zero and false for empty. */
function merged(contexts: readonly Values[]): Values {
  const all: Values = {};
  for (const each of contexts.toReversed())
    for (const [key, value] of Object.entries(each))
      if (value || all[key] === undefined) all[key] = value;
  return all;
}

const ofContexts = ({pod, container, refused = {}, partly}: Contexts): Protection[] =>
  RESTRICTIONS.map(({id, name, isOn, isOfPod, field: [key, value]}) => {
    const places = [...(isOfPod ? pod.slice(0, 1) : []), ...(container ? [container] : [])];
    return {
      name,
      isOn: (values) => {
        const own = mapAt(values, container);
        return isOn({...merged(pod.map((each) => mapAt(values, each))), ...own}, own);
      },
      keys: places.map((place): ValuesEntry => [[...at(place), key] as Path, value]),
      ...(refused[id] === undefined ? {} : {refused: refused[id]}),
      ...(partly === undefined ? {} : {partly}),
    };
  });

const ofToken = ({token}: Contexts): Protection => ({
  name: 'without a token for the Kubernetes API',
  isOn: (values) => token === undefined || getAt(values, at(token)) !== true,
  keys: token === undefined ? [] : [[at(token), false]],
});

/** What restricts run pods in a chart version, always in the same order. */
export const protectionsOf = ({chart, version}: Target): readonly Protection[] =>
  CONTEXTS.filter((each) => each.chart === chart && within(version, each.in)).flatMap((each) => [
    ...ofContexts(each),
    ofToken(each),
  ]);

/** True for a value that restricts runs less than every other one. */
export const isUnprotected = (id: string, value: unknown): boolean =>
  (id === metadataService.id && value === 'allow') || (id === writableRoot.id && value === true);
