import type {Check} from '../check.ts';

export const toolChecks: readonly Check[] = [];
