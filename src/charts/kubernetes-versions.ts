import {compare} from './releases.ts';

/** The Kubernetes versions of a cluster. */
export interface KubernetesVersions {
  /** With the machines that have them: the control plane, 3 nodes. */
  found: readonly {machines: string; version: string}[];
  /** The versions of the control plane and of all nodes were found. */
  isComplete: boolean;
}

/** The machines older than a version, such as "control plane (v1.34.3), 2 nodes (v1.33.1)"; an empty text if there are none. */
export const olderThan = (minimum: string, {found = []}: Partial<KubernetesVersions> = {}): string =>
  found.flatMap(({machines, version}) => (compare(version, minimum) < 0 ? [`${machines} (${version})`] : [])).join(', ');

/** True if all machines are known to have at least this version. */
export const isAtLeast = (minimum: string, versions: KubernetesVersions | undefined): boolean =>
  versions?.isComplete === true && olderThan(minimum, versions) === '';
