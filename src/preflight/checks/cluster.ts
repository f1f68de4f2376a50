import type {Check} from '../check.ts';

export const clusterChecks: readonly Check[] = [];
