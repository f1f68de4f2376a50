import {type ExpectedError, failed} from '../../ground/errors.ts';
import type {Files, HostTools} from '../../ground/system/system.ts';
import {STANDARD_SOCKET} from './agent.ts';

interface SocketDeps {
  host: HostTools;
  files: Pick<Files, 'kindOf'>;
  signal: AbortSignal;
}

/** The socket that agents mount: that of DOCKER_HOST or the docker context. @throws ExpectedError if it is not on this machine */
export async function readSocket({host, files, signal}: SocketDeps): Promise<string> {
  const ask = async (...args: readonly string[]): Promise<string> =>
    (await host.run({tool: 'docker', args}, {signal})).stdout.trim();
  const [endpoint, client, system] = await Promise.all([
    ask('context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'),
    ask('version', '--format', '{{.Client.Os}}'),
    ask('info', '--format', '{{.OperatingSystem}}'),
  ]);
  // Docker runs in a virtual machine, which has its own socket.
  const isVirtual = system === 'Docker Desktop' || (client !== 'linux' && client !== '');
  const [, path] = /^unix:\/\/(.+)$/.exec(endpoint || `unix://${STANDARD_SOCKET}`) ?? [];
  if (path === undefined && !(isVirtual && endpoint.startsWith('npipe:')))
    throw unusable(
      `Docker is at ${endpoint}, but the agent must mount the Docker socket of its own machine.`,
      'Run the command on that machine, without DOCKER_HOST and with docker context use default',
    );
  if (isVirtual || path === undefined) return STANDARD_SOCKET;
  if ((await files.kindOf(path)) === 'stream') return path;
  throw unusable(
    `The Docker socket ${path} is not a socket.`,
    'Check DOCKER_HOST, and: docker context inspect',
  );
}

const unusable = (message: string, step: string): ExpectedError =>
  failed('UNSUPPORTED_SETTING', message, [
    step,
    'Runs without the Docker socket: --isolation shared',
  ]);
