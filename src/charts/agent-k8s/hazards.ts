import {textAt} from '../../ground/tree.ts';
import type {UpgradeHazard} from '../define.ts';
import {behavior, info, reuseValues} from '../shared-versions.ts';
import {GOLDEN} from './versions.ts';

/** docs/charts/upgrades.md is generated from these rows. */
export const hazards: readonly UpgradeHazard[] = [
  info('LIMITS_REMOVED', ['<=0.5.65', '>=0.5.66'], {
    reason: 'Controller and workers have no CPU and memory limits by default since 0.5.66',
    remedy: 'If a ResourceQuota requires limits, set resources.limits',
  }),
  behavior('REGISTRY_LEGACY_ONLY', ['<=0.5.66', GOLDEN], {
    when: ({values}) => textAt(values, 'agent.container_task_image_registry') !== '',
    whose: '`agent.container_task_image_registry`',
    reason: 'agent.container_task_image_registry applies only to agent.container_task_image_mode: legacy since 0.5.67',
    remedy: 'For golden images, write the registry into agent.container_task_image',
  }),
  reuseValues('<=0.5.66', GOLDEN),
];
