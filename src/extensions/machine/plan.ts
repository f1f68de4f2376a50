import {createHash} from 'node:crypto';
import {join} from 'node:path';
import {failed} from '../../ground/errors.ts';
import type {Secret} from '../../ground/secret.ts';
import type {Step} from '../../operations/step.ts';
import type {AgentInstance, HostAgent} from './agent.ts';
import {
  containerName,
  type DockerContainer,
  isUp,
  labelOf,
  PURPOSE_LABEL,
  purposeOf,
  RELEASE_LABEL,
} from './containers.ts';
import {sharedDirectories} from './directories.ts';
import {createArguments, daemonSteps} from './docker.ts';
import {agentArchive} from './files.ts';
import {
  dockerStep,
  type MachineStep,
  REPLACES_LABEL,
  type Recovery,
  recover,
  removeStep,
  renameStep,
  startStep,
  stopSecondsOf,
  stopSteps,
} from './recovery.ts';
import {agentContainers, failedName, inRole, nextName, previousName, type Role} from './roles.ts';

/** Fingerprint of everything that a container was started with. */
const CONFIGURATION_LABEL = 'io.scalr.agent.configuration';
/** The settings of an install, beside its other files: an answers file, without secrets. */
export const INSTALL_ANSWERS = 'install-answers.yaml';
/** Directories with the files of the install, separated by colons. */
const DIRECTORY_LABEL = 'io.scalr.agent.directory';

/** The steps that bring the containers of this machine to the settings. */
export interface HostPlan {
  steps: MachineStep[];
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

/** An agent, and the fingerprint of what its container is started with. */
interface DesiredContainer {
  agent: AgentInstance;
  configuration: string;
}

/** What an install does with the containers of a release. */
interface ContainerChange {
  /** Back to the containers that ran before an interrupted install. */
  recovery: Recovery | undefined;
  kept: readonly DockerContainer[];
  replaced: readonly DockerContainer[];
  created: readonly DesiredContainer[];
  /** Names of containers that are removed when every agent is ready. */
  leftovers: readonly string[];
}

/** `directory` is the absolute path of the exported files. Pure. @throws ExpectedError if another container has the name */
export function planContainers(host: HostAgent, directory: string, facts: HostFacts): HostPlan {
  const found = agentContainers(facts.containers, host.name);
  refuseTakenNames(host, facts.containers, found);
  const change = planChange(found, desiredOf(host));
  return {
    steps: [
      ...(change.recovery?.steps ?? []),
      // Everything that Docker can reject comes before a container is stopped.
      ...pullSteps(host, change, facts),
      ...createSteps(host, directory, change),
      ...copySteps(host, directory, facts),
      ...replaceSteps(change),
      ...change.kept.flatMap(continueSteps),
    ],
    finish: finishSteps(change, found),
    warnings: [
      ...change.replaced.filter(isUnfingerprinted).map(replacedByHand),
      ...change.replaced.filter(isUp).flatMap(stopWarning),
      ...sharedDirectories(host, facts.containers),
      ...facts.containers
        .filter((each) => !change.replaced.includes(each))
        .flatMap((each) => otherPurposeWarning(each, host)),
      ...daemonWarning(host, directory, facts),
    ],
  };
}

const desiredOf = (host: HostAgent): DesiredContainer[] =>
  host.agents.map((agent) => ({
    agent,
    configuration: fingerprint([createArguments(agent, host, ''), host.secrets, host.files]),
  }));

const fingerprint = (parts: unknown): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);

function planChange(
  found: readonly DockerContainer[],
  desired: readonly DesiredContainer[],
): ContainerChange {
  const isAsDesired = (each: DockerContainer): boolean =>
    desired.some(
      ({agent, configuration}) =>
        agent.name === containerName(each) && labelOf(each, CONFIGURATION_LABEL) === configuration,
    );
  const namesIn = (role: Role): string[] => inRole(found, role).map(containerName);
  const ready = new Set(found.filter(isAsDesired).map(containerName));
  // An interrupted install has created and renamed every container.
  const isFinishing =
    namesIn('previous').length > 0 && desired.every(({agent}) => ready.has(agent.name));
  const recovery = isFinishing ? undefined : recover(found);
  const installed = recovery?.containers ?? inRole(found, 'current');
  const kept = installed.filter(isAsDesired);
  const keptNames = new Set(kept.map(containerName));
  const replaced = installed.filter((each) => !kept.includes(each));
  return {
    recovery,
    kept,
    replaced,
    created: desired.filter(({agent}) => !keptNames.has(agent.name)),
    leftovers: [
      ...(isFinishing ? namesIn('previous') : []),
      ...replaced.map((each) => previousName(containerName(each))),
      ...namesIn('failed'),
      ...(recovery?.failed ?? []),
    ],
  };
}

