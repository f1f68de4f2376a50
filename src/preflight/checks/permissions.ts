import type {Check} from '../check.ts';

export const permissionChecks: readonly Check[] = [];
