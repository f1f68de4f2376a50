import {commandLine} from '../../ground/command-line.ts';
import {failed} from '../../ground/errors.ts';
import type {Files, HostTools} from '../../ground/system/system.ts';
import type {HostAgent, HostFile, HostOptions} from './agent.ts';
import {hasService} from './agents.ts';
import {type DockerContainer, readContainers, variablesOf} from './containers.ts';
import {directoriesFor} from './directories.ts';
import {type HostPlan, planContainers} from './plan.ts';
import {agentContainers} from './roles.ts';
import {readSocket} from './socket.ts';
import type {Variables} from './variables.ts';

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
  agentWith: (options: HostOptions, environment?: Variables) => HostAgent,
  directory: string,
  deps: Deps,
): Promise<PreparedContainers> {
  const draft = agentWith({});
  const {host, signal} = deps;
  const ask = (...args: readonly string[]) => host.run({tool: 'docker', args}, {signal});
  const [containers, service, socket, image, info] = await Promise.all([
    readContainers(deps),
    hasService(deps),
    draft.mode === 'containers' ? readSocket(deps) : undefined,
    ask('image', 'inspect', '--format', '{{.Id}}', draft.image),
    ask('info', '--format', '{{.HTTPProxy}}{{.HTTPSProxy}}'),
  ]);
  const installed = agentContainers(containers, draft.name);
  const directories = directoriesFor(draft.name, containers, service);
  const agent = agentWith(
    socket === undefined ? {directories} : {directories, socket},
    variablesOf(installed[0] ?? {}),
  );
  const onMachine = agent.files.filter((file) => file.isOnMachine);
  const present = await Promise.all(onMachine.map((file) => presentFile(file, deps.files)));
  const plan = planContainers(agent, directory, {
    containers,
    hasImage: image.error === undefined,
    hasDaemonProxy: info.stdout.trim() !== '',
    upToDate: new Set(present.filter(({text, before}) => text === before).map(({path}) => path)),
  });
  const replaced = present.flatMap(({path, text, before}) =>
    before === undefined || before === text ? [] : [[path, before] as const],
  );
  return {...plan, agent, installed, replacedFiles: new Map(replaced)};
}

/** With the present content of the file. @throws ExpectedError for a directory */
async function presentFile(
  file: HostFile,
  files: Deps['files'],
): Promise<HostFile & {before: string | undefined}> {
  const {path} = file;
  const kind = await files.kindOf(path);
  if (kind === 'directory')
    throw failed('OBJECT_NOT_OWNED', `${path} is a directory, but the agent mounts it as a file.`, [
      `If it is empty, Docker created it when the file was missing. Remove it: ${commandLine({tool: 'sudo', args: ['rmdir', path]})}`,
    ]);
  const before = kind === 'file' ? (await files.read(path)).toString('utf8') : undefined;
  return {...file, before};
}
