import {defineSetting, type Get, InvalidValue, type Setting} from './define.ts';
import {absolutePath, choice, objectName, onOff, relativePath, text} from './kinds.ts';
import {listOf} from './lists.ts';
import {singleRun} from './purpose.ts';
import {bytes} from './quantity.ts';

export const ACCESS_MODES = ['ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod'] as const;

/** True for a cache that outlives the pods that fill it. */
export const isPersistent = (kind: string | undefined): boolean => kind !== undefined && kind !== 'ephemeral';

export const cache = defineSetting({
  id: 'cache',
  group: 'Storage',
  question: 'Where do providers and binaries stay between runs?',
  summary: 'Where providers and binaries stay between runs.',
  kind: choice(['ephemeral', 'pvc', 'existing-pvc', 'hostpath', 'efs']),
  explained: {
    text: 'With a cache, providers and binaries are downloaded once and not for every run.',
    reference: 'agent-local 0.6.5, values.yaml (persistence.cache)',
  },
  meanings: {
    ephemeral: 'on the node of the pod, gone with the pod: nothing to prepare',
    pvc: 'a volume that the chart claims; it outlives the pod',
    'existing-pvc': 'a claim that is there already',
    hostpath: 'a directory of the nodes',
    efs: 'an Amazon EFS file system, which all nodes share',
  },
  fallback: (get) => {
    if (get(cacheClaim)) return 'existing-pvc' as const;
    if (get(efsHandle)) return 'efs' as const;
    if (get(cachePath)) return 'hostpath' as const;
    return get(cacheStorageClass) || get(cacheAccessMode) ? ('pvc' as const) : undefined;
  },
  rule: (value, get) => {
    if (value === 'existing-pvc' && !get(cacheClaim))
      return new InvalidValue('existing-pvc needs the name of the claim', 'Add --cache-claim NAME');
    if (value === 'efs' && !get(efsHandle)) return new InvalidValue('efs needs the file system', 'Add --efs-handle fs-…');
    return undefined;
  },
});

const on =
  (...kinds: string[]) =>
  (get: Get): boolean =>
    kinds.includes(get(cache) ?? 'ephemeral');

export const cacheClaim = defineSetting({
  id: 'cache-claim',
  group: 'Storage',
  question: 'Name of the existing claim',
  summary: 'Existing PersistentVolumeClaim for the cache.',
  kind: objectName(),
  explained: {
    text: 'It has to be in the namespace of the release.',
    reference: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/',
  },
  appliesWhen: {test: on('existing-pvc'), needs: '--cache existing-pvc'},
});

export const cacheSize = defineSetting({
  id: 'cache-size',
  group: 'Storage',
  question: 'Size of the cache',
  summary: 'Size of the cache: of the new claim, or the limit of the ephemeral volume.',
  kind: bytes(),
  explained: {
    text: 'With a unit, such as 20Gi. A large provider takes about half a gigabyte.',
    reference: 'https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/',
  },
  appliesWhen: {test: on('pvc', 'ephemeral'), needs: '--cache pvc or --cache ephemeral'},
});

