import {getAt, isMap, isOn, itemsAt, type Tree, textAt, type Values} from '../../ground/tree.ts';
import type {ValuesRule} from '../define.ts';
import {keyError, keyWarning, tokenOfAccount} from '../shared-values-rules.ts';
import {FLAT, NESTED} from './versions.ts';

const grants = (rule: Tree, field: string, wanted: string): boolean => {
  const list = isMap(rule) ? rule[field] : undefined;
  return Array.isArray(list) && (list.includes(wanted) || list.includes('*'));
};

const allows = (values: Values, key: string, [group, resource, verb]: readonly [string, string, string]): boolean =>
  itemsAt(values, key).some(
    (rule) => grants(rule, 'apiGroups', group) && grants(rule, 'resources', resource) && grants(rule, 'verbs', verb),
  );

const isNamed = (values: Values): boolean => textAt(values, 'serviceAccount.name') !== '';

/** Permissions that the controller requires: templates/rbac.yaml. */
const NEEDED: readonly (readonly [string, string, string])[] = [
  ['batch', 'jobs', 'create'],
  ['batch', 'jobs', 'watch'],
  ['', 'pods', 'watch'],
];

/** Rules for the permissions of the controller of agent-job. */
export const permissionRules: readonly ValuesRule[] = [
  tokenOfAccount('the controller'),
  keyError('NO_PERMISSIONS', {
    in: FLAT,
    keys: ['serviceAccount.create'],
    isWrong: (values) => getAt(values, ['serviceAccount', 'create']) === false && !isNamed(values),
    message: 'Without it, the chart creates no Role, and the controller uses the default service account, which cannot create Jobs.',
    suggestion: 'Set it to true, or set serviceAccount.name to a service account with a Role',
  }),
  keyError('NO_PERMISSIONS', {
    in: NESTED,
    keys: ['rbac.create'],
    isWrong: (values) => !isOn(values, 'rbac.create') && !isOn(values, 'serviceAccount.create') && !isNamed(values),
    message: 'The controller uses the default service account of the namespace, which cannot create Jobs.',
    suggestion: 'Set it to true, or set serviceAccount.name to a service account with a Role',
  }),
  keyWarning('ROLE_NOT_CREATED', {
    in: NESTED,
    keys: ['rbac.create'],
    isWrong: (values) => !isOn(values, 'rbac.create') && isOn(values, 'serviceAccount.create') && !isNamed(values),
    message: 'The chart creates the service account without a Role. Without your own RoleBinding, the controller cannot create Jobs.',
    suggestion: 'Set it to true, or set serviceAccount.name to a service account with a Role',
  }),
  keyError('NO_PERMISSIONS', {
    in: NESTED,
    keys: ['rbac.rules'],
    isWrong: (values, key) => isOn(values, 'rbac.create') && NEEDED.some((each) => !allows(values, key, each)),
    message: 'These rules do not allow the controller to create and watch jobs and to watch pods.',
    suggestion: 'Remove it to use the chart default',
  }),
  keyError('NO_PERMISSIONS', {
    in: '>=0.5.68',
    keys: ['rbac.clusterRules'],
    isWrong: (values, key) => isOn(values, 'rbac.create') && !allows(values, key, ['scalr.io', 'agenttasktemplates', 'get']),
    message: 'These rules do not allow the controller to get agenttasktemplates.scalr.io.',
    suggestion: 'Remove it to use the chart default',
  }),
];
