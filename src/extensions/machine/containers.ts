import {OWN_VARIABLES} from '../../charts/host/rows.ts';
import type {ContainerFacts} from '../../checks/diagnose/host-findings.ts';
import {failed, type Warning} from '../../ground/errors.ts';
import type {HostError, HostTools} from '../../ground/system/system.ts';
import {isPathIn} from '../../ground/text.ts';
import {refusal} from '../../ground/tool-errors.ts';
import {isListOf, readJson} from '../../ground/tree.ts';

/** Label with the name of the agents that belong together. */
export const RELEASE_LABEL = 'io.scalr.agent.release';
/** Label with `runs` or `vcs`. */
export const PURPOSE_LABEL = 'io.scalr.agent.purpose';

/** A container, from `docker inspect`. */
export interface DockerContainer extends ContainerFacts {
  Id: string;
  /** With a slash at its start. */
  Name: string;
  Config?: {
    Image?: string;
    Labels?: Readonly<Record<string, string>> | null;
    StopTimeout?: number;
    Env?: readonly string[] | null;
    Hostname?: string;
  };
  Mounts?: readonly {Type?: string; Source?: string; Destination?: string}[] | null;
  State?: ContainerFacts['State'] & {StartedAt?: string};
}

export const containerName = ({Name}: Pick<DockerContainer, 'Name'>): string =>
  Name.replace(/^\//, '');

export const labelOf = ({Config}: DockerContainer, label: string): string | undefined =>
  Config?.Labels?.[label];

export const purposeOf = (container: DockerContainer): string | undefined =>
  labelOf(container, PURPOSE_LABEL);

/** The variables that a container was started with. */
export const variablesOf = ({Config}: Pick<DockerContainer, 'Config'>): Record<string, string> =>
  Object.fromEntries(
    (Config?.Env ?? []).map((each) => [
      each.slice(0, each.indexOf('=')),
      each.slice(each.indexOf('=') + 1),
    ]),
  );

/** An agent without a name of its own has that of its host. */
export const agentNameInScalr = (container: Pick<DockerContainer, 'Config'>): string =>
  variablesOf(container)['SCALR_AGENT_NAME'] ?? container.Config?.Hostname ?? '';

/** Docker would also send signals to a paused or restarting container. */
export const isUp = ({State = {}}: DockerContainer): boolean =>
  State.Running === true || State.Restarting === true;

/** Every container of this machine. @throws ExpectedError if Docker does not answer */
export async function readContainers({
  host,
  signal,
}: {
  host: HostTools;
  signal: AbortSignal;
}): Promise<DockerContainer[]> {
  const ids = await host.run(
    {tool: 'docker', args: ['ps', '--all', '--quiet', '--no-trunc']},
    {signal},
  );
  if (ids.error) throw unreadable(ids.error);
  const all = ids.stdout.split('\n').filter(Boolean);
  if (all.length === 0) return [];
  const {stdout, error} = await host.run(
    {tool: 'docker', args: ['inspect', '--type', 'container', ...all]},
    {signal},
  );
  // The container of a run can end between the two calls.
  if (error && error.kind !== 'not-found') throw unreadable(error);
  const answer = readJson('docker', stdout, isListOf('Id', 'Name'));
  if (answer.error) throw unreadable(answer.error);
  return answer.value as unknown as DockerContainer[];
}

const unreadable = (error: HostError) =>
  refusal('Cannot list the containers on this machine', error, [
    error.isToolMissing
      ? 'Install Docker 20.10 or newer, and check: docker ps'
      : 'Check: docker ps',
  ]);

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

/** Existing containers keep their directories. Only a release beside another one gets directories with its name. Pure. */
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

export type Variables = Readonly<Record<string, string>>;

/** Variables that rows do not write are from the user. */
export const addedLines = (environment: string, variables: Variables): string[] =>
  environment.split(/\r?\n/).filter((line) => {
    const [, name] = /^(?:export\s+)?([A-Za-z_]\w*)=/.exec(line) ?? [];
    return (
      name !== undefined &&
      name !== 'SCALR_AGENT_TOKEN' &&
      !OWN_VARIABLES.has(name) &&
      !(name in variables)
    );
  });

export const keptLines = (lines: readonly string[]): Warning[] =>
  lines.length === 0
    ? []
    : [
        {
          code: 'KEPT_VARIABLES',
          message: `agent.env still contains ${lines.map((line) => line.replace(/=.*/, '')).join(', ')}, which no setting uses. Remove the variables that are no longer needed.`,
        },
      ];

/** Defaults of the agent, which chart agent-k8s also has. */
const DRAIN_SECONDS = 3600;
const STOP_SECONDS = 60;
/** Time to exit after the runs have ended. */
const EXIT_SECONDS = 10;

/** Seconds that an agent with these variables needs to end its runs after SIGTERM. */
export function secondsToStop(variables: Variables): number {
  const seconds = (name: string, usual: number): number =>
    Number(variables[name] ?? usual) || usual;
  const stop = seconds('SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT', STOP_SECONDS);
  switch (variables['SCALR_AGENT_WORKER_ON_STOP_ACTION']) {
    case 'force-shutdown':
      return EXIT_SECONDS;
    case 'grace-shutdown':
      return stop + EXIT_SECONDS;
    default:
      return seconds('SCALR_AGENT_WORKER_DRAIN_TIMEOUT', DRAIN_SECONDS) + stop;
  }
}

/** A file of variables has one line per variable. @throws ExpectedError */
export function refuseLineBreaks(variables: Variables): void {
  const found = Object.entries(variables).find(([, value]) => /[\r\n]/.test(value));
  if (found === undefined) return;
  throw failed('INVALID_SETTING', `${found[0]} contains a line break.`, [
    'Encode the value, for example with base64',
  ]);
}
