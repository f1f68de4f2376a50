import {createHash} from 'node:crypto';
import {join} from 'node:path';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {Step} from '../plan/step.ts';
import type {KeptObject} from '../plan/uninstall-keeps.ts';
import type {Call} from '../ports/processes.ts';
import {daemonSteps, runArguments} from '../targets/docker.ts';
import {type HostAgent, PURPOSE_LABEL} from '../targets/host/agent.ts';
import {agentContainers, type Container, containerName, labelOf} from './agents.ts';

/** Fingerprint of everything that a container was started with. */
const CONFIGURATION_LABEL = 'io.scalr.agent.configuration';
/** Directory with the files of the install. */
const DIRECTORY_LABEL = 'io.scalr.agent.directory';
/** docs.docker.com, docker stop. */
const DEFAULT_STOP_SECONDS = 10;

/** The steps that bring the containers of this machine to the settings. */
export interface HostPlan {
  steps: Step[];
  warnings: string[];
}

export interface HostFacts {
  containers: readonly Container[];
  hasImage: boolean;
  /** Docker pulls through a proxy. */
  hasDaemonProxy: boolean;
}

/** `directory` is the absolute path of the exported files. Pure. @throws ExpectedError if another container has the name */
export function planContainers(host: HostAgent, directory: string, {containers, hasImage, hasDaemonProxy}: HostFacts): HostPlan {
  const installed = agentContainers(containers, host.name);
  const foreign = containers.find((each) => !installed.includes(each) && host.agents.some(({name}) => name === containerName(each)));
  if (foreign !== undefined) throw nameTaken(containerName(foreign));
  const wanted = host.agents.map((agent) => {
    const configuration = fingerprint([runArguments(agent, host, directory), host.secrets, host.files]);
    const labels = {...host.labels, [CONFIGURATION_LABEL]: configuration, [DIRECTORY_LABEL]: directory};
    const args = runArguments(agent, {...host, labels}, directory);
    return {name: agent.name, configuration, args, container: installed.find((each) => containerName(each) === agent.name)};
  });
  const changed = wanted.filter(
    ({container, configuration}) => container === undefined || labelOf(container, CONFIGURATION_LABEL) !== configuration,
  );
  const stopped = wanted.filter((each) => !changed.includes(each) && each.container?.State?.Running === false);
  const unwanted = installed.filter((each) => !wanted.some(({container}) => container === each));
  const replaced = [...changed.flatMap(({container}) => container ?? []), ...unwanted];
  const isPulled = changed.length > 0 && host.pull !== 'never' && (host.pull === 'always' || !hasImage);
  const onMachine = changed.length === 0 ? [] : host.files.filter(({isOnMachine}) => isOnMachine);
  return {
    steps: [
      // Fails before a container is stopped.
      ...(isPulled ? [step(`pull ${host.image}`, `Pull image ${host.image}`, docker('pull', host.image))] : []),
      ...onMachine.map(({name, path}) =>
        step(`install ${path}`, `Copy ${name} to ${path}`, {tool: 'install', args: ['-D', '-m', '0644', join(directory, name), path]}),
      ),
      ...unwanted.flatMap(removal),
      ...changed.flatMap(({name, args, container}) => [
        ...(container === undefined ? [] : removal(container)),
        step(`run ${name}`, `Start container ${name} (${host.image})`, docker(...args)),
      ]),
      ...stopped.map(({name}) => step(`start ${name}`, `Start the stopped container ${name}`, docker('start', name))),
    ],
    warnings: [
      ...replaced.filter(({State}) => State?.Running).map(stopWarning),
      ...containers.filter((each) => !replaced.includes(each) && isOfOtherPurpose(each, host)).map(otherPurposeWarning),
      ...(host.mode === 'containers' && Object.keys(host.proxy).length > 0 && !hasDaemonProxy
        ? [`The Docker daemon has no proxy, but it pulls the images of runs. In ${directory}, run: ${daemonSteps(host).join(' && ')}`]
        : []),
    ],
  };
}

const docker = (...args: readonly string[]): Call => ({tool: 'docker', args});

const step = (id: string, title: string, call: Call): Step => ({id, title, call});

const fingerprint = (parts: unknown): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);

