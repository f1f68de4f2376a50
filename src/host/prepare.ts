import {commandLine} from '../ground/command-line.ts';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import type {Files} from '../ports/files.ts';
import type {HostTools} from '../ports/host-tools.ts';
import type {HostAgent, HostOptions} from './agent.ts';
import {hasService} from './agents.ts';
import {agentContainers, type DockerContainer, readContainers, variablesOf} from './containers.ts';
import {directoriesFor} from './directories.ts';
import {type HostPlan, planContainers} from './plan.ts';
import {readSocket} from './socket.ts';

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
  new ExpectedError(`${path} is a directory, but the agent mounts it as a file.`, {
    code: 'OBJECT_OF_ANOTHER',
    exit: ExitCode.failed,
    suggestions: [
      `If it is empty, Docker created it when the file was missing. Remove it: ${commandLine({tool: 'sudo', args: ['rmdir', path]})}`,
    ],
  });
