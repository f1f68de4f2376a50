import type {Chart} from '../define.ts';
import {sharedRules} from '../shared-rules.ts';
import {defaults} from './defaults.ts';
import {ownVariables} from './own-variables.ts';
import {refusals} from './refusals.ts';
import {rows} from './rows.ts';
import {rules} from './rules.ts';
import {valuesRules} from './values-rules.ts';

/** One kind of pod that executes runs in its only container, one run at a time. */
export const agentLocal: Chart = {
  name: 'agent-local',
  rows,
  defaults,
  rules: [...sharedRules, ...rules],
  valuesRules,
  refusals,
  ownVariables,
  containers: [{name: 'agent', extraEnv: ['extraEnv']}],
};
