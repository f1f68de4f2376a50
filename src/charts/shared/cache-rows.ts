import {at, getAt, type Path, type Tree, type Values} from '../../ground/tree.ts';
import {
  cache,
  cacheAccessMode,
  cacheClaim,
  cacheSize,
  cacheStorageClass,
  cacheSubPath,
} from '../../settings/cache.ts';
import type {Get, Setting} from '../../settings/define.ts';
import {compare} from '../releases/versions.ts';
import {asMebibytes, isWholeMebibytes} from './codecs.ts';
import type {Row, Scope, ValuesEntry} from './row.ts';
import {implied, key, type Options, row} from './row-kinds.ts';

interface ClaimCache {
  /** Map that holds `enabled` and `persistentVolumeClaim`. */
  volume: string;
  /** The map with the same keys that the templates read with these values (default: `volume`). */
  volumeIn?(values: Values): string;
  /** Additional keys for a new or existing PersistentVolumeClaim. */
  withClaim?: {
    paths: readonly Path[];
    write(scope: Scope): readonly ValuesEntry[];
    /** True if the keys are those for a PersistentVolumeClaim that all nodes mount. */
    isForAllNodes?(values: Values): boolean;
  };
}

const isNewClaim = (get: Get): boolean => get(cache) === 'pvc';
const isExistingClaim = (get: Get): boolean => get(cache) === 'existing-pvc';
const isClaim = (get: Get): boolean => isNewClaim(get) || isExistingClaim(get);

/** A cache on a new PersistentVolumeClaim, an existing one or an ephemeral volume. */
export function claimCache({volume, volumeIn = () => volume, withClaim}: ClaimCache): Row[] {
  const enabled = at(`${volume}.enabled`);
  const isEnabled = (values: Values): boolean =>
    getAt(values, at(`${volumeIn(values)}.enabled`)) === true;
  const claimKey = (name: string): string => `${volume}.persistentVolumeClaim.${name}`;
  const claimAt = (values: Values, name: string): Tree =>
    getAt(values, at(`${volumeIn(values)}.persistentVolumeClaim.${name}`)) ?? null;
  const ofClaim = <T extends string>(
    setting: Setting<T>,
    name: string,
    options: Options<T>,
  ): Row<T> => ({
    ...key(setting, claimKey(name), options),
    read: (values) => setting.kind.fromValues?.(claimAt(values, name)),
  });
  return [
    row({
      setting: cache,
      accepts: (kind) => kind === 'ephemeral' || kind === 'pvc' || kind === 'existing-pvc',
      paths: [enabled, ...(withClaim?.paths ?? [])],
      write: (kind, scope) =>
        kind === 'ephemeral'
          ? [[enabled, false]]
          : [[enabled, true], ...(withClaim?.write(scope) ?? [])],
      read: (values) => {
        if (!isEnabled(values)) return 'ephemeral';
        return cacheClaim.kind.fromValues?.(claimAt(values, 'claimName')) ? 'existing-pvc' : 'pvc';
      },
    }),
    ofClaim(cacheClaim, 'claimName', {when: isExistingClaim}),
    ofClaim(cacheSize, 'storage', {when: isNewClaim}),
    ofClaim(cacheStorageClass, 'storageClassName', {
      when: isNewClaim,
      // docs/charts/upgrades.md, "A storage class of -": the templates break on it before 0.6.2.
      accepts: (name, {version}) => name !== '-' || compare(version, '0.6.2') >= 0,
    }),
    ofClaim(cacheAccessMode, 'accessMode', {when: isNewClaim}),
    // Informational for an existing PersistentVolumeClaim; no template reads it.
    implied(
      cacheAccessMode,
      (values) => (withClaim?.isForAllNodes?.(values) ? 'ReadWriteMany' : undefined),
      {when: isExistingClaim, from: [at(claimKey('accessMode'))]},
    ),
    ofClaim(cacheSubPath, 'subPath', {when: isClaim}),
  ];
}

/** The size limit of an ephemeral cache. */
export const ephemeralLimit = (path: string): Row =>
  key(cacheSize, path, {when: (get) => (get(cache) ?? 'ephemeral') === 'ephemeral'});

/** Settings of a PersistentVolumeClaim for the cache. */
export const CLAIM_SETTINGS = [
  cacheClaim,
  cacheSize,
  cacheStorageClass,
  cacheAccessMode,
  cacheSubPath,
];

/** `what` completes "… in whole mebibytes". */
export const inMebibytes =
  (what: string): NonNullable<Row<string>['partly']> =>
  (value) =>
    isWholeMebibytes(value)
      ? undefined
      : `${what} in whole mebibytes: ${value} becomes ${asMebibytes.read(asMebibytes.write(value))}.`;

/** The limit of a cache in a variable of the agent. */
export const cacheLimit = {
  as: asMebibytes,
  partly: inMebibytes('The agent requires the cache limit'),
};
