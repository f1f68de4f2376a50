import type {ContainerFacts} from '../../checks/diagnose/host-findings.ts';
import {isListOf, readJson} from '../../ground/json.ts';
import {refusal} from '../../ground/system/host-refusal.ts';
import type {HostError, HostTools} from '../../ground/system/system.ts';

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

interface DockerAccess {
  host: HostTools;
  signal: AbortSignal;
}

/** Every container of this machine. @throws ExpectedError if Docker does not answer */
export async function readContainers(docker: DockerAccess): Promise<DockerContainer[]> {
  const {containers, error} = await listContainers(docker);
  if (error) throw unreadable(error);
  return containers;
}

type ContainerList =
  | {containers: DockerContainer[]; error?: undefined}
  | {containers?: undefined; error: HostError};

/** Every container of this machine, or why Docker did not list them. */
export async function listContainers({host, signal}: DockerAccess): Promise<ContainerList> {
  const ids = await host.run(
    {tool: 'docker', args: ['ps', '--all', '--quiet', '--no-trunc']},
    {signal},
  );
  if (ids.error) return {error: ids.error};
  const all = ids.stdout.split('\n').filter(Boolean);
  if (all.length === 0) return {containers: []};
  const {stdout, error} = await host.run(
    {tool: 'docker', args: ['inspect', '--type', 'container', ...all]},
    {signal},
  );
  // The container of a run can end between the two calls.
  if (error && error.kind !== 'not-found') return {error};
  const answer = readJson('docker', stdout, isListOf('Id', 'Name'));
  if (answer.error) return {error: answer.error};
  return {containers: answer.value as unknown as DockerContainer[]};
}

const unreadable = (error: HostError) =>
  refusal('Cannot list the containers on this machine', error, [
    error.isToolMissing
      ? 'Install Docker 20.10 or newer, and check: docker ps'
      : 'Check: docker ps',
  ]);
