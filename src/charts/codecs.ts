import type {Toleration} from '../settings/lists.ts';
import {canonicalQuantity, milliOf} from '../settings/quantity.ts';
import {isMap, type Tree} from './tree.ts';

/** How a value looks in values.yaml, both ways; reading gives undefined for what no setting can say. */
export interface Codec<T> {
  write(value: T): Tree;
  read(tree: Tree): T | undefined;
}

/** Text; the charts' empty text means "not set". */
export const asText: Codec<string> = {
  write: (value) => value,
  read: (tree) => (typeof tree === 'string' && tree !== '' ? tree : undefined),
};

export const asBoolean: Codec<boolean> = {
  write: (value) => value,
  read: (tree) => (typeof tree === 'boolean' ? tree : undefined),
};

/** Two words for on and off. */
export const asSwitch = (on: string, off: string): Codec<boolean> => ({
  write: (value) => (value ? on : off),
  read: (tree) => (tree === on ? true : tree === off ? false : undefined),
});

export const asNumber: Codec<number> = {
  write: (value) => value,
  read: (tree) => (tree === null || tree === '' || !Number.isInteger(Number(tree)) ? undefined : Number(tree)),
};

/** A choice under the chart's own names. */
export function asWord<K extends string>(words: Readonly<Record<K, string | boolean>>): Codec<K> {
  return {
    write: (value) => words[value],
    read: (tree) => (Object.keys(words) as K[]).find((each) => words[each] === tree),
  };
}

export const asQuantity: Codec<string> = {
  write: (value) => value,
  read: (tree) => (typeof tree === 'string' || typeof tree === 'number' ? canonicalQuantity(String(tree)) : undefined),
};

/** CPU as a plain number of cores. */
export const asCores: Codec<string> = {
  write: (value) => Number(milliOf(value)) / 1000,
  read: (tree) => (typeof tree === 'number' || typeof tree === 'string' ? canonicalQuantity(String(tree)) : undefined),
};

const MEBIBYTE = 1000n * 1024n * 1024n;

export const isWholeMebibytes = (quantity: string): boolean => (milliOf(quantity) ?? 0n) % MEBIBYTE === 0n;

/** Memory as a plain number of mebibytes (the charts call them MB); a fraction is rounded up. */
export const asMebibytes: Codec<string> = {
  write: (value) => Number(((milliOf(value) ?? 0n) + MEBIBYTE - 1n) / MEBIBYTE),
  read: (tree) => (asNumber.read(tree) === undefined ? undefined : canonicalQuantity(`${tree}Mi`)),
};

export const asBase64: Codec<string> = {
  write: (value) => Buffer.from(value).toString('base64'),
  read: (tree) => (typeof tree === 'string' && /-----BEGIN/.test(decode(tree)) ? decode(tree) : undefined),
};
const decode = (text: string): string => Buffer.from(text, 'base64').toString();

/** A map of texts; an empty one means "not set". */
export const asTextMap: Codec<Readonly<Record<string, string>>> = {
  write: (value) => ({...value}),
  read: (tree) =>
    isMap(tree) && Object.keys(tree).length > 0 && Object.values(tree).every((value) => typeof value === 'string')
      ? (tree as Record<string, string>)
      : undefined,
};

export const asTolerations: Codec<Toleration[]> = {
  write: (value) => value.map((each) => ({...each})),
  read: (tree) => (Array.isArray(tree) && tree.length > 0 && tree.every(isPlainToleration) ? (tree as unknown as Toleration[]) : undefined),
};

function isPlainToleration(tree: Tree): boolean {
  if (!isMap(tree) || typeof tree['key'] !== 'string') return false;
  const known = ['key', 'operator', 'value', 'effect'];
  const isExact = tree['operator'] === (typeof tree['value'] === 'string' ? 'Equal' : 'Exists');
  return isExact && Object.entries(tree).every(([key, value]) => known.includes(key) && typeof value === 'string');
}

/** Names as Kubernetes' list of references. */
export const asReferences: Codec<string[]> = {
  write: (value) => value.map((name) => ({name})),
  read: (tree) => {
    const names = Array.isArray(tree) ? tree.map((each) => (isMap(each) && Object.keys(each).length === 1 ? each['name'] : undefined)) : [];
    return names.length > 0 && names.every((name) => typeof name === 'string') ? (names as string[]) : undefined;
  },
};
