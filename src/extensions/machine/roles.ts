import {containerName, type DockerContainer, labelOf, RELEASE_LABEL} from './containers.ts';

/**
 * What an install leaves if it fails or is interrupted: `next` is not started yet, `previous` runs again if the new container fails,
 * and `failed` keeps the log of a new container.
 */
export type Role = 'current' | 'next' | 'previous' | 'failed';

export const nextName = (name: string): string => `${name}.next`;
export const previousName = (name: string): string => `${name}.previous`;
export const failedName = (name: string): string => `${name}.failed`;

export function containerRole(container: DockerContainer): Role {
  const name = containerName(container);
  const release = labelOf(container, RELEASE_LABEL);
  if (release === undefined) return 'current';
  // The name of a release can end like a role. A container that was renamed by hand has another name.
  const rest =
    name.startsWith(release) && /^(-\d+)?(\.|$)/.test(name.slice(release.length))
      ? name.slice(release.length)
      : name;
  const [, role] = /\.(next|previous|failed)$/.exec(rest) ?? [];
  return (role as Role | undefined) ?? 'current';
}

export const inRole = (containers: readonly DockerContainer[], role: Role): DockerContainer[] =>
  containers.filter((each) => containerRole(each) === role);

/** The name of the agent, whatever the role of its container. */
export const agentName = (container: DockerContainer): string =>
  containerRole(container) === 'current'
    ? containerName(container)
    : containerName(container).replace(/\.\w+$/, '');

/** Agents of a release; without a release, also those that were started by hand from the image scalr/agent. */
export const agentContainers = (
  all: readonly DockerContainer[],
  release?: string,
): DockerContainer[] =>
  all.filter((each) => {
    const name = labelOf(each, RELEASE_LABEL);
    if (release !== undefined || name !== undefined)
      return release === undefined || name === release;
    return /(^|\/)scalr\/agent([:@]|$)/.test(each.Config?.Image ?? '');
  });

/** The same without what an interrupted install has left, unless nothing else remains. */
export function currentContainers(
  all: readonly DockerContainer[],
  release?: string,
): DockerContainer[] {
  const found = agentContainers(all, release);
  const current = inRole(found, 'current');
  return current.length > 0 ? current : found;
}