/** `docker stop` waits for the agent, at most for the stop timeout of the container. */
function removal(container: Container): Step[] {
  const name = containerName(container);
  return [
    ...(container.State?.Running === true || container.State?.Restarting === true
      ? [step(`stop ${name}`, `Stop container ${name}`, docker('stop', name))]
      : []),
    step(`remove ${name}`, `Remove container ${name}`, docker('rm', name)),
  ];
}

function stopWarning(container: Container): string {
  const seconds = container.Config?.StopTimeout ?? DEFAULT_STOP_SECONDS;
  return `Container ${containerName(container)} gets ${seconds} s to stop. Runs in flight that take longer are interrupted; --grace-period sets this time when a container starts.`;
}

const purposeOf = (container: Container): string | undefined => labelOf(container, PURPOSE_LABEL);

const isOfOtherPurpose = (container: Container, {labels}: HostAgent): boolean =>
  purposeOf(container) !== undefined && purposeOf(container) !== labels[PURPOSE_LABEL];

/** docs.scalr.io, self-hosted agents. */
const otherPurposeWarning = (container: Container): string =>
  `Container ${containerName(container)} is a ${purposeOf(container) === 'vcs' ? 'VCS' : 'run'} agent. Run agents and VCS agents should not share a machine.`;

const nameTaken = (name: string): ExpectedError =>
  new ExpectedError(`Container ${name} already exists and was not started by this program.`, {
    code: 'OBJECT_OF_ANOTHER',
    exit: ExitCode.failed,
    suggestions: ['Use another --release', `Or remove the container: docker stop ${name} && docker rm ${name}`],
  });

/** The steps that remove agents, and what remains. */
export interface HostRemoval {
  steps: Step[];
  warnings: string[];
  removes: string[];
  keeps: KeptObject[];
}

/** Removes the containers of a release; data and images remain. Pure. */
export function planContainerRemoval(containers: readonly Container[]): HostRemoval {
  const ofInstall = [...new Set(containers.flatMap((each) => labelOf(each, DIRECTORY_LABEL) ?? []))];
  const mounted = [...new Set(containers.flatMap(({Mounts}) => (Mounts ?? []).flatMap(({Source}) => Source ?? [])))];
  const images = [...new Set(containers.flatMap(({Config}) => Config?.Image ?? []))];
  return {
    steps: containers.flatMap(removal),
    warnings: containers.filter(({State}) => State?.Running).map(stopWarning),
    removes: containers.map((each) => `container ${containerName(each)}`),
    keeps: [
      ...ofInstall.map((path) => ({what: path, why: 'contains the token and the files of the install', how: `rm -r ${path}`})),
      ...mounted
        .filter((path) => !path.endsWith('.sock') && !ofInstall.some((directory) => path.startsWith(`${directory}/`)))
        .map((path) => ({what: path, why: 'mounted into the container', how: `sudo rm -r ${path}`})),
      ...images.map((image) => ({what: `image ${image}`, why: 'can be used by other containers', how: `docker image rm ${image}`})),
    ],
  };
}

const SERVICE = 'scalr-agent';

/** Stops the service of the Linux packages and removes the drop-ins of `export systemd`; package, configuration and data remain. Pure. */
export function planServiceRemoval(dropIns: readonly string[]): HostRemoval {
  return {
    steps: [
      step('disable', `Stop and disable service ${SERVICE}`, {tool: 'systemctl', args: ['disable', '--now', SERVICE]}),
      ...(dropIns.length === 0
        ? []
        : [
            step('drop-ins', `Remove ${dropIns.join(', ')}`, {tool: 'rm', args: ['-f', ...dropIns]}),
            step('reload', 'Reload systemd', {tool: 'systemctl', args: ['daemon-reload']}),
          ]),
    ],
    warnings: ['The service is stopped after at most its TimeoutStopSec=. Runs in flight are interrupted then.'],
    removes: [`service ${SERVICE}`, ...dropIns],
    keeps: [
      {
        what: 'package scalr-agent',
        why: 'installed by the package manager',
        how: 'sudo apt remove scalr-agent  (or: sudo dnf remove scalr-agent)',
      },
      {what: '/etc/scalr-agent', why: 'contains the token', how: 'sudo rm -r /etc/scalr-agent'},
    ],
  };
}
