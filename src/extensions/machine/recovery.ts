import type {MachineCall} from '../../ground/call.ts';
import type {Step} from '../../operations/step.ts';
import {
  agentName,
  containerName,
  containerRole,
  type DockerContainer,
  failedName,
  isUp,
  labelOf,
  purposeOf,
  secondsToStop,
  variablesOf,
} from './containers.ts';

/** IDs of the containers that a container replaces. */
export const REPLACES_LABEL = 'io.scalr.agent.replaces';

/** docs.docker.com, docker stop. */
const DOCKER_SECONDS = 10;
/** An agent that has never become ready has no runs. */
const FAILED_AGENT_SECONDS = 60;

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
): Step[] => {
  const name = containerName(container);
  return [
    ...(container.State?.Paused
      ? [dockerStep(`unpause ${name}`, `Continue the paused container ${name}`, 'unpause', name)]
      : []),
    ...(isUp(container)
      ? [dockerStep(`stop ${name}`, `Stop container ${name}`, 'stop', '-t', String(seconds), name)]
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
  steps: Step[];
  /** Current containers of the release afterwards. */
  containers: DockerContainer[];
  /** IDs of the containers that are started again. */
  started: string[];
  /** Names of new containers that are kept for their logs. */
  failed: string[];
}

/**
 * `installed` are all containers of a release. Containers in `stopping` have received a signal and may still be running; those in
 * `idle` did not run before the install. Pure.
 */
export function recover(
  installed: readonly DockerContainer[],
  {
    stopping = new Set(),
    idle = new Set(),
  }: {stopping?: ReadonlySet<string>; idle?: ReadonlySet<string>} = {},
): Recovery {
  const inRole = (role: string): DockerContainer[] =>
    installed.filter((each) => containerRole(each) === role);
  const nexts = inRole('next');
  const previous = inRole('previous');
  const current = inRole('current');
  const replaces = (each: DockerContainer): string[] =>
    (labelOf(each, REPLACES_LABEL) ?? '').split(',').filter(Boolean);
  const failed = current.filter((each) => previous.some(({Id}) => replaces(each).includes(Id)));
  // A failed container shows that the way back was interrupted.
  const replaced = new Set([...nexts, ...failed, ...inRole('failed')].flatMap(replaces));
  const untouched = current.filter((each) => !failed.includes(each));
  const mustStart = (each: DockerContainer): boolean =>
    !idle.has(each.Id) && (!isUp(each) || stopping.has(containerName(each)));
  const stopped = untouched.filter((each) => replaced.has(each.Id) && mustStart(each));
  const revived = [...previous.filter(mustStart), ...stopped];
  return {
    steps: [
      ...failed.flatMap((each) => {
        const name = containerName(each);
        const aside = failedName(containerName(each));
        return [
          ...stopSteps(each, FAILED_AGENT_SECONDS),
          ...installed
            .filter((other) => containerName(other) === aside)
            .flatMap((other) => [...stopSteps(other), removeStep(aside)]),
          renameStep(name, aside),
        ];
      }),
      // Docker cannot rename every running container.
      ...previous.map((each) => renameStep(containerName(each), agentName(each))),
      ...revived.map((each) => {
        const name = agentName(each);
        // Waits until a container that has received a signal has stopped.
        return isUp(each)
          ? dockerStep(
              `restart ${name}`,
              `Start container ${name} when it has stopped`,
              'restart',
              '-t',
              String(stopSecondsOf(each)),
              name,
            )
          : startStep(name);
      }),
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

const started = (container: DockerContainer): DockerContainer => ({
  ...container,
  State: {...container.State, Running: true, Restarting: false, Paused: false},
});
