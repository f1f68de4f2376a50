import {singleRun} from './agent.ts';
import {type Declaration, defineSetting, type Get, MissingSetting, type Setting} from './define.ts';
import {
  absolutePath,
  bytes,
  choice,
  gibibytesOf,
  objectName,
  onOff,
  relativePath,
  text,
} from './kinds.ts';
import {listOf} from './lists.ts';

export const ACCESS_MODES = ['ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod'] as const;

/** True for a cache that outlives the pods that fill it. */
export const isPersistent = (kind: string | undefined): boolean =>
  kind !== undefined && kind !== 'ephemeral';

/** Only runs need storage. */
const storageSetting = <T>(
  id: string,
  declaration: Omit<Declaration<T>, 'isForRuns'>,
): Setting<T> => defineSetting('Storage', id, {isForRuns: true, ...declaration});

export const cache = storageSetting('cache', {
  question: 'Where should provider and binary downloads be cached?',
  summary: 'Cache for provider and binary downloads.',
  kind: choice(['ephemeral', 'pvc', 'existing-pvc', 'hostpath', 'efs']),
  explained: 'With a cache, providers and binaries are downloaded once instead of for every run.',
  reference: 'agent-local 0.6.5, values.yaml (persistence.cache)',
  labels: {
    ephemeral: 'Ephemeral volume',
    pvc: 'New PVC',
    'existing-pvc': 'Existing PVC',
    hostpath: 'Node directory',
    efs: 'Amazon EFS',
  },
  meanings: {
    ephemeral: 'on the node of the pod, deleted with the pod; no preparation required',
    pvc: 'a new PVC created by the chart; outlives the pod',
    'existing-pvc': 'an existing PVC',
    hostpath: 'a directory on the nodes',
    efs: 'an Amazon EFS file system shared by all nodes',
  },
  fallback: (get) => {
    if (get(cacheClaim)) return 'existing-pvc' as const;
    if (get(efsHandle)) return 'efs' as const;
    if (get(cachePath)) return 'hostpath' as const;
    return get(cacheStorageClass) || get(cacheAccessMode) ? ('pvc' as const) : undefined;
  },
  rule: (value, get) => {
    if (value === 'existing-pvc' && !get(cacheClaim))
      return new MissingSetting(
        'existing-pvc requires the name of a PVC',
        'Add --cache-claim NAME',
      );
    if (value === 'efs' && !get(efsHandle))
      return new MissingSetting(
        'efs requires an EFS volume handle',
        'Add --efs-handle, for example fs-0123456789abcdef0',
      );
    return undefined;
  },
});

const on =
  (...kinds: string[]) =>
  (get: Get): boolean =>
    kinds.includes(get(cache) ?? 'ephemeral');

export const cacheClaim = storageSetting('cache-claim', {
  question: 'Name of the existing PVC',
  summary: 'Existing PersistentVolumeClaim (PVC) for the cache.',
  kind: objectName(),
  explained: 'The PVC must be in the namespace of the release.',
  reference: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/',
  appliesWhen: {test: on('existing-pvc'), needs: '--cache existing-pvc'},
});

export const cacheSize = storageSetting('cache-size', {
  question: 'Cache size',
  summary: 'Cache size: storage request of the new PVC, or limit of the ephemeral volume.',
  kind: bytes(),
  meant: gibibytesOf,
  explained: 'Include a unit, for example 20Gi. A large provider requires about half a gigabyte.',
  reference: 'https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/',
  appliesWhen: {test: on('pvc', 'ephemeral'), needs: '--cache pvc or --cache ephemeral'},
});

