import {failed} from '../../ground/errors.ts';
import {isPathIn} from '../../ground/text.ts';
import {containerName, type DockerContainer} from './containers.ts';
import {agentContainers} from './roles.ts';

/** Directories of the machine that a release uses. */
export interface HostDirectories {
  /** Data of agents and runs; several agents add a number. */
  data: string;
  /** Certificates. */
  configuration: string;
}

export const STANDARD_DIRECTORIES: HostDirectories = {
  data: '/var/lib/scalr-agent',
  configuration: '/etc/scalr-agent',
};

/** The directories of a release whose machine already has another one. */
export const directoriesNamed = (release: string): HostDirectories => ({
  data: `${STANDARD_DIRECTORIES.data}-${release}`,
  configuration: `${STANDARD_DIRECTORIES.configuration}-${release}`,
});

export const mountsOf = ({Mounts}: DockerContainer): string[] =>
  (Mounts ?? []).flatMap(({Type, Source}) =>
    Source && (Type ?? 'bind') === 'bind' ? [Source] : [],
  );

/** Containers, running or stopped, that mount the path, something below it, or a directory above it. */
export const usersOf = (path: string, containers: readonly DockerContainer[]): DockerContainer[] =>
  containers.filter((each) =>
    mountsOf(each).some((mount) => isPathIn(mount, path) || isPathIn(path, mount)),
  );

/** True if the container mounts the directory, or that of an agent with a number. */
const mountsAny = (container: DockerContainer, directory: string): boolean =>
  mountsOf(container).some(
    (mount) => mount.startsWith(directory) && /^(-\d+)?(\/|$)/.test(mount.slice(directory.length)),
  );

/** Existing containers keep their directories. A second release gets its own directories. Pure. */
export function directoriesFor(
  release: string,
  containers: readonly DockerContainer[],
  hasService: boolean,
): HostDirectories {
  const own = agentContainers(containers, release);
  const others = containers.filter((each) => !own.includes(each));
  const named = directoriesNamed(release);
  const choose = (key: keyof HostDirectories): string => {
    const standard = STANDARD_DIRECTORIES[key];
    const ofRelease = named[key];
    if (own.some((each) => mountsAny(each, ofRelease))) return ofRelease;
    if (own.some((each) => mountsAny(each, standard))) return standard;
    return hasService || others.some((each) => mountsAny(each, standard)) ? ofRelease : standard;
  };
  return {data: choose('data'), configuration: choose('configuration')};
}

/** Warnings about data directories that other agents mount too. @throws ExpectedError if the release does not mount them yet */
export function sharedDirectories(
  {
    name,
    agents,
  }: {name: string; agents: readonly {environment: Readonly<Record<string, string>>}[]},
  containers: readonly DockerContainer[],
): string[] {
  const own = agentContainers(containers, name);
  const others = containers.filter((each) => !own.includes(each));
  return agents.flatMap(({environment: {SCALR_AGENT_DATA_DIR: data}}) => {
    if (data === undefined) return [];
    const isKept = own.some((each) => mountsOf(each).includes(data));
    // Containers of runs mount parts of the data of their agent.
    const user = (isKept ? agentContainers(others) : others).find((each) =>
      mountsOf(each).some((mount) => isPathIn(mount, data)),
    );
    if (user === undefined) return [];
    const text = `Directory ${data} is also mounted by container ${containerName(user)}.`;
    const remedy = 'Agents must not share their data: use another --data-home';
    if (isKept) return [`${text} ${remedy}.`];
    throw failed('OBJECT_NOT_OWNED', text, [remedy]);
  });
}
