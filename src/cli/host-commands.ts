import {ExitCode, type ExpectedError, failed, onFailure} from '../ground/errors.ts';
import {areReady, type HostAgentState, type HostCause, hasService, stateOfContainer, stateOfService} from '../host/agents.ts';
import {agentContainers, containerName, currentContainers, type DockerContainer, readContainers} from '../host/containers.ts';
import {DROP_INS} from '../host/files.ts';
import {directoriesOf} from '../host/plan.ts';
import {type HostRemoval, planContainerRemoval, planServiceRemoval} from '../host/removal.ts';
import {runSteps} from '../operations/run-steps.ts';
import type {KeptObject} from '../operations/uninstall-keeps.ts';
import type {HostTools} from '../ports/processes.ts';
import {accountText, stepsText} from '../ui/plan.ts';
import {hostStatusText} from '../ui/status-list.ts';
import {type CommandContext, type ConfirmFlags, type Operation, operate, stepsOf} from './operate.ts';

export interface HostStatusDocument {
  target: 'docker' | 'systemd';
  state: 'ready' | 'not-ready';
  agents: Omit<HostAgentState, 'causes' | 'isRunning'>[];
  causes: Pick<HostCause, 'object' | 'code' | 'reason' | 'remedy'>[];
}

/** State of the agents on this machine, or of one release. @throws ExpectedError if no agent is found */
export async function hostStatus(
  target: 'docker' | 'systemd',
  name: string | undefined,
  {app, show, isJson, screen, timeoutMs, exitWith}: CommandContext,
): Promise<HostStatusDocument> {
  const deps = {host: app.host, signal: readSignal({timeoutMs}), now: app.now};
  const agents =
    target === 'docker'
      ? await Promise.all(currentContainers(await readContainers(deps), name).map((each) => stateOfContainer(each, deps)))
      : [await stateOfService(deps)].filter((each) => each !== undefined);
  if (agents.length === 0) throw noAgent(target, name);
  if (!isJson) show(hostStatusText(agents, screen));
  const isReady = areReady(agents);
  if (!isReady) exitWith(ExitCode.failed);
  return {
    target,
    state: isReady ? 'ready' : 'not-ready',
    agents: agents.map(({causes: _, isRunning: __, ...agent}) => agent),
    causes: agents.flatMap(({causes}) => causes.map(({object, code, reason, remedy}) => ({object, code, reason, remedy}))),
  };
}

export interface HostUninstallResult {
  target: 'docker' | 'systemd';
  changed: boolean;
  steps: {id: string; title: string}[];
  removed: readonly string[];
  kept: readonly KeptObject[];
}

/** Removes the containers of a release, or the service of the Linux packages. @throws ExpectedError */
export async function uninstallFromHost(
  target: 'docker' | 'systemd',
  name: string,
  flags: ConfirmFlags,
  context: CommandContext,
): Promise<HostUninstallResult> {
  const {app, screen, say} = context;
  const {steps, warnings, removes, keeps} = await removalOf(target, name, context);
  const result = {target, changed: steps.length > 0, steps: stepsOf(steps), removed: removes, kept: keeps};
  if (!result.changed) {
    say(`${target === 'docker' ? `No container of release ${name}` : 'No service scalr-agent'} on this machine. Nothing was changed.\n`);
    return result;
  }
  const place = {Target: target === 'docker' ? 'Docker on this machine' : 'systemd on this machine'};
  const operation: Operation<HostUninstallResult> = {
    title: target === 'docker' ? `Removing the agent containers of release ${name}` : 'Removing service scalr-agent',
    steps,
    text: `${stepsText(steps, place, screen)}\n${accountText({removes, keeps}, false, screen)}\n`,
    warnings: warnings.map((message) => ({code: 'DRAIN', message})),
    run: async (deps) => {
      await runSteps(steps, {...deps, processes: app.processes({})});
      deps.done('The agent is removed');
      say(accountText({removes, keeps}, true, screen));
      return result;
    },
  };
  return operate(operation, result, flags, context);
}

async function removalOf(target: 'docker' | 'systemd', name: string, {app, timeoutMs}: CommandContext): Promise<HostRemoval> {
  const deps = {host: app.host, signal: readSignal({timeoutMs}), now: app.now};
  if (target === 'docker') {
    const [all, isService] = await Promise.all([readContainers(deps), hasService(deps)]);
    const installed = agentContainers(all, name);
    const directories = [...new Set(installed.flatMap(directoriesOf))];
    const files = await Promise.all(directories.map(async (path) => [path, await app.files.list(path)] as const));
    return planContainerRemoval(installed, {
      others: all.filter((each) => !installed.includes(each)),
      hasService: isService,
      files: new Map(files),
    });
  }
  if ((await stateOfService(deps)) === undefined) return {steps: [], warnings: [], removes: [], keeps: []};
  const kinds = await Promise.all(DROP_INS.map((path) => app.files.kindOf(path)));
  return planServiceRemoval(
    DROP_INS.filter((_, index) => kinds[index] === 'file'),
    await otherContainers(deps),
  );
}

/** A machine without Docker has no containers; undefined if they cannot be read. */
const otherContainers = (deps: Parameters<typeof readContainers>[0]): Promise<DockerContainer[] | undefined> =>
  readContainers(deps).catch(onFailure(({code}) => (code === 'TOOL_NOT_FOUND' ? [] : undefined)));

/** The only agent container of this machine, or of a release. @throws ExpectedError */
export async function onlyContainer(name: string | undefined, host: HostTools, timeoutMs: number): Promise<string> {
  const found: DockerContainer[] = currentContainers(await readContainers({host, signal: readSignal({timeoutMs})}), name);
  const [only, ...others] = found.map(containerName);
  if (only === undefined) throw noAgent('docker', name);
  if (others.length === 0) return only;
  throw failed(
    'USAGE',
    `This machine has ${found.length} agent containers.`,
    [only, ...others].map((each) => `scalr-agent collect-logs --docker ${each}`),
  );
}

/** Docker and systemd respond within this time. */
const MAX_READ_MS = 30_000;

export const readSignal = ({timeoutMs}: Pick<CommandContext, 'timeoutMs'>): AbortSignal =>
  AbortSignal.timeout(Math.min(timeoutMs, MAX_READ_MS));

const noAgent = (target: 'docker' | 'systemd', name: string | undefined): ExpectedError =>
  failed(
    'AGENT_NOT_FOUND',
    target === 'docker'
      ? `No agent container${name === undefined ? '' : ` of release ${name}`} on this machine.`
      : 'No service scalr-agent on this machine.',
    target === 'docker'
      ? ['List the containers: docker ps --all', 'Install an agent: scalr-agent install --target docker']
      : ['Run the command on the machine where the agent runs'],
  );
