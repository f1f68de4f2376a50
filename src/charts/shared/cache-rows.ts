import {at, getAt, type Path} from '../../ground/tree.ts';
import {
  cache,
  cacheAccessMode,
  cacheClaim,
  cacheSize,
  cacheStorageClass,
  cacheSubPath,
} from '../../settings/cache.ts';
import type {Get} from '../../settings/define.ts';
import {compare} from '../releases/versions.ts';
import {asMebibytes, isWholeMebibytes} from './codecs.ts';
import type {Row, Scope, ValuesEntry} from './row.ts';
import {key, notWritten, row, textIn} from './row-kinds.ts';

interface CacheKeys {
  /** Map that holds `enabled` and `persistentVolumeClaim`. */
  volume: string;
  /** Key of the limit of the ephemeral volume, where the version has one. */
  limit?: string;
  /** Additional keys for a PersistentVolumeClaim in this chart. */
  withClaim?: {paths: readonly Path[]; write(scope: Scope): readonly ValuesEntry[]};
}

const isNewClaim = (get: Get): boolean => get(cache) === 'pvc';
const isExistingClaim = (get: Get): boolean => get(cache) === 'existing-pvc';
const isEphemeral = (get: Get): boolean => (get(cache) ?? 'ephemeral') === 'ephemeral';

/** A cache on a new PersistentVolumeClaim, an existing one or an ephemeral volume. */
export const claimCache = ({volume, limit, withClaim}: CacheKeys): Row[] => {
  const enabled = at(`${volume}.enabled`);
  const claim = `${volume}.persistentVolumeClaim`;
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
        if (getAt(values, enabled) !== true) return 'ephemeral';
        return textIn(values, `${claim}.claimName`) === undefined ? 'pvc' : 'existing-pvc';
      },
    }),
    key(cacheClaim, `${claim}.claimName`, {when: isExistingClaim}),
    key(cacheSize, `${claim}.storage`, {when: isNewClaim}),
    ...(limit === undefined ? [] : [key(cacheSize, limit, {when: isEphemeral})]),
    key(cacheStorageClass, `${claim}.storageClassName`, {
      when: isNewClaim,
      // docs/charts/upgrades.md, "A storage class of -": the templates break on it before 0.6.2.
      accepts: (name, {version}) => name !== '-' || compare(version, '0.6.2') >= 0,
    }),
    key(cacheAccessMode, `${claim}.accessMode`, {when: isNewClaim}),
    // Informational for an existing PersistentVolumeClaim; no template reads it.
    notWritten(cacheAccessMode, {when: isExistingClaim}),
    key(cacheSubPath, `${claim}.subPath`, {when: (get) => isNewClaim(get) || isExistingClaim(get)}),
  ];
};

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
