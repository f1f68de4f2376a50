import {agentJob} from './agent-job/index.ts';
import {agentK8s} from './agent-k8s/index.ts';
import {agentLocal} from './agent-local/index.ts';
import type {Chart} from './define.ts';
import type {ChartName} from './schema.ts';

/** The three charts, in the order in which upstream recommends them. */
export const CHARTS: Readonly<Record<ChartName, Chart>> = {'agent-local': agentLocal, 'agent-job': agentJob, 'agent-k8s': agentK8s};
