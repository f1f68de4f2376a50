/** Directories of the machine that a release uses. */
export interface HostDirectories {
  /** Data of agents and runs; several agents add a number. */
  data: string;
  /** Certificates. */
  configuration: string;
}

export const STANDARD_DIRECTORIES: HostDirectories = {data: '/var/lib/scalr-agent', configuration: '/etc/scalr-agent'};

/** The directories of a release whose machine already has another one. */
export const directoriesNamed = (release: string): HostDirectories => ({
  data: `${STANDARD_DIRECTORIES.data}-${release}`,
  configuration: `${STANDARD_DIRECTORIES.configuration}-${release}`,
});
