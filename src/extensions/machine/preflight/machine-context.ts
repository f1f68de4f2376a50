import {type EndpointScope, endpointsOf} from '../../../charts/endpoints.ts';
import {onFailure} from '../../../ground/errors.ts';
import {
  type Fact,
  follow,
  isKnown,
  known,
  knownValue,
  mapped,
  type Unknown,
  unknown,
} from '../../../ground/fact.ts';
import {type Fields, isFields, jsonIn} from '../../../ground/json.ts';
import type {
  Connections,
  Files,
  HostAnswer,
  HostCall,
  HostError,
  HostTools,
} from '../../../ground/system/system.ts';
import {propertiesIn, showServices} from '../../../ground/system/systemd.ts';

import type {Get} from '../../../settings/define.ts';
import type {Settings} from '../../../settings/settings.ts';
import {type HostAgent, hostAgent} from '../agent.ts';
import {hasService} from '../agents.ts';
import {type DockerContainer, listContainers} from '../containers.ts';
import {directoriesFor} from '../directories.ts';
import {readSocket} from '../socket.ts';
import {type ListedEndpoint, tryEndpoints} from './try-endpoints.ts';

/** What this machine has. Sizes are bytes. */
export interface MachineFacts {
  /** ID and VERSION_ID of /etc/os-release, and its name for people. */
  distribution: Fact<{id: string; version: string; name: string}>;
  memory: Fact<number>;
  cpus: Fact<number>;
  /** Free space for the data of agents and for images: one directory per disk. */
  disk: Fact<readonly {path: string; free: number}[]>;
  docker: Fact<DockerInfo>;
}

/** Part of `docker info`. */
export interface DockerInfo {
  version: string;
  architecture: string;
  /** linux or windows: what its containers run. */
  type: string;
  /** Where images are. */
  root: string;
  /** Runs in a virtual machine, whose directories are not those of this machine. */
  isVirtual: boolean;
  hasProxy: boolean;
}

/** Everything that the checks of a machine read. Plain data. */
export interface MachineContext {
  get: Get;
  /** The agents that an install would start. */
  agent: HostAgent;
  facts: MachineFacts;
  containers: Fact<readonly DockerContainer[]>;
  /** Where the agent finds the socket of Docker, or why it cannot; absent if it needs none. */
  socket?: {path: string} | {because: string; remedies: readonly string[]};
  /** Load and active state of the services of the Linux packages. */
  services: Fact<Readonly<Record<string, {isInstalled: boolean; state: string}>>>;
  endpoints: readonly Required<ListedEndpoint>[];
}

interface MachineDeps {
  host: HostTools;
  files: Pick<Files, 'kindOf' | 'read'>;
  connections: Connections;
  signal: AbortSignal;
}

/** Reads all data for the checks. Read-only; ends at the signal with partial data. @throws ExpectedError for settings that the target does not support */
export async function readMachine(
  settings: Settings,
  {target, urls}: {target: 'docker' | 'systemd'; urls: readonly string[]},
  deps: MachineDeps,
): Promise<MachineContext> {
  const {host, files, connections, signal} = deps;
  const {get} = settings;
  const draft = hostAgent(settings, target);
  const scope: EndpointScope = {target, get, urls};
  const trying = tryEndpoints(endpointsOf(scope), {get, target}, {connections, signal});
  const [containers, services, info, distribution, isService] = await Promise.all([
    containersOf(target, {host, signal}),
    readServices(deps),
    ask({tool: 'docker', args: ['info', '--format', '{{json .}}']}, deps),
    readDistribution(files),
    hasService({host, signal}),
  ]);
  const agent =
    target === 'docker'
      ? hostAgent(settings, target, {
          directories: directoriesFor(draft.name, knownValue(containers) ?? [], isService),
        })
      : draft;
  const docker = follow(info, dockerInfo);
  const socket =
    target === 'docker' && agent.mode === 'containers' ? await socketOf(deps) : undefined;
  const [memory, cpus] =
    target === 'docker'
      ? [follow(info, numberAt('MemTotal')), follow(info, numberAt('NCPU'))]
      : await readHardware(files);
  const directories = agent.agents.flatMap((each) => each.directories);
  const disk = await readDisk(
    target === 'systemd' ? ['/var/lib'] : directories,
    knownValue(docker),
    deps,
  );
  return {
    get,
    agent,
    containers,
    services,
    facts: {distribution, memory, cpus, disk, docker},
    ...(socket === undefined ? {} : {socket}),
    endpoints: await trying,
  };
}

const REASONS: Readonly<Record<string, 'forbidden' | 'timed-out'>> = {
  forbidden: 'forbidden',
  aborted: 'timed-out',
};

const ask = async (call: HostCall, {host, signal}: MachineDeps): Promise<Fact<string>> =>
  factOf(call, await host.run(call, {signal}));

const factOf = ({tool, args}: HostCall, {stdout, error}: HostAnswer): Fact<string> =>
  error === undefined ? known(stdout, [tool, args[0]].join(' ')) : unreadBy(error);

const unreadBy = ({kind, message, reason = message}: HostError): Unknown =>
  unknown(REASONS[kind] ?? 'failed', reason);

/** The Linux packages bring a Docker of their own, so a machine without docker has no other containers. */
async function containersOf(
  target: string,
  deps: Pick<MachineDeps, 'host' | 'signal'>,
): Promise<MachineContext['containers']> {
  const {containers, error} = await listContainers(deps);
  if (containers) return known(containers, 'docker ps');
  const hasNone = target === 'systemd' && error.isToolMissing === true;
  return hasNone ? known([], 'docker ps') : unreadBy(error);
}

