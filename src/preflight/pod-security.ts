import {getAt, isMap, type Path, type Tree, type Values} from '../charts/tree.ts';

export type Level = 'privileged' | 'baseline' | 'restricted';

const ADDABLE = [
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
  ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
];
const RESTRICTED_VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
  'image',
];
const SAFE_PROFILES = ['RuntimeDefault', 'Localhost'];

/** What a breach by a directory of the node begins with. */
export const HOST_PATH = 'hostPath volume';

/** What of a pod Pod Security refuses at a level, after the published standards; the admission itself has the last word. Pure. */
export function breaches(pod: Values, level: Level): string[] {
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
        .filter((key) => key !== 'name' && key !== 'hostPath' && !RESTRICTED_VOLUMES.includes(key))
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

const mapsIn = (tree: Tree | undefined): Values[] => (Array.isArray(tree) ? tree.filter(isMap) : []);
const listIn = (tree: Tree | undefined): string[] => (Array.isArray(tree) ? tree.map(String) : []);
