import {getAt, isMap, type Path, type Tree, type Values} from '../../charts/tree.ts';
import {isKnown} from '../../cluster/facts/fact.ts';
import {podSpecs} from '../../cluster/pod-specs.ts';
import {type Check, fail, pass, skip, skipUnknown} from '../check.ts';
import {mapsIn} from '../referenced-objects.ts';
import {withoutHostPath} from './cluster.ts';

const exists: Check = {
  id: 'namespace',
  group: 'Namespace',
  title: 'the namespace is there or can be made',
  ref: 'https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/',
  run({readings: {namespaceObject}, name: {place}}) {
    if (!isKnown(namespaceObject)) return skip(namespaceObject.because);
    const found = namespaceObject.value;
    if (found === undefined) return pass(`${place.namespace} will be made`);
    return found.metadata.deletionTimestamp === undefined
      ? pass(`${place.namespace} is there`)
      : fail(
          `${place.namespace} is being deleted: nothing new can be made in it`,
          `Wait until it has gone (kubectl wait --for=delete namespace/${place.namespace}), or take another with --namespace`,
        );
  },
};

const LABEL = 'pod-security.kubernetes.io/enforce';
/** The strictest first. */
const LEVELS = ['restricted', 'baseline', 'privileged'] as const;
type Level = (typeof LEVELS)[number];

const podSecurity: Check = {
  id: 'pod-security',
  group: 'Namespace',
  title: 'Pod Security lets the pods in',
  ref: 'https://kubernetes.io/docs/concepts/security/pod-security-standards/',
  run(context) {
    const {facts, readings, manifest} = context;
    const {place} = context.name;
    if (!isKnown(manifest)) return skipUnknown(manifest, 'What the chart makes is');
    const pods = manifest.value.flatMap(podSpecs);
    const violationsAt = (level: Level): string[] => [...new Set(pods.flatMap((pod) => violations(pod, level)))];
    const needed = LEVELS.find((level) => violationsAt(level).length === 0) as Level;
    const allow = `kubectl label namespace ${place.namespace} ${LABEL}=${needed} --overwrite`;
    const {podSecurity: level} = facts.policies;
    if (!isKnown(level)) {
      const {namespaceObject} = readings;
      if (needed === 'restricted') return pass('the pods keep the strictest level, restricted');
      if (!isKnown(namespaceObject)) return skip(namespaceObject.because);
      const make = namespaceObject.value === undefined ? `kubectl create namespace ${place.namespace} && ` : '';
      return needed === 'baseline'
        ? pass('the pods keep baseline, and no label asks for more')
        : skip(
            `the pods need privileged (${violationsAt('baseline').join(', ')}), and ${level.because}`,
            `Make sure of it: ${make}${allow}`,
          );
    }
    const broken = violationsAt(level.value as Level);
    if (broken.length === 0) return pass(`${place.namespace} enforces ${level.value}, and the pods need ${needed}`);
    return fail(
      `${place.namespace} enforces ${level.value}, which refuses ${broken.join(', ')}`,
      broken.every((each) => each.startsWith(HOST_PATH)) ? `${withoutHostPath(context)}; or allow it: ${allow}` : `Allow it with: ${allow}`,
    );
  },
};

export const namespaceChecks: readonly Check[] = [exists, podSecurity];

const ADDABLE = [
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
  ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
];
const VOLUMES = ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'persistentVolumeClaim', 'projected', 'secret', 'image'];
const SAFE_PROFILES = ['RuntimeDefault', 'Localhost'];

/** The start of every violation by a hostPath volume. */
const HOST_PATH = 'hostPath volume';

/** What Pod Security refuses of a pod at a level, by the published standards; the admission controller has the last word. Pure. */
function violations(pod: Values, level: Level): string[] {
  if (level === 'privileged') return [];
  const containers = ['initContainers', 'containers'].flatMap((key) => mapsIn(pod[key]));
  const found = [...baseline(pod, containers), ...(level === 'restricted' ? restricted(pod, containers) : [])];
  return [...new Set(found)];
}

function baseline(pod: Values, containers: readonly Values[]): string[] {
  return [
    ...['hostNetwork', 'hostPID', 'hostIPC'].filter((key) => pod[key] === true),
    ...mapsIn(pod['volumes']).flatMap((volume) =>
      isMap(volume['hostPath']) ? [`${HOST_PATH} ${String(volume['hostPath']['path'])}`] : [],
    ),
    ...containers.flatMap((container) => {
      const name = String(container['name']);
      const security = (path: Path): Tree | undefined => getAt(container, ['securityContext', ...path]);
      return [
        ...(security(['privileged']) === true ? [`privileged container ${name}`] : []),
        ...listIn(security(['capabilities', 'add']))
          .filter((each) => !ADDABLE.includes(each))
          .map((each) => `capability ${each} of ${name}`),
        ...(mapsIn(container['ports']).some(({hostPort}) => Boolean(hostPort)) ? [`host port of ${name}`] : []),
        ...(['Default', undefined].includes(security(['procMount']) as string) ? [] : [`procMount of ${name}`]),
      ];
    }),
    ...([pod, ...containers].some((each) => getAt(each, ['securityContext', 'seccompProfile', 'type']) === 'Unconfined')
      ? ['seccompProfile Unconfined']
      : []),
  ];
}

function restricted(pod: Values, containers: readonly Values[]): string[] {
  const ofPod = (key: string): Tree | undefined => getAt(pod, ['securityContext', key]);
  return [
    ...mapsIn(pod['volumes']).flatMap((volume) =>
      Object.keys(volume)
        .filter((key) => key !== 'name' && key !== 'hostPath' && !VOLUMES.includes(key))
        .map((key) => `${key} volume`),
    ),
    ...(ofPod('runAsUser') === 0 ? ['runAsUser 0'] : []),
    ...containers.flatMap((container) => {
      const name = String(container['name']);
      const own = (...path: string[]): Tree | undefined => getAt(container, ['securityContext', ...path]);
      const profile = own('seccompProfile', 'type') ?? getAt(pod, ['securityContext', 'seccompProfile', 'type']);
      return [
        ...(own('allowPrivilegeEscalation') === false ? [] : [`allowPrivilegeEscalation of ${name} is not false`]),
        ...((own('runAsNonRoot') ?? ofPod('runAsNonRoot')) === true ? [] : [`runAsNonRoot of ${name} is not true`]),
        ...(own('runAsUser') === 0 ? [`runAsUser 0 of ${name}`] : []),
        ...(listIn(own('capabilities', 'drop')).includes('ALL') ? [] : [`${name} does not drop ALL capabilities`]),
        ...listIn(own('capabilities', 'add'))
          .filter((each) => each !== 'NET_BIND_SERVICE')
          .map((each) => `capability ${each} of ${name}`),
        ...(SAFE_PROFILES.includes(String(profile)) ? [] : [`seccompProfile of ${name} is not RuntimeDefault`]),
      ];
    }),
  ];
}

const listIn = (tree: Tree | undefined): string[] => (Array.isArray(tree) ? tree.map(String) : []);
