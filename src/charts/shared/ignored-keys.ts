import {isOn, textAt, type Values} from '../../ground/tree.ts';
import type {IgnoredKey} from './chart.ts';

interface IgnoredKeys extends Omit<IgnoredKey, 'path'> {
  /** The key above `keys`. */
  below: string;
  keys: readonly string[];
}

export const ignoredKeysBelow = ({below, keys, ...row}: IgnoredKeys): IgnoredKey[] =>
  keys.map((key) => ({...row, path: `${below}.${key}`}));

/** Keys that the templates read only if a switch is on. */
export const ignoredWithoutSwitch = (
  on: string,
  {because, ...row}: Omit<IgnoredKeys, 'unless' | 'instead'>,
): IgnoredKey[] =>
  ignoredKeysBelow({...row, unless: (values) => isOn(values, on), because, instead: `${on}: true`});

/** Keys of the object that holds a token or a certificate: read only if one of `read` is set. */
export const ignoredWithoutSecret = ({
  read,
  ...row
}: Omit<IgnoredKeys, 'unless' | 'because'> & {read: readonly string[]}): IgnoredKey[] =>
  ignoredKeysBelow({
    ...row,
    unless: hasAny(read),
    because: `it is used only with ${read.join(' or ')}`,
  });
const hasAny =
  (keys: readonly string[]) =>
  (values: Values): boolean =>
    keys.some((key) => textAt(values, key) !== '');
const WITHOUT_ACCOUNT = {
  unless: (values: Values) => isOn(values, 'serviceAccount.create'),
  because: 'the chart does not create a service account',
  instead: 'serviceAccount.create: true',
};

/** All three charts ignore annotations of a service account that they do not create. */
export const annotationsWithoutAccount: IgnoredKey = {
  path: 'serviceAccount.annotations',
  ...WITHOUT_ACCOUNT,
};

export const labelsWithoutAccount: IgnoredKey = {path: 'serviceAccount.labels', ...WITHOUT_ACCOUNT};

/** What a new PVC is made of. */
export const CLAIM_KEYS = ['storageClassName', 'storage', 'accessMode'] as const;

/** Mount options are those of the EFS volume. */
export const mountOptionsWithoutEfs: IgnoredKey = {
  path: 'efsMountOptions',
  unless: hasAny(['efsVolumeHandle']),
  because: 'it is used only with efsVolumeHandle',
};
