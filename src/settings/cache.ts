import {changing} from '../ground/finding.ts';
import {defineSetting, type Get} from './define.ts';
import {MissingSetting} from './kinds/kind.ts';
import {listOf} from './kinds/lists.ts';
import {bytes, gibibytesOf} from './kinds/quantities.ts';
import {absolutePath, choice, objectName, relativePath, text} from './kinds/texts.ts';

export const ACCESS_MODES = ['ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod'] as const;

/** True for a cache that outlives the pods that fill it. */
export const isPersistent = (kind: string | undefined): boolean =>
  kind !== undefined && kind !== 'ephemeral';

export const cache = defineSetting('Storage', 'cache', {
  isForRuns: true,
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
    ephemeral: 'deleted with the pod; needs no preparation',
    pvc: 'created by the chart; outlives the pod',
    'existing-pvc': 'in the namespace of the release',
    hostpath: 'outlives the pod; each node has its own',
    efs: 'one file system for all nodes',
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
        changing`Add its name with ${{id: 'cache-claim'}}`,
      );
    if (value === 'efs' && !get(efsHandle))
      return new MissingSetting(
        'efs requires an EFS volume handle',
        changing`Add ${{id: 'efs-handle'}}, for example fs-0123456789abcdef0`,
      );
    return undefined;
  },
});

const on =
  (...kinds: string[]) =>
  (get: Get): boolean =>
    kinds.includes(get(cache) ?? 'ephemeral');

export const cacheClaim = defineSetting('Storage', 'cache-claim', {
  isForRuns: true,
  question: 'Name of the existing PVC',
  summary: 'Existing PersistentVolumeClaim (PVC) for the cache.',
  kind: objectName(),
  explained: 'The PVC must be in the namespace of the release.',
  reference: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/',
  appliesWhen: {test: on('existing-pvc'), needs: '--cache existing-pvc'},
});

export const cacheSize = defineSetting('Storage', 'cache-size', {
  isForRuns: true,
  question: 'Cache size',
  summary: 'Cache size: storage request of the new PVC, or limit of the ephemeral volume.',
  kind: bytes(),
  meant: gibibytesOf,
  explained: 'Include a unit, for example 20Gi. A large provider requires about half a gigabyte.',
  reference: 'https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/',
  appliesWhen: {test: on('pvc', 'ephemeral'), needs: '--cache pvc or --cache ephemeral'},
});

export const cacheStorageClass = defineSetting('Storage', 'cache-storage-class', {
  isForRuns: true,
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

export const cacheAccessMode = defineSetting('Storage', 'cache-access-mode', {
  isForRuns: true,
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

export const cacheSubPath = defineSetting('Storage', 'cache-sub-path', {
  isForRuns: true,
  question: 'Directory inside the cache volume',
  kind: relativePath(),
  appliesWhen: {test: on('pvc', 'existing-pvc'), needs: '--cache pvc or --cache existing-pvc'},
});

export const cachePath = defineSetting('Storage', 'cache-path', {
  isForRuns: true,
  question: 'Cache directory on the nodes',
  kind: absolutePath(),
  explained: 'The directory must be writable and allow execution of programs.',
  reference: 'agent-job 0.6.5, docs/cache-persistence-hostpath.md',
  appliesWhen: {test: on('hostpath'), needs: '--cache hostpath'},
});

/** File system ID, path and access point: https://github.com/kubernetes-sigs/aws-efs-csi-driver/blob/master/docs/README.md */
export const EFS_HANDLE = /^fs-([0-9a-f]{8}|[0-9a-f]{17})(:(\/[^:\s]*)?(:fsap-[0-9a-f]{17})?)?$/;

export const efsHandle = defineSetting('Storage', 'efs-handle', {
  isForRuns: true,
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

export const efsMountOption = defineSetting('Storage', 'efs-mount-option', {
  isForRuns: true,
  question: 'NFS mount option of the EFS volume',
  summary: 'NFS mount option of the EFS volume; replaces all default options.',
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
