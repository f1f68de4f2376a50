import type {MachineCall} from '../../ground/call.ts';
import type {Step} from '../../operations/step.ts';
import {
  containerName,
  type DockerContainer,
  isUp,
  labelOf,
  purposeOf,
  variablesOf,
} from './containers.ts';
import {agentName, failedName, inRole} from './roles.ts';
import {secondsToStop} from './variables.ts';

/** IDs of the containers that a container replaces. */
export const REPLACES_LABEL = 'io.scalr.agent.replaces';

/** docs.docker.com, docker stop. */
const DOCKER_SECONDS = 10;
/** An agent that has never become ready has no runs. */
const FAILED_AGENT_SECONDS = 60;

/** A step on this machine. */
export interface MachineStep extends Step {
  /** Name of the container that it stops. */
  stops?: string;
  /** Path of the file that it replaces. */
  replaces?: string;
}

export const dockerStep = (
  id: string,
  title: string,
  ...args: readonly string[]
): Step & {call: MachineCall} => ({
  id,
  title,
  call: {tool: 'docker', args},
});

/** What Docker waits for before it kills the container: the time that the user has set, or else what the agent needs. */
export function stopSecondsOf(container: DockerContainer): number {
  const usual =
    purposeOf(container) === 'vcs' ? DOCKER_SECONDS : secondsToStop(variablesOf(container));
  return container.Config?.StopTimeout ?? usual;
}

/** A paused container does not react to a signal. */
export const stopSteps = (
  container: DockerContainer,
  seconds = stopSecondsOf(container),
): MachineStep[] => {
  const name = containerName(container);
  const args = ['stop', '-t', String(seconds), name];
  return [
    ...(container.State?.Paused
      ? [dockerStep(`unpause ${name}`, `Continue the paused container ${name}`, 'unpause', name)]
      : []),
    ...(isUp(container)
      ? [{...dockerStep(`stop ${name}`, `Stop container ${name}`, ...args), stops: name}]
      : []),
  ];
};

export const removeStep = (name: string): Step =>
  dockerStep(`remove ${name}`, `Remove container ${name}`, 'rm', name);
export const startStep = (name: string): Step =>
  dockerStep(`start ${name}`, `Start container ${name}`, 'start', name);
export const renameStep = (name: string, to: string): Step =>
  dockerStep(`rename ${name}`, `Rename container ${name} to ${to}`, 'rename', name, to);

/** The way back to the containers that ran before an install that has failed or was interrupted. */
export interface Recovery {
  steps: MachineStep[];
  /** Current containers of the release afterwards. */
  containers: DockerContainer[];
  /** IDs of the containers that are started again. */
  started: string[];
  /** Names of new containers that are kept for their logs. */
  failed: string[];
}

interface RecoveryFacts {
  /** Names of containers that have received a signal and may still be running. */
  stopping?: ReadonlySet<string>;
  /** IDs of containers that did not run before the install. */
  idle?: ReadonlySet<string>;
}

/** `installed` are all containers of a release. Pure. */
export function recover(
  installed: readonly DockerContainer[],
  {stopping = new Set(), idle = new Set()}: RecoveryFacts = {},
): Recovery {
  const nexts = inRole(installed, 'next');
  const previous = inRole(installed, 'previous');
  const current = inRole(installed, 'current');
  const failed = current.filter((each) => previous.some(({Id}) => replacedBy(each).includes(Id)));
  // A failed container shows that the way back was interrupted.
  const replaced = new Set(
    [...nexts, ...failed, ...inRole(installed, 'failed')].flatMap(replacedBy),
  );
  const untouched = current.filter((each) => !failed.includes(each));
  const mustStart = (each: DockerContainer): boolean =>
    !idle.has(each.Id) && (!isUp(each) || stopping.has(containerName(each)));
  const stopped = untouched.filter((each) => replaced.has(each.Id) && mustStart(each));
  const revived = [...previous.filter(mustStart), ...stopped];
  return {
    steps: [
      ...failed.flatMap((each) => keepForLog(each, installed)),
      // Docker cannot rename every running container.
      ...previous.map((each) => renameStep(containerName(each), agentName(each))),
      ...revived.map(reviveStep),
      // As long as they exist, a repeated install continues here.
      ...nexts.flatMap((each) => [...stopSteps(each), removeStep(containerName(each))]),
    ],
    containers: [
      ...untouched.map((each) => (stopped.includes(each) ? started(each) : each)),
      ...previous.map((each) => started({...each, Name: `/${agentName(each)}`})),
    ],
    started: revived.map(({Id}) => Id),
    failed: failed.map((each) => failedName(containerName(each))),
  };
}

/** IDs. */
const replacedBy = (container: DockerContainer): string[] =>
  (labelOf(container, REPLACES_LABEL) ?? '').split(',').filter(Boolean);

/** Stops a new container that has failed, and gives it another name. */
function keepForLog(container: DockerContainer, installed: readonly DockerContainer[]): Step[] {
  const name = containerName(container);
  const aside = failedName(name);
  return [
    ...stopSteps(container, FAILED_AGENT_SECONDS),
    ...installed
      .filter((other) => containerName(other) === aside)
      .flatMap((other) => [...stopSteps(other), removeStep(aside)]),
    renameStep(name, aside),
  ];
}

function reviveStep(container: DockerContainer): Step {
  const name = agentName(container);
  if (!isUp(container)) return startStep(name);
  // Waits until a container that has received a signal has stopped.
  const title = `Start container ${name} when it has stopped`;
  const seconds = String(stopSecondsOf(container));
  return dockerStep(`restart ${name}`, title, 'restart', '-t', seconds, name);
}

const started = (container: DockerContainer): DockerContainer => ({
  ...container,
  State: {...container.State, Running: true, Restarting: false, Paused: false},
});