export const cacheStorageClass = defineSetting({
  id: 'cache-storage-class',
  group: 'Storage',
  question: 'Storage class of the cache',
  summary: 'StorageClass of the new claim; - asks for none, so that only a prepared volume binds.',
  kind: text({
    hint: 'NAME',
    isBare: true,
    pattern: /^(-|[a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/,
    expected: 'the name of a storage class or -',
    example: 'standard-rwx',
  }),
  explained: {
    text: 'kubectl get storageclass lists them. Several pods that share the cache need one that makes ReadWriteMany volumes.',
    reference: 'https://kubernetes.io/docs/concepts/storage/storage-classes/',
  },
  appliesWhen: {test: on('pvc'), needs: '--cache pvc'},
});

export const cacheAccessMode = defineSetting({
  id: 'cache-access-mode',
  group: 'Storage',
  question: 'Access mode of the cache',
  summary: 'Access mode of the cache claim.',
  kind: choice(ACCESS_MODES),
  explained: {
    text: 'ReadWriteOnce is for the pods of one node, ReadWriteMany for those of all.',
    reference: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes',
  },
  meanings: {
    ReadWriteOnce: 'the pods of one node share it',
    ReadWriteMany: 'the pods of all nodes share it; few storage classes can',
    ReadWriteOncePod: 'one pod has it',
  },
  appliesWhen: {test: on('pvc', 'existing-pvc'), needs: '--cache pvc or --cache existing-pvc'},
});

export const cacheSubPath = defineSetting({
  id: 'cache-sub-path',
  group: 'Storage',
  question: 'Directory inside the volume',
  summary: 'Directory inside the cache volume.',
  kind: relativePath(),
  appliesWhen: {test: on('pvc', 'existing-pvc'), needs: '--cache pvc or --cache existing-pvc'},
});

export const cachePath = defineSetting({
  id: 'cache-path',
  group: 'Storage',
  question: 'Directory on the nodes for the cache',
  summary: 'Directory on the nodes for the cache.',
  kind: absolutePath(),
  explained: {
    text: 'It has to be writable and allow programs to run.',
    reference: 'agent-job 0.6.5, docs/cache-persistence-hostpath.md',
  },
  appliesWhen: {test: on('hostpath'), needs: '--cache hostpath'},
});

export const dataHome = defineSetting({
  id: 'data-home',
  group: 'Storage',
  question: 'Directory of the agent data',
  summary: 'Directory of the agent data: on the nodes for agent-k8s, in the container otherwise.',
  kind: absolutePath(),
});

export const dataSize = defineSetting({
  id: 'data-size',
  group: 'Storage',
  question: 'Limit of the ephemeral data volume',
  summary: 'Limit of the ephemeral volume that workspaces are unpacked into.',
  kind: bytes(),
});

export const efsHandle = defineSetting({
  id: 'efs-handle',
  group: 'Storage',
  question: 'EFS file system',
  summary: 'EFS file system, with an access point if there is one: fs-… or fs-…::fsap-….',
  kind: text({
    hint: 'HANDLE',
    pattern: /^fs-[0-9a-f]+(:[^:\s]*(:fsap-[0-9a-f]+)?)?$/,
    expected: 'an EFS volume handle',
    example: 'fs-0123456789abcdef0::fsap-0123456789abcdef0',
  }),
  explained: {
    text: 'The identifier of the file system, as the AWS console shows it.',
    reference: 'https://docs.aws.amazon.com/eks/latest/userguide/efs-csi.html',
  },
  appliesWhen: {test: on('efs'), needs: '--cache efs'},
});

/** The mount options of the charts: pods see files of one another within three seconds. */
const SHORT_ATTRIBUTE_CACHE = ['acregmin=1', 'acregmax=3', 'acdirmin=1', 'acdirmax=3'];

export const efsMountOption = defineSetting({
  id: 'efs-mount-option',
  group: 'Storage',
  question: 'Mount option of the EFS file system',
  summary: 'NFS mount option of the EFS volume; replaces all default options; may be repeated.',
  kind: listOf(
    text({
      hint: 'OPTION',
      pattern: /^[a-z][a-z0-9_]*(=[\w.:/+-]+)?$/,
      expected: 'a mount option',
      example: 'acregmax=3',
    }),
  ),
  appliesWhen: {test: on('efs'), needs: '--cache efs'},
  caution: (options) => {
    const missing = SHORT_ATTRIBUTE_CACHE.filter((option) => !options.includes(option));
    return missing.length === 0
      ? undefined
      : `The chart default keeps the NFS attribute cache short, so that pods see the files of one another. Without ${missing.join(', ')} runs may read old files.`;
  },
});

const isCacheOff = (get: Get): boolean | undefined => (get(singleRun) ? false : undefined);

const afterSingleRun = (isOn: boolean, get: Get): string | undefined =>
  isOn && get(singleRun)
    ? 'A run can change what this cache holds, and the runs after it use that. Leave it off for isolation.'
    : undefined;

export const providerCache: Setting<boolean> = defineSetting({
  id: 'provider-cache',
  group: 'Storage',
  question: 'Cache providers?',
  summary: 'Cache Terraform/OpenTofu providers.',
  kind: onOff(),
  fallback: (get) => isCacheOff(get) ?? (get(providerCacheLimit) === undefined ? undefined : true),
  caution: afterSingleRun,
});

export const providerCacheLimit = defineSetting({
  id: 'provider-cache-limit',
  group: 'Storage',
  question: 'Limit of the provider cache',
  summary: 'Size above which the agent removes providers from the cache; turns the provider cache on.',
  kind: bytes(),
  appliesWhen: {test: (get) => get(providerCache) !== false, needs: '--provider-cache'},
});

export const moduleCache = defineSetting({
  id: 'module-cache',
  group: 'Storage',
  question: 'Cache modules?',
  summary: 'Cache Terraform/OpenTofu modules.',
  kind: onOff(),
  fallback: isCacheOff,
  caution: afterSingleRun,
});
