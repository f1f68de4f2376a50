import type {ValuesRule} from '../define.ts';
import {at, getAt, isMap, type Tree, type Values} from '../tree.ts';
import {isOn, itemsAt, nameOf, textAt} from './reading.ts';

/** Lists of mounts: at the keys themselves, and in each container of a list. */
const mountLists = (values: Values, mounts: readonly string[], containers?: string): [(string | number)[], Tree[]][] => [
  ...mounts.map((path): [(string | number)[], Tree[]] => [[...at(path)], itemsAt(values, path)]),
  ...(containers === undefined ? [] : itemsAt(values, containers)).map((each, index): [(string | number)[], Tree[]] => {
    const found = isMap(each) ? each['volumeMounts'] : undefined;
    return [[...at(containers as string), index, 'volumeMounts'], Array.isArray(found) ? found : []];
  }),
];

/** Kubernetes refuses a mount of a volume that is not there, and two volumes of one name. */
export const mountsOfVolumes = (
  volumes: string,
  mounts: readonly string[],
  own: readonly string[],
  range: string,
  containers?: string,
): ValuesRule => ({
  id: 'API',
  code: 'VOLUME_NOT_FOUND',
  in: range,
  severity: 'error',
  test: (values) => {
    const extra = itemsAt(values, volumes).map(nameOf);
    const repeated = extra.flatMap((name, index) =>
      name !== undefined && own.includes(name)
        ? [
            {
              path: [...at(volumes), index, 'name'],
              message: `The chart has a volume ${name} of its own.`,
              suggestion: 'Choose another name',
            },
          ]
        : [],
    );
    const dangling = mountLists(values, mounts, containers).flatMap(([path, items]) =>
      items.flatMap((mount, index) => {
        const name = nameOf(mount);
        if (name === undefined || extra.includes(name) || own.includes(name)) return [];
        return [{path: [...path, index, 'name'], message: `There is no volume ${name}.`, suggestion: `Add it to ${volumes}`}];
      }),
    );
    return [...repeated, ...dangling];
  },
});

/** A key that counts only while a switch is on. */
export const needsSwitch = (id: string, range: string, path: string, on: string): ValuesRule => ({
  id,
  code: 'SWITCH_IS_OFF',
  in: range,
  severity: 'error',
  test: (values) =>
    textAt(values, path) !== '' && !isOn(values, on)
      ? [{path: at(path), message: `This counts only with ${on}: true.`, suggestion: `${on}: true`}]
      : [],
});

/** A claim that the chart makes needs a size. */
export const sizedClaims = (range: string, ...parents: readonly string[]): ValuesRule => ({
  id: 'API',
  code: 'CLAIM_WITHOUT_SIZE',
  in: range,
  severity: 'error',
  test: (values) =>
    parents
      .filter((parent) => isOn(values, `${parent}.enabled`) && textAt(values, `${parent}.persistentVolumeClaim.claimName`) === '')
      .map((parent) => at(`${parent}.persistentVolumeClaim.storage`))
      .filter((path) => /^[+-]?0*(\.0*)?[A-Za-z]*$/.test(String(getAt(values, path) ?? '')))
      .map((path) => ({path, message: 'A claim needs a size above zero.', suggestion: '20Gi'})),
});

/** Kubernetes takes no slash at the start, and these templates leave it there. */
export const relativeSubPaths = (range: string, ...claims: readonly string[]): ValuesRule => ({
  id: 'API',
  code: 'ABSOLUTE_SUB_PATH',
  in: range,
  severity: 'error',
  test: (values) =>
    claims
      .map((claim) => `${claim}.subPath`)
      .filter((path) => textAt(values, path).startsWith('/'))
      .map((path) => ({
        path: at(path),
        message: 'A sub path starts without a slash.',
        suggestion: JSON.stringify(textAt(values, path).replace(/^\/+/, '')),
      })),
});
