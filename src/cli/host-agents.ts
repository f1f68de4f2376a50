import {
  areReady,
  type HostAgentState,
  stateOfContainer,
  stateOfService,
} from '../extensions/machine/agents.ts';
import {hostStatusText} from '../extensions/machine/agents-text.ts';
import {
  containerName,
  type DockerContainer,
  readContainers,
} from '../extensions/machine/containers.ts';
import {currentContainers} from '../extensions/machine/roles.ts';
import {ExitCode, type ExpectedError, failed} from '../ground/errors.ts';
import type {HostTools} from '../ground/system/system.ts';
import type {CommandContext} from './operate.ts';

export type MachineTarget = 'docker' | 'systemd';

/** Docker and systemd respond within this time. */
const MAX_READ_MS = 30_000;

export const readSignal = ({timeoutMs}: Pick<CommandContext, 'timeoutMs'>): AbortSignal =>
  AbortSignal.timeout(Math.min(timeoutMs, MAX_READ_MS));

/** For one read of this machine. */
export const hostDeps = ({app: {host, now}, timeoutMs}: CommandContext) => ({
  host,
  now,
  signal: readSignal({timeoutMs}),
});

export type HostStatusDocument = Awaited<ReturnType<typeof hostStatus>>;

/** State of the agents on this machine, or of one release. @throws ExpectedError if no agent is found */
export async function hostStatus(
  target: MachineTarget,
  name: string | undefined,
  context: CommandContext,
) {
  const agents = await readAgents(target, name, context);
  if (agents.length === 0) throw noAgent(target, name);
  const {show, isJson, screen, exitWith} = context;
  if (!isJson) show(hostStatusText(agents, screen));
  const isReady = areReady(agents);
  if (!isReady) exitWith(ExitCode.failed);
  return {
    target,
    state: isReady ? ('ready' as const) : ('not-ready' as const),
    agents: agents.map(({causes: _, isRunning: __, isStuck: ___, ...agent}) => agent),
    causes: agents.flatMap(({causes}) => causes),
  };
}

async function readAgents(
  target: MachineTarget,
  name: string | undefined,
  context: CommandContext,
): Promise<HostAgentState[]> {
  const deps = hostDeps(context);
  if (target === 'systemd') {
    const service = await stateOfService(deps);
    return service === undefined ? [] : [service];
  }
  const containers = currentContainers(await readContainers(deps), name);
  return Promise.all(containers.map((each) => stateOfContainer(each, deps)));
}

/** The only agent container of this machine, or of a release. @throws ExpectedError */
export async function onlyContainer(
  name: string | undefined,
  host: HostTools,
  timeoutMs: number,
): Promise<string> {
  const found: DockerContainer[] = currentContainers(
    await readContainers({host, signal: readSignal({timeoutMs})}),
    name,
  );
  const [only, ...others] = found.map(containerName);
  if (only === undefined) throw noAgent('docker', name);
  if (others.length === 0) return only;
  throw failed(
    'USAGE',
    `This machine has ${found.length} agent containers.`,
    [only, ...others].map((each) => `scalr-agent collect-logs --docker ${each}`),
  );
}

export const noAgent = (target: MachineTarget, name: string | undefined): ExpectedError =>
  target === 'docker' ? noContainer(name) : noService();

const noContainer = (name: string | undefined): ExpectedError =>
  failed(
    'AGENT_NOT_FOUND',
    `No agent container${name === undefined ? '' : ` of release ${name}`} on this machine.`,
    [
      'List the containers: docker ps --all',
      'Start the wizard to install an agent: scalr-agent install --target docker',
    ],
  );

const noService = (): ExpectedError =>
  failed('AGENT_NOT_FOUND', 'No service scalr-agent on this machine.', [
    'Run the command on the machine where the agent runs',
  ]);
