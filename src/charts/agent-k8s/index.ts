import type {Chart} from '../define.ts';
import {sharedRules} from '../shared-rules.ts';
import {defaults} from './defaults.ts';
import {ownVariables} from './own-variables.ts';
import {refusals} from './refusals.ts';
import {rows} from './rows.ts';
import {rules} from './rules.ts';
import {valuesRules} from './values-rules.ts';

/** A controller and one worker per node; the agent starts a pod per run, outside the release. */
export const agentK8s: Chart = {
  name: 'agent-k8s',
  rows,
  defaults,
  rules: [...sharedRules, ...rules],
  valuesRules,
  refusals,
  ownVariables,
  containers: [{name: 'controller and the worker', extraEnv: ['extraEnv']}],
};
