import {createHash} from 'node:crypto';
import {join} from 'node:path';
import {commandLine} from '../../ground/command-line.ts';
import {type ExpectedError, failed} from '../../ground/errors.ts';
import type {Files, HostCall, HostTools} from '../../ground/system/system.ts';
import type {Step} from '../../operations/step.ts';
import {type HostAgent, type HostOptions, STANDARD_SOCKET} from './agent.ts';
import {hasService} from './agents.ts';
import {
  agentContainers,
  containerName,
  containerRole,
  type DockerContainer,
  directoriesFor,
  failedName,
  isUp,
  labelOf,
  nextName,
  PURPOSE_LABEL,
  previousName,
  purposeOf,
  RELEASE_LABEL,
  readContainers,
  sharedDirectories,
  variablesOf,
} from './containers.ts';
import {createArguments, daemonSteps} from './docker.ts';
import {agentArchive} from './files.ts';
import {
  dockerStep,
  REPLACES_LABEL,
  recover,
  removeStep,
  renameStep,
  startStep,
  stopSecondsOf,
  stopSteps,
} from './recovery.ts';

/** Fingerprint of everything that a container was started with. */
const CONFIGURATION_LABEL = 'io.scalr.agent.configuration';
/** The settings of an install, beside its other files: an answers file, without secrets. */
export const INSTALL_ANSWERS = 'install-answers.yaml';
/** Directories with the files of the install, separated by colons. */
const DIRECTORY_LABEL = 'io.scalr.agent.directory';

/** The steps that bring the containers of this machine to the settings. */
export interface HostPlan {
  steps: Step[];
  /** Steps after every agent has become ready; until then, the previous containers can run again. */
  finish: Step[];
  warnings: string[];
}

interface HostFacts {
  containers: readonly DockerContainer[];
  hasImage: boolean;
  /** Docker pulls through a proxy. */
  hasDaemonProxy: boolean;
  /** Paths of files on the machine that already have the desired content. */
  upToDate?: ReadonlySet<string>;
}

