import {ExitCode, ExpectedError} from '../ground/errors.ts';
import type {Files} from '../ports/files.ts';
import type {HostCall, HostTools} from '../ports/host-tools.ts';
import {STANDARD_SOCKET} from './agent.ts';

interface Deps {
  host: HostTools;
  files: Pick<Files, 'kindOf'>;
  signal: AbortSignal;
}

/** The socket that agents mount: that of DOCKER_HOST or the docker context. @throws ExpectedError if it is not on this machine */
export async function readSocket({host, files, signal}: Deps): Promise<string> {
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
  new ExpectedError(`Docker is at ${endpoint}, but the agent must mount the Docker socket of its own machine.`, {
    code: 'UNSUPPORTED_SETTING',
    exit: ExitCode.usage,
    suggestions: ['Run the command on that machine, without DOCKER_HOST and with docker context use default', LOCAL],
  });

const noSocket = (path: string): ExpectedError =>
  new ExpectedError(`The Docker socket ${path} is not a socket.`, {
    code: 'UNSUPPORTED_SETTING',
    exit: ExitCode.usage,
    suggestions: ['Check DOCKER_HOST, and: docker context inspect', LOCAL],
  });
