import type {NodeObject} from './readings.ts';

/** Agents and runs are Linux containers. */
export const runsLinux = ({metadata, status}: NodeObject): boolean =>
  (metadata.labels?.['kubernetes.io/os'] ?? status?.nodeInfo?.operatingSystem ?? 'linux') === 'linux';

const isControlPlane = ({metadata, spec}: NodeObject): boolean =>
  ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'].some(
    (key) =>
      metadata.labels?.[key] !== undefined && spec?.taints?.some((taint) => taint.key === key && taint.effect !== 'PreferNoSchedule'),
  );

/** Linux nodes that are not kept for the control plane. */
export const workersIn = (nodes: readonly NodeObject[]): NodeObject[] => nodes.filter((node) => runsLinux(node) && !isControlPlane(node));