/** `directory` is the absolute path of the exported files. Pure. @throws ExpectedError if another container has the name */
export function planContainers(host: HostAgent, directory: string, facts: HostFacts): HostPlan {
  const found = agentContainers(facts.containers, host.name);
  refuseTakenNames(host, facts.containers, found);
  const desired = host.agents.map((agent) => ({
    agent,
    configuration: fingerprint([createArguments(agent, host, ''), host.secrets, host.files]),
  }));
  const isDesired = (each: DockerContainer): boolean =>
    desired.some(
      ({agent, configuration}) =>
        agent.name === containerName(each) && labelOf(each, CONFIGURATION_LABEL) === configuration,
    );
  const previous = found.filter((each) => containerRole(each) === 'previous');
  // An interrupted install has created and renamed every container.
  const isFinishing =
    previous.length > 0 &&
    desired.every(({agent}) =>
      found.some((each) => isDesired(each) && containerName(each) === agent.name),
    );
  const recovery = isFinishing ? undefined : recover(found);
  const installed =
    recovery?.containers ?? found.filter((each) => containerRole(each) === 'current');
  const kept = installed.filter(isDesired);
  const replaced = installed.filter((each) => !kept.includes(each));
  const changed = desired.filter(
    ({agent}) => !kept.some((each) => containerName(each) === agent.name),
  );
  const isPulled =
    changed.length > 0 && host.pull !== 'never' && (host.pull === 'always' || !facts.hasImage);
  const onMachine = host.files.filter(
    ({isOnMachine, path}) => isOnMachine && !facts.upToDate?.has(path),
  );
  const labels = {
    ...host.labels,
    [DIRECTORY_LABEL]: [...new Set([directory, ...replaced.flatMap(directoriesOf)])].join(':'),
    ...(replaced.length === 0 ? {} : {[REPLACES_LABEL]: replaced.map(({Id}) => Id).join(',')}),
  };
  const archive = agentArchive(host);
  return {
    steps: [
      ...(recovery?.steps ?? []),
      // Everything that Docker can reject comes before a container is stopped.
      ...(isPulled
        ? [dockerStep(`pull ${host.image}`, `Pull image ${host.image}`, 'pull', host.image)]
        : []),
      ...changed.flatMap(({agent, configuration}) => {
        const next = nextName(agent.name);
        const labeled = {...host, labels: {...labels, [CONFIGURATION_LABEL]: configuration}};
        const create = dockerStep(
          `create ${next}`,
          `Create container ${next} (${host.image})`,
          ...createArguments({...agent, name: next}, labeled, directory),
        );
        const own = host.files.filter((each) => !each.isOnMachine).map((each) => each.name);
        const copy = dockerStep(
          `copy ${next}`,
          `Copy ${own.join(' and ')} into container ${next}`,
          'cp',
          '-',
          `${next}:/`,
        );
        return [
          create,
          ...(archive === undefined ? [] : [{...copy, call: {...copy.call, input: archive}}]),
        ];
      }),
      ...onMachine.map(
        ({name, path}): Step => ({
          id: `install ${path}`,
          title: `Copy ${name} to ${path}`,
          call: {tool: 'install', args: ['-D', '-m', '0644', join(directory, name), path]},
        }),
      ),
      ...replaced
        .filter((each) => !changed.some(({agent}) => agent.name === containerName(each)))
        .flatMap(setAside),
      ...changed.flatMap(({agent: {name}}) => [
        ...replaced.filter((each) => containerName(each) === name).flatMap(setAside),
        renameStep(nextName(name), name),
        startStep(name),
      ]),
      ...kept.flatMap((each) => {
        const name = containerName(each);
        if (each.State?.Paused)
          return [
            dockerStep(`unpause ${name}`, `Continue the paused container ${name}`, 'unpause', name),
          ];
        return isUp(each)
          ? []
          : [dockerStep(`start ${name}`, `Start the stopped container ${name}`, 'start', name)];
      }),
    ],
    finish: [
      ...new Set([
        ...(isFinishing ? previous.map(containerName) : []),
        ...replaced.map((each) => previousName(containerName(each))),
        ...found.filter((each) => containerRole(each) === 'failed').map(containerName),
        ...(recovery?.failed ?? []),
      ]),
    ].flatMap((name) => [
      ...found
        .filter((each) => containerRole(each) === 'failed' && containerName(each) === name)
        .flatMap((each) => stopSteps(each)),
      {...removeStep(name), tolerates: GONE},
    ]),
    warnings: [
      ...replaced
        .filter((each) => labelOf(each, CONFIGURATION_LABEL) === undefined)
        .map(
          (each) =>
            `Container ${containerName(each)} was started by run.sh or Docker Compose, so its settings cannot be compared. It is replaced.`,
        ),
      ...replaced.filter(isUp).flatMap(stopWarning),
      ...sharedDirectories(host, facts.containers),
      ...facts.containers
        .filter((each) => !replaced.includes(each))
        .flatMap((each) => otherPurposeWarning(each, host)),
      ...(host.mode === 'containers' && Object.keys(host.proxy).length > 0 && !facts.hasDaemonProxy
        ? [
            `The Docker daemon has no proxy, but it pulls the run images. In ${directory}, run: ${daemonSteps(host).join(' && ')}`,
          ]
        : []),
    ],
  };
}

/** A container that was started with --rm does not exist after its stop. */
const GONE = /no such container/i;

/** Stops a container, and keeps it until the new one is ready. */
function setAside(container: DockerContainer): Step[] {
  const name = containerName(container);
  return [...stopSteps(container), {...renameStep(name, previousName(name)), tolerates: GONE}];
}

/** Directories that the install of a container has written files to. */
export const directoriesOf = (container: DockerContainer): string[] =>
  (labelOf(container, DIRECTORY_LABEL) ?? '').split(':').filter(Boolean);

const fingerprint = (parts: unknown): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);

function refuseTakenNames(
  {agents}: HostAgent,
  containers: readonly DockerContainer[],
  own: readonly DockerContainer[],
): void {
  const names = agents.flatMap(({name}) => [
    name,
    nextName(name),
    previousName(name),
    failedName(name),
  ]);
  const foreign = containers.find(
    (each) => !own.includes(each) && names.includes(containerName(each)),
  );
  if (foreign === undefined) return;
  const name = containerName(foreign);
  const release = labelOf(foreign, RELEASE_LABEL);
  const whose =
    release === undefined ? 'was not started by this program' : `belongs to release ${release}`;
  const orRemove =
    release === undefined
      ? [`Or remove the container: docker stop ${name} && docker rm ${name}`]
      : [];
  throw failed('OBJECT_NOT_OWNED', `Container ${name} already exists and ${whose}.`, [
    'Use another --release',
    ...orRemove,
  ]);
}

