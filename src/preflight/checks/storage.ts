import type {Check} from '../check.ts';
import {accessMode, storageClass} from './storage/classes.ts';
import {efsDriver} from './storage/efs.ts';
import {claimBound, claimNameFree, claimShared} from './storage/existing.ts';

/** Whether every volume that pods mount is there or can be made. */
export const storageChecks: readonly Check[] = [storageClass, accessMode, claimNameFree, claimBound, claimShared, efsDriver];
