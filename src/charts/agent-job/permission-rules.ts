import type {ValuesRule} from '../define.ts';
import {keyRule, tokenOfAccount} from '../shared-values-rules.ts';
import {getAt, isMap, isOn, itemsAt, type Tree, textAt, type Values} from '../tree.ts';
import {FLAT, NESTED} from './versions.ts';

const grants = (rule: Tree, field: string, wanted: string): boolean => {
  const list = isMap(rule) ? rule[field] : undefined;
  return Array.isArray(list) && (list.includes(wanted) || list.includes('*'));
};

/** True when one of the rules allows the verb. */
const allows = (values: Values, key: string, [group, resource, verb]: readonly [string, string, string]): boolean =>
  itemsAt(values, key).some(
    (rule) => grants(rule, 'apiGroups', group) && grants(rule, 'resources', resource) && grants(rule, 'verbs', verb),
  );

const isNamed = (values: Values): boolean => textAt(values, 'serviceAccount.name') !== '';

/** Without these the controller starts no run: templates/rbac.yaml. */
const NEEDED: readonly (readonly [string, string, string])[] = [
  ['batch', 'jobs', 'create'],
  ['batch', 'jobs', 'watch'],
  ['', 'pods', 'watch'],
];

/** What takes away the rights that the controller of agent-job starts runs with. */
export const permissionRules: readonly ValuesRule[] = [
  tokenOfAccount('the controller'),
  keyRule({
    code: 'NO_PERMISSIONS',
    in: FLAT,
    severity: 'error',
    keys: ['serviceAccount.create'],
    isWrong: (values) => getAt(values, ['serviceAccount', 'create']) === false && !isNamed(values),
    message: 'Without it the chart makes no Role either, and the controller runs as the default account, which may not create Jobs.',
    suggestion: 'Leave it true, or set serviceAccount.name to an account that has a Role',
  }),
  keyRule({
    code: 'NO_PERMISSIONS',
    in: NESTED,
    severity: 'error',
    keys: ['rbac.create'],
    isWrong: (values) => !isOn(values, 'rbac.create') && !isOn(values, 'serviceAccount.create') && !isNamed(values),
    message: 'The controller runs as the default account of the namespace, which may not create Jobs.',
    suggestion: 'Leave it true, or set serviceAccount.name to an account that has a Role',
  }),
  keyRule({
    code: 'ROLE_NOT_MADE',
    in: NESTED,
    severity: 'warning',
    keys: ['rbac.create'],
    isWrong: (values) => !isOn(values, 'rbac.create') && isOn(values, 'serviceAccount.create') && !isNamed(values),
    message: 'The chart makes the service account and no Role for it: without a binding of your own the controller may not create Jobs.',
    suggestion: 'Leave it true, or set serviceAccount.name to an account that has a Role',
  }),
  keyRule({
    code: 'NO_PERMISSIONS',
    in: NESTED,
    severity: 'error',
    keys: ['rbac.rules'],
    isWrong: (values, key) => isOn(values, 'rbac.create') && NEEDED.some((each) => !allows(values, key, each)),
    message: 'The controller creates and watches jobs and watches pods, and these rules do not allow that.',
    suggestion: 'Leave it out to keep the default',
  }),
  keyRule({
    code: 'NO_PERMISSIONS',
    in: '>=0.5.68',
    severity: 'error',
    keys: ['rbac.clusterRules'],
    isWrong: (values, key) => isOn(values, 'rbac.create') && !allows(values, key, ['scalr.io', 'agenttasktemplates', 'get']),
    message: 'The controller reads agenttasktemplates of scalr.io, and these rules do not allow that.',
    suggestion: 'Leave it out to keep the default',
  }),
];