export const cacheStorageClass = storageSetting('cache-storage-class', {
  question: 'StorageClass of the cache',
  summary: 'StorageClass of the new PVC; use - to disable dynamic provisioning.',
  kind: text({
    hint: 'NAME',
    isBare: true,
    pattern: /^(-|[a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/,
    expected: 'a StorageClass name or -',
    example: 'standard-rwx',
  }),
  explained:
    'List them with `kubectl get storageclass`. If several pods share the cache, the StorageClass must support ReadWriteMany.',
  reference: 'https://kubernetes.io/docs/concepts/storage/storage-classes/',
  appliesWhen: {test: on('pvc'), needs: '--cache pvc'},
});

export const cacheAccessMode = storageSetting('cache-access-mode', {
  question: 'Access mode of the cache',
  summary: 'Access mode of the cache PVC.',
  kind: choice(ACCESS_MODES),
  explained: 'ReadWriteOnce is for pods on one node, ReadWriteMany for pods on all nodes.',
  reference: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes',
  meanings: {
    ReadWriteOnce: 'pods on one node can mount it',
    ReadWriteMany: 'pods on all nodes can mount it; few StorageClasses support it',
    ReadWriteOncePod: 'only one pod can mount it',
  },
  appliesWhen: {test: on('pvc', 'existing-pvc'), needs: '--cache pvc or --cache existing-pvc'},
});

export const cacheSubPath = storageSetting('cache-sub-path', {
  question: 'Directory inside the cache volume',
  kind: relativePath(),
  appliesWhen: {test: on('pvc', 'existing-pvc'), needs: '--cache pvc or --cache existing-pvc'},
});

export const cachePath = storageSetting('cache-path', {
  question: 'Cache directory on the nodes',
  kind: absolutePath(),
  explained: 'The directory must be writable and allow execution of programs.',
  reference: 'agent-job 0.6.5, docs/cache-persistence-hostpath.md',
  appliesWhen: {test: on('hostpath'), needs: '--cache hostpath'},
});

export const dataHome = storageSetting('data-home', {
  question: 'Agent data directory',
  summary: 'Agent data directory: on the nodes for agent-k8s, in the container for other charts.',
  kind: absolutePath(),
});

export const dataSize = storageSetting('data-size', {
  question: 'Size limit of the ephemeral data volume',
  summary: 'Size limit of the ephemeral volume for workspaces.',
  kind: bytes(),
  meant: gibibytesOf,
});

/** File system ID, path and access point: https://github.com/kubernetes-sigs/aws-efs-csi-driver/blob/master/docs/README.md */
export const EFS_HANDLE = /^fs-([0-9a-f]{8}|[0-9a-f]{17})(:(\/[^:\s]*)?(:fsap-[0-9a-f]{17})?)?$/;

export const efsHandle = storageSetting('efs-handle', {
  question: 'EFS volume handle',
  summary: 'EFS volume handle: fs-… or, with an access point, fs-…::fsap-….',
  kind: text({
    hint: 'HANDLE',
    pattern: EFS_HANDLE,
    expected: 'a valid EFS volume handle',
    example: 'fs-0123456789abcdef0::fsap-0123456789abcdef0',
  }),
  explained: 'The file system ID, as shown in the AWS console.',
  reference: 'https://docs.aws.amazon.com/eks/latest/userguide/efs-csi.html',
  appliesWhen: {test: on('efs'), needs: '--cache efs'},
});

/** The mount options of the charts: pods see new files of other pods within three seconds. */
const SHORT_ATTRIBUTE_CACHE = ['acregmin=1', 'acregmax=3', 'acdirmin=1', 'acdirmax=3'];

export const efsMountOption = storageSetting('efs-mount-option', {
  question: 'NFS mount option of the EFS volume',
  summary: 'NFS mount option of the EFS volume; replaces all default options; can be repeated.',
  kind: listOf(
    text({
      hint: 'OPTION',
      pattern: /^[a-z][a-z0-9_]*(=[\w.:/+-]+)?$/,
      expected: 'a valid mount option',
      example: 'acregmax=3',
    }),
  ),
  appliesWhen: {test: on('efs'), needs: '--cache efs'},
  caution: (options) => {
    const missing = SHORT_ATTRIBUTE_CACHE.filter((option) => !options.includes(option));
    return missing.length === 0
      ? undefined
      : `The chart default keeps the NFS attribute cache short, so that pods see new files of other pods. Without ${missing.join(', ')}, runs may read stale files.`;
  },
});

const isCacheOff = (get: Get): boolean | undefined => (get(singleRun) ? false : undefined);

const afterSingleRun = (isOn: boolean, get: Get): string | undefined =>
  isOn && get(singleRun)
    ? 'A run can modify this cache, and later runs use the modified content. Disable the cache for isolation.'
    : undefined;

export const providerCache: Setting<boolean> = storageSetting('provider-cache', {
  question: 'Cache providers?',
  summary: 'Cache Terraform/OpenTofu providers.',
  kind: onOff(),
  fallback: (get) => isCacheOff(get) ?? (get(providerCacheLimit) === undefined ? undefined : true),
  caution: afterSingleRun,
});

const limitOf = (what: 'provider' | 'module', isOn: () => Setting<boolean>): Setting<string> =>
  storageSetting(`${what}-cache-limit`, {
    question: `Size limit of the ${what} cache`,
    summary: `Size limit of the ${what} cache; above it, the agent removes ${what}s. Enables the ${what} cache.`,
    kind: bytes(),
    appliesWhen: {test: (get) => get(isOn()) !== false, needs: `--${what}-cache`},
  });

export const providerCacheLimit = limitOf('provider', () => providerCache);

export const moduleCache: Setting<boolean> = storageSetting('module-cache', {
  question: 'Cache modules?',
  summary: 'Cache Terraform/OpenTofu modules.',
  kind: onOff(),
  fallback: (get) => isCacheOff(get) ?? (get(moduleCacheLimit) === undefined ? undefined : true),
  caution: afterSingleRun,
});

export const moduleCacheLimit = limitOf('module', () => moduleCache);
