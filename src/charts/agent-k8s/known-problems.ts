import {textAt} from '../../ground/tree.ts';
import {behavior, info, type KnownProblem, reuseValues} from '../shared/known-problem.ts';
import {GOLDEN} from './versions.ts';

export const knownProblems: readonly KnownProblem[] = [
  info('LIMITS_REMOVED', ['<=0.5.65', '>=0.5.66'], {
    reason: 'Since 0.5.66, controller and workers have no CPU and memory limits by default',
    remedy: 'If a ResourceQuota requires limits, set resources.limits',
  }),
  behavior('REGISTRY_LEGACY_ONLY', ['<=0.5.66', GOLDEN], {
    when: ({values}) => textAt(values, 'agent.container_task_image_registry') !== '',
    whose: '`agent.container_task_image_registry`',
    reason:
      'Since 0.5.67, agent.container_task_image_registry applies only with agent.container_task_image_mode: legacy',
    remedy: 'For golden images, write the registry into agent.container_task_image',
  }),
  reuseValues('<=0.5.66', GOLDEN),
];
