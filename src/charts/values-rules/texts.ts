import type {ValuesRule} from '../define.ts';
import {at, getAt, isMap} from '../tree.ts';
import {textAt} from './reading.ts';

/** Plain YAML that is no text, or another one. */
const MISREAD = [
  /^[-+]?\.?\d[\d_]*(\.[\d_]*)?(e[-+]?\d+)?$|^[-+]?0[xob][\da-f_]+$|^[-+]?\.(inf|nan)$/i,
  /^(y|n|yes|no|on|off|true|false|null|~)$/i,
  /^[\s!&*?|>%@`"'#{}[\],]|^-$|^- |[\s]$|\n|:(\s|$)|\s#/,
];

/** Templates print these without quotes, so the manifest may hold a number or nothing where the file holds a text. */
export const printedBare = (range: string, ...paths: readonly string[]): ValuesRule => ({
  id: 'R39',
  code: 'MISREAD_IN_MANIFEST',
  in: range,
  severity: 'error',
  test: (values) =>
    paths
      .filter((path) => MISREAD.some((pattern) => pattern.test(textAt(values, path))))
      .map((path) => ({
        path: at(path),
        message: `The templates print ${JSON.stringify(textAt(values, path))} without quotes, and Helm reads something else from the manifest.`,
        suggestion: 'Choose a name that begins with a letter and is no YAML word',
      })),
});

/** null takes a default away that these templates cannot do without. */
export const notNull = (range: string, ...paths: readonly string[]): ValuesRule => ({
  id: 'R36',
  code: 'NULL_DELETES_DEFAULT',
  in: range,
  severity: 'error',
  test: (values) =>
    paths
      .filter((path) => getAt(values, at(path)) === undefined)
      .map((path) => ({path: at(path), message: 'The templates break on null here.', suggestion: 'Leave the key out, or write {}'})),
});

/** The key of a Secret, which only counts together with the Secret. */
export const keyOfSecret = (range: string, secret: readonly string[], ...keys: readonly string[]): ValuesRule => ({
  id: 'R2',
  code: 'NO_KEY_OF_SECRET',
  in: range,
  severity: 'error',
  test: (values) =>
    secret.some((path) => textAt(values, path) !== '')
      ? keys
          .filter((path) => getAt(values, at(path)) === '')
          .map((path) => ({
            path: at(path),
            message: 'Without the key nothing is taken from the Secret.',
            suggestion: 'Leave it out to keep the default',
          }))
      : [],
});

/** Labels by which the chart's own selectors find pods. */
export const selectorLabels = (
  id: string,
  range: string,
  paths: readonly string[],
  labels: readonly string[],
  because: string,
): ValuesRule => ({
  id,
  code: 'SELECTOR_LABEL',
  in: range,
  severity: 'error',
  test: (values) =>
    paths.flatMap((path) => {
      const found = getAt(values, at(path));
      return labels
        .filter((label) => isMap(found) && found[label] !== undefined)
        .map((label) => ({path: [...at(path), label], message: because, suggestion: `Leave ${label} out`}));
    }),
});
