import {defineSetting, type Get, InvalidValue} from './define.ts';
import {absolutePath, choice, objectName, onOff, relativePath, text} from './kinds.ts';
import {bytes} from './quantity.ts';

export const ACCESS_MODES = ['ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod'] as const;

export const cache = defineSetting({
  id: 'cache',
  group: 'Storage',
  question: 'Where do providers and binaries stay between runs?',
  summary: 'Where providers and binaries stay between runs.',
  kind: choice(['ephemeral', 'pvc', 'existing-pvc', 'hostpath', 'efs']),
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
  appliesWhen: {test: on('existing-pvc'), needs: '--cache existing-pvc'},
});

export const cacheSize = defineSetting({
  id: 'cache-size',
  group: 'Storage',
  question: 'Size of the cache',
  summary: 'Size of the cache: of the new claim, or the limit of the ephemeral volume.',
  kind: bytes(),
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
  appliesWhen: {test: on('pvc'), needs: '--cache pvc'},
});

export const cacheAccessMode = defineSetting({
  id: 'cache-access-mode',
  group: 'Storage',
  question: 'Access mode of the cache',
  summary: 'Access mode of the cache claim.',
  kind: choice(ACCESS_MODES),
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
  appliesWhen: {test: on('efs'), needs: '--cache efs'},
});

export const providerCache = defineSetting({
  id: 'provider-cache',
  group: 'Storage',
  question: 'Cache providers?',
  summary: 'Cache Terraform/OpenTofu providers.',
  kind: onOff(),
});

export const moduleCache = defineSetting({
  id: 'module-cache',
  group: 'Storage',
  question: 'Cache modules?',
  summary: 'Cache Terraform/OpenTofu modules.',
  kind: onOff(),
});
