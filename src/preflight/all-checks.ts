import type {Check} from './check.ts';
import {accountChecks} from './checks/account.ts';
import {adviceChecks} from './checks/advice.ts';
import {clusterChecks} from './checks/cluster.ts';
import {namespaceChecks} from './checks/namespace.ts';
import {networkChecks} from './checks/network.ts';
import {nodeChecks} from './checks/nodes.ts';
import {permissionChecks} from './checks/permissions.ts';
import {releaseChecks} from './checks/release.ts';
import {secretChecks} from './checks/secrets.ts';
import {storageChecks} from './checks/storage.ts';
import {toolChecks} from './checks/tools.ts';
import {mirrorChecks, mirrorProbeChecks} from './probe/mirror-checks.ts';
import {probeChecks} from './probe/probe-checks.ts';

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
  ...accountChecks,
  ...probeChecks,
  ...mirrorProbeChecks,
];
