import type {ValuesRule} from '../define.ts';
import {at, getAt, isOn, type Tree, type Values} from '../tree.ts';
import {NESTED} from './versions.ts';

const AGENT = 'agent.podDisruptionBudget';
const TASK = 'task.podDisruptionBudget';

const boundsOf = (values: Values, budget: string): [least: Tree, most: Tree] => [
  getAt(values, at(`${budget}.minAvailable`)) ?? null,
  getAt(values, at(`${budget}.maxUnavailable`)) ?? null,
];

/** What the templates take for unset: docs/charts/agent-job.md, "Disruption budgets". */
const isUnset = (bound: Tree): boolean => bound === null || bound === 0 || bound === '';

const controllersOf = (values: Values): number => Number(getAt(values, at('agent.replicaCount')));
const isForControllers = (values: Values): boolean => isOn(values, `${AGENT}.enabled`) && controllersOf(values) > 1;

const noBound = (path: string): {path: readonly string[]; message: string; suggestion: string} => ({
  path: at(path),
  message: 'The budget is rendered with neither minAvailable nor maxUnavailable.',
  suggestion: 'Set one of the two, or switch the budget off with enabled: false',
});

/** Disruption budgets that say nothing, or never let a node go. */
export const budgetRules: readonly ValuesRule[] = [
  {
    code: 'NO_DISRUPTION_BOUND',
    in: NESTED,
    severity: 'error',
    test: (values) => (isForControllers(values) && boundsOf(values, AGENT).every(isUnset) ? [noBound(AGENT)] : []),
  },
  {
    code: 'NO_DISRUPTION_BOUND',
    in: '>=0.6.1',
    severity: 'error',
    test: (values) => {
      const [least, most] = boundsOf(values, TASK);
      return isOn(values, `${TASK}.enabled`) && isUnset(least) && most === null ? [noBound(TASK)] : [];
    },
  },
  {
    code: 'DRAIN_BLOCKED',
    in: NESTED,
    severity: 'warning',
    test: (values) => {
      const [least] = boundsOf(values, AGENT);
      const isAll = least === '100%' || (least !== '' && Number(least) >= controllersOf(values));
      if (!isForControllers(values) || !isAll) return [];
      const message = `All ${controllersOf(values)} controllers have to be available, so no node with one of them can be drained.`;
      return [{path: at(`${AGENT}.minAvailable`), message, suggestion: '1'}];
    },
  },
];
