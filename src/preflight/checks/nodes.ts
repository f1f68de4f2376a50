import type {Check} from '../check.ts';

export const nodeChecks: readonly Check[] = [];
