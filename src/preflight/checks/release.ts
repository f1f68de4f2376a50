import type {Check} from '../check.ts';

export const releaseChecks: readonly Check[] = [];
