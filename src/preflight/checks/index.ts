import type {Check} from '../check.ts';
import {adviceChecks} from './advice.ts';
import {clusterChecks} from './cluster.ts';
import {mirrorChecks, mirrorProbeChecks} from './mirror.ts';
import {namespaceChecks} from './namespace.ts';
import {networkChecks} from './network.ts';
import {nodeChecks} from './nodes.ts';
import {permissionChecks} from './permissions.ts';
import {probeChecks} from './probe.ts';
import {releaseChecks} from './release.ts';
import {secretChecks} from './secrets.ts';
import {storageChecks} from './storage.ts';
import {toolChecks} from './tools.ts';

/** Every check, in the order in which they are printed. */
export const CHECKS: readonly Check[] = [
  ...toolChecks,
  ...clusterChecks,
  ...permissionChecks,
  ...namespaceChecks,
  ...releaseChecks,
  ...secretChecks,
  ...storageChecks,
  ...networkChecks,
  ...mirrorChecks,
  ...nodeChecks,
  ...adviceChecks,
  ...probeChecks,
  ...mirrorProbeChecks,
];
