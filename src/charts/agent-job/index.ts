import type {Chart} from '../define.ts';
import {sharedRules} from '../shared-rules.ts';
import {containers} from './containers.ts';
import {defaults} from './defaults.ts';
import {ownVariables} from './own-variables.ts';
import {refusals} from './refusals.ts';
import {rows} from './rows.ts';
import {rules} from './rules.ts';
import {valuesRules} from './values-rules.ts';

/** A controller that starts one Kubernetes Job per run. */
export const agentJob: Chart = {
  name: 'agent-job',
  rows,
  defaults,
  rules: [...sharedRules, ...rules],
  valuesRules,
  refusals,
  ownVariables,
  containers,
};
