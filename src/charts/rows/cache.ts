import type {Get} from '../../settings/define.ts';
import {cache, cacheAccessMode, cacheClaim, cacheSize, cacheStorageClass, cacheSubPath} from '../../settings/storage.ts';
import {asQuantity, asText, asWord} from '../codecs.ts';
import type {Entry, Row, Scope} from '../define.ts';
import {compare} from '../releases.ts';
import {at, getAt, type Path} from '../tree.ts';
import {key, only, row, textKey, unwritten} from './row-kinds.ts';

interface CacheKeys {
  /** Map that holds `enabled` and `persistentVolumeClaim`. */
  volume: string;
  /** Key of the limit of the ephemeral volume, where the version has one. */
  limit?: string;
  in: string;
  /** What else a claim needs in this chart. */
  withClaim?: {paths: readonly Path[]; write(scope: Scope): readonly Entry[]};
}

const isNewClaim = (get: Get): boolean => get(cache) === 'pvc';
const isClaim = (get: Get): boolean => ['pvc', 'existing-pvc'].includes(get(cache) ?? '');
const isEphemeral = (get: Get): boolean => (get(cache) ?? 'ephemeral') === 'ephemeral';

/** A cache on a new claim, an existing claim or an ephemeral volume. */
export const claimCache = ({volume, limit, in: range, withClaim}: CacheKeys): Row[] => {
  const enabled = at(`${volume}.enabled`);
  const claim = `${volume}.persistentVolumeClaim`;
  return only({in: range}, [
    row({
      setting: cache,
      accepts: (kind) => kind === 'ephemeral' || kind === 'pvc' || kind === 'existing-pvc',
      paths: [enabled, ...(withClaim?.paths ?? [])],
      write: (kind, scope) => (kind === 'ephemeral' ? [[enabled, false]] : [[enabled, true], ...(withClaim?.write(scope) ?? [])]),
      read: (values) => {
        if (getAt(values, enabled) !== true) return 'ephemeral';
        return asText.read(getAt(values, at(`${claim}.claimName`)) ?? '') === undefined ? 'pvc' : 'existing-pvc';
      },
    }),
    textKey(cacheClaim, `${claim}.claimName`, {when: (get) => get(cache) === 'existing-pvc'}),
    key(cacheSize, `${claim}.storage`, asQuantity, {when: isNewClaim}),
    ...(limit === undefined ? [] : [key(cacheSize, limit, asQuantity, {when: isEphemeral})]),
    textKey(cacheStorageClass, `${claim}.storageClassName`, {
      when: isNewClaim,
      // "-" breaks the render before 0.6.2: block sequence entries are not allowed in this context.
      accepts: (name, {version}) => name !== '-' || compare(version, '0.6.2') >= 0,
    }),
    key(
      cacheAccessMode,
      `${claim}.accessMode`,
      asWord({ReadWriteOnce: 'ReadWriteOnce', ReadWriteMany: 'ReadWriteMany', ReadWriteOncePod: 'ReadWriteOncePod'}),
      {
        when: isNewClaim,
      },
    ),
    // Of an existing claim it only says what the operator knows; no template reads it.
    unwritten(cacheAccessMode, {when: (get) => get(cache) === 'existing-pvc'}),
    textKey(cacheSubPath, `${claim}.subPath`, {when: isClaim}),
  ]);
};
