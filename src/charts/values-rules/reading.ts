import {at, getAt, isMap, type Tree, type Values} from '../tree.ts';

export const textAt = (values: Values, path: string): string => {
  const found = getAt(values, at(path));
  return typeof found === 'string' ? found : '';
};

export const isOn = (values: Values, path: string): boolean => getAt(values, at(path)) === true;

export const itemsAt = (values: Values, path: string): Tree[] => {
  const found = getAt(values, at(path));
  return Array.isArray(found) ? found : [];
};

export const nameOf = (item: Tree): string | undefined => (isMap(item) && typeof item['name'] === 'string' ? item['name'] : undefined);