const socketOf = (deps: MachineDeps): Promise<NonNullable<MachineContext['socket']>> =>
  readSocket(deps).then(
    (path) => ({path}),
    onFailure(({message, suggestions}) => ({because: message, remedies: suggestions})),
  );

function parsed(text: string): Fields {
  const found = jsonIn(text);
  return isFields(found) ? found : {};
}

function dockerInfo(text: string, source: string): Fact<DockerInfo> {
  const info = parsed(text);
  const at = (key: string): string => (typeof info[key] === 'string' ? info[key] : '');
  if (at('ServerVersion') === '')
    return unknown('undetermined', 'docker info did not return a version');
  return known(
    {
      version: at('ServerVersion'),
      architecture: at('Architecture'),
      type: at('OSType'),
      root: at('DockerRootDir'),
      isVirtual: at('OperatingSystem') === 'Docker Desktop',
      hasProxy: at('HttpProxy') + at('HttpsProxy') !== '',
    },
    source,
  );
}

const numberAt =
  (key: string) =>
  (text: string, source: string): Fact<number> => {
    const found = parsed(text)[key];
    return typeof found === 'number' && found > 0
      ? known(found, source)
      : unknown('undetermined', `${source} did not return ${key}`);
  };

const readText = (path: string, files: MachineDeps['files']): Promise<Fact<string>> =>
  files.read(path).then(
    (bytes) => known(bytes.toString('utf8'), path),
    onFailure(({message}) => unknown('failed', message.replace(/\.$/, ''))),
  );

/** https://www.freedesktop.org/software/systemd/man/latest/os-release.html */
async function readDistribution(
  files: MachineDeps['files'],
): Promise<MachineFacts['distribution']> {
  return mapped(await readText('/etc/os-release', files), (text) => {
    const values = Object.fromEntries(
      [...text.matchAll(/^(\w+)=["']?(.*?)["']?$/gm)].map(([, key = '', value = '']) => [
        key,
        value,
      ]),
    );
    const {ID: id = 'linux', VERSION_ID: version = '', PRETTY_NAME: name = id} = values;
    return {id, version, name};
  });
}

/** https://man7.org/linux/man-pages/man5/proc_meminfo.5.html */
async function readHardware(files: MachineDeps['files']): Promise<[Fact<number>, Fact<number>]> {
  const [memory, cpus] = await Promise.all([
    readText('/proc/meminfo', files),
    readText('/proc/cpuinfo', files),
  ]);
  return [
    follow(memory, (text, source) => {
      const [, kibibytes] = /^MemTotal:\s+(\d+) kB$/m.exec(text) ?? [];
      return kibibytes === undefined
        ? unknown('undetermined', `${source} has no MemTotal`)
        : known(Number(kibibytes) * 1024, source);
    }),
    mapped(cpus, (text) => text.match(/^processor\s*:/gm)?.length ?? 1),
  ];
}

async function readDisk(
  directories: readonly string[],
  docker: DockerInfo | undefined,
  deps: MachineDeps,
): Promise<MachineFacts['disk']> {
  if (docker?.isVirtual) return unknown('undetermined', 'Docker runs in a virtual machine');
  const paths = [...new Set([...directories, ...(docker?.root ? [docker.root] : [])])];
  const read = await Promise.all(
    paths.map(async (path) => ({path, answer: await ask(await dfOf(path, deps), deps)})),
  );
  const missing = read.map(({answer}) => answer).find((answer) => !isKnown(answer));
  if (missing !== undefined && !isKnown(missing)) return missing;
  const found = new Map<string, {path: string; free: number}>();
  for (const {path, answer} of read) {
    // Filesystem 1024-blocks Used Available Capacity Mounted on
    const [, available, mount] =
      /\s\d+\s+\d+\s+(\d+)\s+\d+%\s+(\S.*)$/m.exec(knownValue(answer) ?? '') ?? [];
    if (mount !== undefined && !found.has(mount))
      found.set(mount, {path, free: Number(available) * 1024});
  }
  return found.size === 0
    ? unknown('undetermined', 'df did not return the free space')
    : known([...found.values()], 'df');
}

/** Directories may not exist yet, so the closest one above them is asked. */
async function dfOf(path: string, {files}: MachineDeps): Promise<HostCall> {
  let existing = path;
  while (existing !== '/' && (await files.kindOf(existing)) !== 'directory')
    existing = existing.slice(0, existing.lastIndexOf('/')) || '/';
  return {tool: 'df', args: ['-Pk', existing]};
}

const SERVICES = ['scalr-agent', 'scalr-docker'];

async function readServices(deps: MachineDeps): Promise<MachineContext['services']> {
  const call = showServices(SERVICES, ['Id', 'LoadState', 'ActiveState']);
  const answer = await deps.host.run(call, {signal: deps.signal});
  // Without systemd, there are no services.
  if (answer.error?.isToolMissing) return known({}, call.tool);
  return mapped(factOf(call, answer), (text) => {
    const blocks = text.split(/\n\s*\n/).map(propertiesIn);
    return Object.fromEntries(
      blocks.flatMap(({Id, LoadState, ActiveState}) =>
        Id === undefined
          ? []
          : [
              [
                Id.replace(/\.service$/, ''),
                {isInstalled: LoadState === 'loaded', state: ActiveState ?? 'unknown'},
              ],
            ],
      ),
    );
  });
}
