import type {Get} from '../../settings/define.ts';
import {isolation, purpose} from '../../settings/purpose.ts';

/** Where an agent runs without Kubernetes: in Docker, in Docker Compose, or as a service of a virtual machine. */
export const HOST_TARGETS = ['docker', 'compose', 'systemd'] as const;
export type HostTarget = (typeof HOST_TARGETS)[number];

/**
 * How an agent works: `containers` starts a container for each run through the Docker socket, `local` executes runs in its own
 * container, `vcs` executes no runs. https://docs.scalr.io/docs/drivers
 */
export type Mode = 'containers' | 'local' | 'vcs';

export function modeOf(get: Get): Mode {
  if (get(purpose) === 'vcs') return 'vcs';
  return get(isolation) === 'shared' ? 'local' : 'containers';
}

export const isIn =
  (...modes: readonly Mode[]) =>
  (get: Get): boolean =>
    modes.includes(modeOf(get));
