import {AGENT_STATUSES, type ScalrAgent} from '../checks/status/account.ts';

/** 2 idle, 1 busy */
export const agentCounts = (statuses: readonly ScalrAgent['status'][]): string =>
  [...AGENT_STATUSES, 'unknown' as const]
    .map((status) => [statuses.filter((each) => each === status).length, status] as const)
    .filter(([number]) => number > 0)
    .map(([number, status]) => `${number} ${status}`)
    .join(', ') || 'none';
