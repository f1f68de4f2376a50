import {
  cache,
  cacheAccessMode,
  cacheClaim,
  cachePath,
  cacheSize,
  cacheStorageClass,
  cacheSubPath,
  efsHandle,
  efsMountOption,
} from './cache.ts';
import {defineSetting, type Get, type Setting} from './define.ts';
import {bytes, gibibytesOf} from './kinds/quantities.ts';
import {absolutePath, onOff} from './kinds/texts.ts';
import {singleRun} from './purpose.ts';

export const dataHome = defineSetting('Storage', 'data-home', {
  isForRuns: true,
  question: 'Agent data directory',
  summary: 'Agent data directory: on the nodes for agent-k8s, in the container for other charts.',
  kind: absolutePath(),
});

export const dataSize = defineSetting('Storage', 'data-size', {
  isForRuns: true,
  question: 'Size limit of the ephemeral data volume',
  summary: 'Size limit of the ephemeral volume for workspaces.',
  kind: bytes(),
  meant: gibibytesOf,
});

const isCacheOff = (get: Get): boolean | undefined => (get(singleRun) ? false : undefined);

const afterSingleRun = (isOn: boolean, get: Get): string | undefined =>
  isOn && get(singleRun)
    ? 'A run can modify this cache, and later runs use the modified content. Disable the cache for isolation.'
    : undefined;

export const providerCache: Setting<boolean> = defineSetting('Storage', 'provider-cache', {
  variable: 'SCALR_AGENT_PROVIDER_CACHE_ENABLED',
  isForRuns: true,
  question: 'Cache providers?',
  summary: 'Cache Terraform/OpenTofu providers.',
  kind: onOff(),
  fallback: (get) => isCacheOff(get) ?? (get(providerCacheLimit) === undefined ? undefined : true),
  caution: afterSingleRun,
});

const limitOf = (what: 'provider' | 'module', isOn: () => Setting<boolean>): Setting<string> =>
  defineSetting('Storage', `${what}-cache-limit`, {
    variable: `SCALR_AGENT_${what.toUpperCase()}_CACHE_SIZE_LIMIT_MB`,
    isForRuns: true,
    question: `Size limit of the ${what} cache`,
    summary: `Size limit of the ${what} cache; above it, the agent removes ${what}s. Enables the ${what} cache.`,
    kind: bytes(),
    appliesWhen: {test: (get) => get(isOn()) !== false, needs: `--${what}-cache`},
  });

export const providerCacheLimit = limitOf('provider', () => providerCache);

export const moduleCache: Setting<boolean> = defineSetting('Storage', 'module-cache', {
  variable: 'SCALR_AGENT_MODULE_CACHE_ENABLED',
  isForRuns: true,
  question: 'Cache modules?',
  summary: 'Cache Terraform/OpenTofu modules.',
  kind: onOff(),
  fallback: (get) => isCacheOff(get) ?? (get(moduleCacheLimit) === undefined ? undefined : true),
  caution: afterSingleRun,
});

export const moduleCacheLimit = limitOf('module', () => moduleCache);

export const storageSettings: readonly Setting[] = [
  cache,
  cacheClaim,
  cacheSize,
  cacheStorageClass,
  cacheAccessMode,
  cacheSubPath,
  cachePath,
  dataHome,
  dataSize,
  efsHandle,
  efsMountOption,
  providerCache,
  providerCacheLimit,
  moduleCache,
  moduleCacheLimit,
];
