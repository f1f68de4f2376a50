import {agentCauses} from './agent-log-rows.ts';
import type {CauseRecord} from './cause.ts';
import {claimCauses} from './claim.ts';
import {containerCauses} from './container-causes.ts';
import {imageCauses} from './image-causes.ts';
import {missingCauses} from './missing.ts';
import {podCauses} from './pod-causes.ts';
import {schedulingCauses} from './scheduling-causes.ts';
import {workloadCauses} from './workload.ts';
import {creationCauses} from './workload-causes.ts';

/** The first that is true of an object is told, so what is specific comes before what is general. */
export const CAUSES: readonly CauseRecord[] = [
  ...claimCauses,
  ...creationCauses,
  ...schedulingCauses,
  ...imageCauses,
  ...missingCauses,
  ...agentCauses,
  ...containerCauses,
  ...podCauses,
  ...workloadCauses,
];