/** What runs in flight must expect when a container is stopped. */
export const stopWarning = (container: DockerContainer): string[] =>
  purposeOf(container) === 'vcs'
    ? []
    : [
        `Container ${containerName(container)} gets up to ${stopSecondsOf(container)} s to stop. Runs in flight that take longer are interrupted; --grace-period sets this time when a container starts.`,
      ];

/** docs.scalr.io, self-hosted agents. */
function otherPurposeWarning(container: DockerContainer, {labels}: HostAgent): string[] {
  const purpose = purposeOf(container);
  if (purpose === undefined || purpose === labels[PURPOSE_LABEL]) return [];
  const agent = `Container ${containerName(container)} is a ${purpose === 'vcs' ? 'VCS' : 'run'} agent.`;
  return [`${agent} Run agents and VCS agents should not share a machine.`];
}

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
    host.run(
      {tool: 'docker', args: ['image', 'inspect', '--format', '{{.Id}}', draft.image]},
      {signal},
    ),
    host.run(
      {tool: 'docker', args: ['info', '--format', '{{.HTTPProxy}}{{.HTTPSProxy}}']},
      {signal},
    ),
  ]);
  const installed = agentContainers(containers, draft.name);
  const options = {
    directories: directoriesFor(draft.name, containers, service),
    ...(socket === undefined ? {} : {socket}),
  };
  const agent = agentWith(options, variablesOf(installed[0] ?? {Id: '', Name: ''}));
  const onMachine = agent.files.filter(({isOnMachine}) => isOnMachine);
  const present = await Promise.all(
    onMachine.map(async ({path, text}) => {
      const kind = await files.kindOf(path);
      if (kind === 'directory')
        throw failed(
          'OBJECT_NOT_OWNED',
          `${path} is a directory, but the agent mounts it as a file.`,
          [
            `If it is empty, Docker created it when the file was missing. Remove it: ${commandLine({tool: 'sudo', args: ['rmdir', path]})}`,
          ],
        );
      return {
        path,
        text,
        before: kind === 'file' ? (await files.read(path)).toString('utf8') : undefined,
      };
    }),
  );
  const plan = planContainers(agent, directory, {
    containers,
    hasImage: found.error === undefined,
    hasDaemonProxy: info.stdout.trim() !== '',
    upToDate: new Set(present.filter(({text, before}) => text === before).map(({path}) => path)),
  });
  const replaced = present.flatMap(({path, text, before}) =>
    before === undefined || before === text ? [] : [[path, before] as const],
  );
  return {...plan, agent, installed, replacedFiles: new Map(replaced)};
}

/** The socket that agents mount: that of DOCKER_HOST or the docker context. @throws ExpectedError if it is not on this machine */
export async function readSocket({
  host,
  files,
  signal,
}: Pick<Deps, 'host' | 'files' | 'signal'>): Promise<string> {
  const ask = async (...args: HostCall['args']): Promise<string> =>
    (await host.run({tool: 'docker', args}, {signal})).stdout.trim();
  const [endpoint, client, system] = await Promise.all([
    ask('context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'),
    ask('version', '--format', '{{.Client.Os}}'),
    ask('info', '--format', '{{.OperatingSystem}}'),
  ]);
  // Docker runs in a virtual machine, which has its own socket.
  const isVirtual = system === 'Docker Desktop' || (client !== 'linux' && client !== '');
  const [, path] = /^unix:\/\/(.+)$/.exec(endpoint || `unix://${STANDARD_SOCKET}`) ?? [];
  const refuse = (message: string, step: string): ExpectedError =>
    failed('UNSUPPORTED_SETTING', message, [
      step,
      'Runs without the Docker socket: --isolation shared',
    ]);
  if (path === undefined && !(isVirtual && endpoint.startsWith('npipe:')))
    throw refuse(
      `Docker is at ${endpoint}, but the agent must mount the Docker socket of its own machine.`,
      'Run the command on that machine, without DOCKER_HOST and with docker context use default',
    );
  if (isVirtual || path === undefined) return STANDARD_SOCKET;
  if ((await files.kindOf(path)) === 'stream') return path;
  throw refuse(
    `The Docker socket ${path} is not a socket.`,
    'Check DOCKER_HOST, and: docker context inspect',
  );
}
