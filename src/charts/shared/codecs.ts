import {isMap, type Tree, type Values} from '../../ground/tree.ts';
import {textsIn} from '../../settings/kinds/lists.ts';
import {integerIn} from '../../settings/kinds/numbers.ts';
import {canonicalQuantity, MEBIBYTE, milliOf, quantityIn} from '../../settings/kinds/quantities.ts';

/** Conversion of a value to and from values.yaml; `read` returns undefined for values that the setting cannot express. */
export interface Codec<T> {
  write(value: T): Tree;
  read(tree: Tree): T | undefined;
}

export const asOnOff = (on: string, off: string): Codec<boolean> => ({
  write: (value) => (value ? on : off),
  read: (tree) => (tree === on || tree === off ? tree === on : undefined),
});

/** A choice with the names that the chart uses. */
export function asEnum<K extends string>(values: Readonly<Record<K, string | boolean>>): Codec<K> {
  return {
    write: (value) => values[value],
    read: (tree) => (Object.keys(values) as K[]).find((each) => values[each] === tree),
  };
}

/** CPU as a plain number of cores. */
export const asCores: Codec<string> = {
  write: (value) => Number(milliOf(value)) / 1000,
  read: quantityIn,
};

export const isWholeMebibytes = (quantity: string): boolean =>
  (milliOf(quantity) ?? 0n) % MEBIBYTE === 0n;

/** Memory as a plain number of mebibytes (the charts call them MB); a fraction is rounded up. */
export const asMebibytes: Codec<string> = {
  write: (value) => Number(((milliOf(value) ?? 0n) + MEBIBYTE - 1n) / MEBIBYTE),
  read: (tree) => (integerIn(tree) === undefined ? undefined : canonicalQuantity(`${tree}Mi`)),
};

/** A size in the two units that the charts can convert, without a fraction. */
export const asGibibytes: Codec<string> = {
  write: (value) => {
    const mebibytes = Number(asMebibytes.write(value));
    return mebibytes % 1024 === 0 ? `${mebibytes / 1024}Gi` : `${mebibytes}Mi`;
  },
  read: quantityIn,
};

export const asBase64: Codec<string> = {
  write: (value) => Buffer.from(value).toString('base64'),
  read: (tree) =>
    typeof tree === 'string' && /-----BEGIN/.test(decode(tree)) ? decode(tree) : undefined,
};

const decode = (text: string): string => Buffer.from(text, 'base64').toString();

/** Texts as a list of objects with one field; objects with further fields have no setting. */
const asItemsWith = (field: string): Codec<string[]> => ({
  write: (texts) => texts.map((text) => ({[field]: text})),
  read: (tree) =>
    textsIn(
      Array.isArray(tree)
        ? tree.map((each) =>
            isMap(each) && Object.keys(each).length === 1 ? (each[field] ?? null) : null,
          )
        : null,
    ),
});

/** Names as a Kubernetes list of object references. */
export const asReferences = asItemsWith('name');

/** URLs as a list of mirrors. */
export const asMirrors = asItemsWith('url');

/** The same as JSON, for a variable. */
export const asMirrorsText: Codec<string[]> = {
  write: (urls) => JSON.stringify(asMirrors.write(urls)),
  read: (tree) => asMirrors.read(parsedList(String(tree))),
};

/** A JSON list of objects; empty for everything else. */
export function parsedList(text = '[]'): Values[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter(isMap) : [];
  } catch {
    // Validation of the variable reports it.
    return [];
  }
}
