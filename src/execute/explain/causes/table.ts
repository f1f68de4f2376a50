import type {CauseRecord} from '../cause.ts';
import {agentCauses} from './agent.ts';
import {claimCauses} from './claim.ts';
import {containerCauses} from './container.ts';
import {creationCauses} from './creation.ts';
import {imageCauses} from './image.ts';
import {missingCauses} from './missing.ts';
import {podCauses} from './pod.ts';
import {schedulingCauses} from './scheduling.ts';
import {workloadCauses} from './workload.ts';

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
