import {serviceAccountAnnotation, serviceAccountName} from '../../settings/pods.ts';
import {asText, asTextMap} from '../codecs.ts';
import type {Row} from '../define.ts';
import {at, getAt} from '../tree.ts';
import {row} from './row-kinds.ts';

const CREATE = at('serviceAccount.create');
const NAME = at('serviceAccount.name');
const ANNOTATIONS = at('serviceAccount.annotations');

/**
 * A name alone is an account that exists; annotations need one that the chart creates, under the name if there is one.
 * All three charts drop annotations without `serviceAccount.create` (every version, templates/serviceaccount.yaml).
 */
export const serviceAccount = (partly?: Row<string>['partly']): Row[] => [
  row({
    setting: serviceAccountName,
    paths: [CREATE, NAME],
    write: (name, {get}) => [
      [CREATE, get(serviceAccountAnnotation) !== undefined],
      [NAME, name],
    ],
    read: (values) => asText.read(getAt(values, NAME) ?? ''),
    ...(partly ? {partly} : {}),
  }),
  row({
    setting: serviceAccountAnnotation,
    paths: [CREATE, ANNOTATIONS],
    write: (map) => [
      [CREATE, true],
      [ANNOTATIONS, {...map}],
    ],
    read: (values) => (getAt(values, CREATE) === true ? asTextMap.read(getAt(values, ANNOTATIONS) ?? {}) : undefined),
  }),
];