function pullSteps(
  {image, pull}: HostAgent,
  {created}: ContainerChange,
  {hasImage}: HostFacts,
): Step[] {
  const isNeeded = pull === 'always' || (pull !== 'never' && !hasImage);
  return created.length > 0 && isNeeded
    ? [dockerStep(`pull ${image}`, `Pull image ${image}`, 'pull', image)]
    : [];
}

function createSteps(host: HostAgent, directory: string, change: ContainerChange): Step[] {
  const {created, replaced} = change;
  const labels: Record<string, string> = {
    ...host.labels,
    [DIRECTORY_LABEL]: [...new Set([directory, ...replaced.flatMap(directoriesOf)])].join(':'),
  };
  if (replaced.length > 0) labels[REPLACES_LABEL] = replaced.map(({Id}) => Id).join(',');
  const archive = agentArchive(host);
  return created.flatMap(({agent, configuration}) => {
    const next = {...agent, name: nextName(agent.name)};
    const labeled = {...host, labels: {...labels, [CONFIGURATION_LABEL]: configuration}};
    const create = dockerStep(
      `create ${next.name}`,
      `Create container ${next.name} (${host.image})`,
      ...createArguments(next, labeled, directory),
    );
    return archive === undefined ? [create] : [create, copyStep(host, next.name, archive)];
  });
}

/** Files that only the agent reads. */
function copyStep({files}: HostAgent, name: string, archive: Secret): Step {
  const own = files.filter(({isOnMachine}) => !isOnMachine).map((each) => each.name);
  const title = `Copy ${own.join(' and ')} into container ${name}`;
  const step = dockerStep(`copy ${name}`, title, 'cp', '-', `${name}:/`);
  return {...step, call: {...step.call, input: archive}};
}

const copySteps = ({files}: HostAgent, directory: string, {upToDate}: HostFacts): MachineStep[] =>
  files
    .filter(({isOnMachine, path}) => isOnMachine && !upToDate?.has(path))
    .map(({name, path}) => ({
      id: `install ${path}`,
      title: `Copy ${name} to ${path}`,
      call: {tool: 'install', args: ['-D', '-m', '0644', join(directory, name), path]},
      replaces: path,
    }));

/** Containers without an agent stop first; every other one right before its successor starts. */
function replaceSteps({created, replaced}: ContainerChange): MachineStep[] {
  const names = created.map(({agent}) => agent.name);
  const surplus = replaced.filter((each) => !names.includes(containerName(each)));
  return [
    ...surplus.flatMap(setAside),
    ...names.flatMap((name) => [
      ...replaced.filter((each) => containerName(each) === name).flatMap(setAside),
      renameStep(nextName(name), name),
      startStep(name),
    ]),
  ];
}

function continueSteps(container: DockerContainer): Step[] {
  const name = containerName(container);
  if (container.State?.Paused)
    return [
      dockerStep(`unpause ${name}`, `Continue the paused container ${name}`, 'unpause', name),
    ];
  if (isUp(container)) return [];
  return [dockerStep(`start ${name}`, `Start the stopped container ${name}`, 'start', name)];
}

const finishSteps = ({leftovers}: ContainerChange, found: readonly DockerContainer[]): Step[] =>
  [...new Set(leftovers)].flatMap((name) => [
    ...inRole(found, 'failed')
      .filter((each) => containerName(each) === name)
      .flatMap((each) => stopSteps(each)),
    {...removeStep(name), tolerates: GONE},
  ]);

const isUnfingerprinted = (each: DockerContainer): boolean =>
  labelOf(each, CONFIGURATION_LABEL) === undefined;

const replacedByHand = (each: DockerContainer): string =>
  `Container ${containerName(each)} was started by run.sh or Docker Compose, so its settings cannot be compared. It is replaced.`;

function daemonWarning(host: HostAgent, directory: string, {hasDaemonProxy}: HostFacts): string[] {
  if (host.mode !== 'containers' || Object.keys(host.proxy).length === 0 || hasDaemonProxy)
    return [];
  return [
    `The Docker daemon has no proxy, but it pulls the run images. The following restarts Docker with all its containers. In ${directory}, run: ${daemonSteps(host).join(' && ')}`,
  ];
}

/** A container that was started with --rm does not exist after its stop. */
const GONE = /no such container/i;

/** Stops a container, and keeps it until the new one is ready. */
function setAside(container: DockerContainer): MachineStep[] {
  const name = containerName(container);
  return [...stopSteps(container), {...renameStep(name, previousName(name)), tolerates: GONE}];
}

/** Directories that the install of a container has written files to. */
export const directoriesOf = (container: DockerContainer): string[] =>
  (labelOf(container, DIRECTORY_LABEL) ?? '').split(':').filter(Boolean);

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
