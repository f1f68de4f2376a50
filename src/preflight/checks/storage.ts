import type {Check} from '../check.ts';

export const storageChecks: readonly Check[] = [];
