import type {Check} from '../check.ts';

export const networkChecks: readonly Check[] = [];
