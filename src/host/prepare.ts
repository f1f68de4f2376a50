import {commandLine} from '../ground/command-line.ts';
import {type ExpectedError, failed} from '../ground/errors.ts';
import type {Files, HostCall, HostTools} from '../ports/system.ts';
import {type HostAgent, type HostOptions, STANDARD_SOCKET} from './agent.ts';
import {hasService} from './agents.ts';
import {agentContainers, type DockerContainer, directoriesFor, readContainers, variablesOf} from './containers.ts';
import {type HostPlan, planContainers} from './plan.ts';

interface Deps {
  host: HostTools;
  files: Pick<Files, 'kindOf' | 'read'>;
  signal: AbortSignal;
}

/** The agents of an install on this machine, and the steps to them. */
export interface PreparedContainers extends HostPlan {
  agent: HostAgent;
  /** Containers of the release before the install. */
  installed: readonly DockerContainer[];
  /** Present content of the files that the install replaces on the machine. */
  replacedFiles: ReadonlyMap<string, string>;
}

/** Reads the machine and plans an install; `agentWith` builds the agents. Read-only. @throws ExpectedError */
export async function prepareContainers(
  agentWith: (options: HostOptions, environment?: Readonly<Record<string, string>>) => HostAgent,
  directory: string,
  {host, files, signal}: Deps,
): Promise<PreparedContainers> {
  const draft = agentWith({});
  const [containers, service, socket, found, info] = await Promise.all([
    readContainers({host, signal}),
    hasService({host, signal}),
    draft.mode === 'containers' ? readSocket({host, files, signal}) : undefined,
    host.run({tool: 'docker', args: ['image', 'inspect', '--format', '{{.Id}}', draft.image]}, {signal}),
    host.run({tool: 'docker', args: ['info', '--format', '{{.HTTPProxy}}{{.HTTPSProxy}}']}, {signal}),
  ]);
  const installed = agentContainers(containers, draft.name);
  const options = {directories: directoriesFor(draft.name, containers, service), ...(socket === undefined ? {} : {socket})};
  const agent = agentWith(options, variablesOf(installed[0] ?? {Id: '', Name: ''}));
  const onMachine = agent.files.filter(({isOnMachine}) => isOnMachine);
  const present = await Promise.all(
    onMachine.map(async ({path, text}) => {
      const kind = await files.kindOf(path);
      if (kind === 'directory') throw madeByDocker(path);
      return {path, text, before: kind === 'file' ? (await files.read(path)).toString('utf8') : undefined};
    }),
  );
  const plan = planContainers(agent, directory, {
    containers,
    hasImage: found.error === undefined,
    hasDaemonProxy: info.stdout.trim() !== '',
    upToDate: new Set(present.filter(({text, before}) => text === before).map(({path}) => path)),
  });
  const replaced = present.flatMap(({path, text, before}) => (before === undefined || before === text ? [] : [[path, before] as const]));
  return {...plan, agent, installed, replacedFiles: new Map(replaced)};
}

const madeByDocker = (path: string): ExpectedError =>
  failed('OBJECT_OF_ANOTHER', `${path} is a directory, but the agent mounts it as a file.`, [
    `If it is empty, Docker created it when the file was missing. Remove it: ${commandLine({tool: 'sudo', args: ['rmdir', path]})}`,
  ]);

/** The socket that agents mount: that of DOCKER_HOST or the docker context. @throws ExpectedError if it is not on this machine */
export async function readSocket({host, files, signal}: Pick<Deps, 'host' | 'files' | 'signal'>): Promise<string> {
  const ask = async (...args: HostCall['args']): Promise<string> => (await host.run({tool: 'docker', args}, {signal})).stdout.trim();
  const [endpoint, client, system] = await Promise.all([
    ask('context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'),
    ask('version', '--format', '{{.Client.Os}}'),
    ask('info', '--format', '{{.OperatingSystem}}'),
  ]);
  // Docker runs in a virtual machine, which has its own socket.
  const isVirtual = system === 'Docker Desktop' || (client !== 'linux' && client !== '');
  const [, path] = /^unix:\/\/(.+)$/.exec(endpoint || `unix://${STANDARD_SOCKET}`) ?? [];
  if (path === undefined && !(isVirtual && endpoint.startsWith('npipe:'))) throw notLocal(endpoint);
  if (isVirtual || path === undefined) return STANDARD_SOCKET;
  if ((await files.kindOf(path)) !== 'stream') throw noSocket(path);
  return path;
}

const LOCAL = 'Runs without the Docker socket: --isolation shared';

const notLocal = (endpoint: string): ExpectedError =>
  failed('UNSUPPORTED_SETTING', `Docker is at ${endpoint}, but the agent must mount the Docker socket of its own machine.`, [
    'Run the command on that machine, without DOCKER_HOST and with docker context use default',
    LOCAL,
  ]);

const noSocket = (path: string): ExpectedError =>
  failed('UNSUPPORTED_SETTING', `The Docker socket ${path} is not a socket.`, ['Check DOCKER_HOST, and: docker context inspect', LOCAL]);
