import type {DockerContainer} from '../../../../src/extensions/machine/containers.ts';
import {
  type MachineContext,
  readMachine,
} from '../../../../src/extensions/machine/preflight/machine-context.ts';
import type {
  ConnectionAnswer,
  ConnectionRequest,
  Files,
  HostAnswer,
  HostCall,
} from '../../../../src/ground/system/system.ts';
import {url} from '../../../../src/settings/agent.ts';
import {memoryFiles} from '../../../support/memory-files.ts';
import {type RawFlags, settingsFrom} from '../../../support/settings-from.ts';

const GIB = 1024 ** 3;

/** A machine with Docker; what is given replaces what it has. */
export interface FakeMachine {
  target?: 'docker' | 'systemd';
  flags?: RawFlags;
  urls?: readonly string[];
  osRelease?: string;
  /** Of docker info; an error is what docker prints instead. */
  info?: Readonly<Record<string, unknown>>;
  dockerError?: HostAnswer['error'];
  containers?: readonly Partial<DockerContainer>[];
  /** Available kibibytes by path of df; a missing one fails. */
  free?: Readonly<Record<string, number>>;
  services?: string;
  /** What systemctl answers instead. */
  systemdError?: HostAnswer['error'];
  /** Kind of the socket file. */
  socket?: 'stream' | 'file';
  connection?(request: ConnectionRequest): ConnectionAnswer;
}

export const UBUNTU = 'ID=ubuntu\nVERSION_ID="22.04"\nPRETTY_NAME="Ubuntu 22.04.4 LTS"\n';
const INFO = {
  ServerVersion: '28.2.2',
  MemTotal: 32 * GIB,
  NCPU: 8,
  Architecture: 'x86_64',
  OSType: 'linux',
  OperatingSystem: 'Ubuntu 22.04.4 LTS',
  DockerRootDir: '/var/lib/docker',
};
const NO_SERVICES =
  'Id=scalr-agent.service\nLoadState=not-found\nActiveState=inactive\n\nId=scalr-docker.service\nLoadState=not-found\nActiveState=inactive\n';
export const SERVICES = NO_SERVICES.replaceAll('not-found', 'loaded').replaceAll(
  'inactive',
  'active',
);

/** A container of this program with this purpose; without one, started by hand. */
export const container = (
  name: string,
  purpose?: 'runs' | 'vcs',
  mounts: readonly string[] = [],
): Partial<DockerContainer> => ({
  Id: name,
  Name: `/${name}`,
  Config: {
    Image: 'scalr/agent:1.4.0',
    Labels: purpose ? {'io.scalr.agent.release': name, 'io.scalr.agent.purpose': purpose} : {},
  },
  Mounts: mounts.map((Source) => ({Type: 'bind', Source})),
});

const json = (value: unknown): HostAnswer => ({stdout: JSON.stringify(value)});

/** Docker, systemd, disks, files and connections of the machine. */
export function machineDeps(machine: FakeMachine = {}) {
  const {osRelease = UBUNTU, containers = [], free = {'/var/lib': 100_000_000}} = machine;
  const {services = NO_SERVICES, connection = () => ({state: 'ok', detail: ''})} = machine;
  const files = memoryFiles({
    '/etc/os-release': osRelease,
    '/proc/meminfo': 'MemTotal:       33554432 kB\nMemFree:         1000 kB\n',
    '/proc/cpuinfo': 'processor\t: 0\n\nprocessor\t: 1\n',
  });
  const docker = (args: HostCall['args']): HostAnswer => {
    if (machine.dockerError) return {stdout: '', error: machine.dockerError};
    const line = args.join(' ');
    if (line.startsWith('info --format {{json')) return json({...INFO, ...machine.info});
    if (line.startsWith('ps ')) return {stdout: containers.map(({Id}) => `${Id}\n`).join('')};
    if (line.startsWith('inspect ')) return json(containers);
    if (line.startsWith('context inspect')) return {stdout: 'unix:///var/run/docker.sock\n'};
    if (line.startsWith('version ')) return {stdout: 'linux\n'};
    if (line.startsWith('info '))
      return {stdout: `${{...INFO, ...machine.info}.OperatingSystem}\n`};
    throw new Error(`unexpected: docker ${line}`);
  };
  const df = (path = ''): HostAnswer => {
    const available = free[path];
    if (available === undefined)
      return {
        stdout: '',
        error: {kind: 'refused', message: `df: ${path}: No such file or directory`},
      };
    return {
      stdout: `Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/sda1 200000000 1000 ${available} 50% ${path}\n`,
    };
  };
  return {
    host: {
      run: async ({tool, args}: HostCall): Promise<HostAnswer> => {
        if (tool === 'docker') return docker(args);
        if (tool === 'df') return df(args.at(-1));
        if (tool === 'systemctl' && machine.systemdError)
          return {stdout: '', error: machine.systemdError};
        if (tool === 'systemctl')
          return {
            stdout: args.includes('--property=LoadState')
              ? `${services.split('\n')[1]}\n`
              : services,
          };
        throw new Error(`unexpected: ${tool}`);
      },
      stream: async () => {
        throw new Error('nothing is streamed');
      },
    },
    files: {
      read: files.read,
      kindOf: async (path: string): ReturnType<Files['kindOf']> => {
        if (path.endsWith('.sock')) return machine.socket ?? 'stream';
        return path in free || path === '/' ? 'directory' : 'nothing';
      },
    },
    connections: {open: async (request: ConnectionRequest) => connection(request)},
  };
}

/** What `preflight` reads on this machine. */
export const machineContext = async (machine: FakeMachine = {}): Promise<MachineContext> =>
  readMachine(
    await settingsFrom(machine.flags ?? {}, {}, [url]),
    {target: machine.target ?? 'docker', urls: machine.urls ?? []},
    {...machineDeps(machine), signal: AbortSignal.timeout(5000)},
  );
