import {milliOf} from '../../settings/quantity.ts';
import {cacheSize} from '../../settings/storage.ts';
import type {DerivedKeys, Entry} from '../define.ts';
import {at, getAt, isOn, textAt, type Values} from '../tree.ts';

interface Cache {
  name: string;
  /** Its part of a volume that is too small for the limits of the chart, in quarters. */
  quarters: bigint;
  isUsed(values: Values): boolean;
}

/** What shares the volume of the cache: docs/charts/agent-job.md, "Cache". */
const CACHES: readonly Cache[] = [
  {name: 'providerCache', quarters: 2n, isUsed: (values) => isOn(values, 'agent.providerCache.enabled')},
  {name: 'moduleCache', quarters: 1n, isUsed: (values) => isOn(values, 'agent.moduleCache.enabled')},
  {name: 'binaryCache', quarters: 1n, isUsed: () => true},
];

const limitOf = ({name}: Cache): string => `agent.${name}.sizeLimit`;

const MEBIBYTE = 1000n * 1024n ** 2n;
const GIBIBYTE = 1024n;

/** The quantity at a key in mebibytes; zero where there is none. */
const mebibytesAt = (values: Values, path: string): bigint => (milliOf(String(getAt(values, at(path)) ?? '')) ?? 0n) / MEBIBYTE;

const together = (values: Values, caches: readonly Cache[]): bigint =>
  caches.filter((each) => each.isUsed(values)).reduce((sum, each) => sum + mebibytesAt(values, limitOf(each)), 0n);

/** What the caches in use may grow to together, in mebibytes. */
export const softLimits = (values: Values): bigint => together(values, CACHES);

/** Whole gibibytes where that costs little. */
const spelt = (mebibytes: bigint): string => (mebibytes >= 4n * GIBIBYTE ? `${mebibytes / GIBIBYTE}Gi` : `${mebibytes}Mi`);

const CLAIM = 'persistence.cache.persistentVolumeClaim';

const makesClaim = (values: Values): boolean =>
  isOn(values, 'persistence.cache.enabled') &&
  textAt(values, `${CLAIM}.claimName`) === '' &&
  textAt(values, 'persistence.cache.hostPath.path') === '';

/** Limits of the caches that fit a new claim together, where those of the chart do not. */
export const cacheLimits: DerivedKeys = {
  in: '>=0.5.65',
  setting: cacheSize,
  paths: CACHES.map((each) => at(limitOf(each))),
  write: (values, isWritten) => {
    const size = mebibytesAt(values, `${CLAIM}.storage`);
    if (!makesClaim(values) || softLimits(values) <= size) return [];
    const isOpen = (each: Cache): boolean => !isWritten(at(limitOf(each))) && mebibytesAt(values, limitOf(each)) > 0n;
    const open = CACHES.filter(isOpen);
    const left =
      size -
      together(
        values,
        CACHES.filter((each) => !isOpen(each)),
      );
    const quarters = open.reduce((sum, each) => sum + each.quarters, 0n);
    return open.flatMap((each): Entry[] => {
      const share = (left * each.quarters) / quarters;
      const isSmaller = each.isUsed(values) && share > 0n && share < mebibytesAt(values, limitOf(each));
      return isSmaller ? [[at(limitOf(each)), spelt(share), 'Limits of the caches that fit the volume together']] : [];
    });
  },
};
