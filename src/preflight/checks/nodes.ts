import type {Check} from '../check.ts';
import {architecture, windowsNodes} from './nodes/kinds.ts';
import {controllerNodes, readyNodes, runNodes} from './nodes/placement.ts';
import {roomForAll, roomForRun} from './nodes/room.ts';
import {nodeVersions} from './nodes/versions.ts';

/** Whether there are nodes for what the chart runs, and room on them. */
export const nodeChecks: readonly Check[] = [
  readyNodes,
  nodeVersions,
  runNodes,
  controllerNodes,
  roomForRun,
  roomForAll,
  architecture,
  windowsNodes,
];
