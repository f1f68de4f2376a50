import {verdictIn} from '../diagnose/agent-log.ts';
import {AGENT_LOG_ROWS} from '../diagnose/agent-log-rows.ts';
import type {HostCall, HostError, HostTools} from '../ports/host-tools.ts';
import {refusal} from '../support-bundle/collect/host.ts';
import {type ContainerFacts, dockerFindings} from '../support-bundle/findings/docker-findings.ts';
import type {Finding} from '../support-bundle/findings/evidence.ts';
import {journalFindings} from '../support-bundle/findings/journal-findings.ts';
import {withoutPrefix} from '../support-bundle/findings/log-matcher.ts';
import {isListOf, readJson} from '../support-bundle/json.ts';
import {PURPOSE_LABEL, RELEASE_LABEL} from '../targets/host/agent.ts';

/** An agent on this machine: a Docker container, or the service of the Linux packages. */
export interface HostAgentState {
  /** container/NAME or unit/scalr-agent. */
  object: string;
  /** State according to Docker or systemd, such as "running". */
  status: string;
  isRunning: boolean;
  /** According to the log of the agent. */
  agent: 'registered' | 'unknown';
  restarts: number;
  image?: string;
  /** Absent if the container was started by hand. */
  release?: string;
  purpose?: string;
  causes: readonly HostCause[];
}

/** Why an agent is not healthy. */
export interface HostCause {
  object: string;
  code: string;
  reason: string;
  remedy: string;
  isError: boolean;
  /** Waiting longer does not help. */
  isHopeless: boolean;
}

/** A container, from `docker inspect`. */
export interface Container extends ContainerFacts {
  Id: string;
  /** With a slash at its start. */
  Name: string;
  Config?: {Image?: string; Labels?: Readonly<Record<string, string>> | null; StopTimeout?: number};
  Mounts?: readonly {Source?: string; Destination?: string}[] | null;
  State?: ContainerFacts['State'] & {StartedAt?: string};
}

interface Deps {
  host: HostTools;
  signal: AbortSignal;
  now(): Date;
}

/** The newest lines show the state. */
const TAIL_LINES = 1000;
/** Docker considers a restarted container stable after this time. */
const STABLE_MS = 10_000;
/** After this number of restarts, the container does not recover by itself. */
const MAX_RESTARTS = 3;

export const containerName = ({Name}: Pick<Container, 'Name'>): string => Name.replace(/^\//, '');

export const labelOf = ({Config}: Container, label: string): string | undefined => Config?.Labels?.[label];

/** Every container of this machine. @throws ExpectedError if Docker does not answer */
export async function readContainers({host, signal}: Omit<Deps, 'now'>): Promise<Container[]> {
  const ids = await host.run({tool: 'docker', args: ['ps', '--all', '--quiet', '--no-trunc']}, {signal});
  if (ids.trouble) throw unreadable(ids.trouble);
  const all = ids.stdout.split('\n').filter(Boolean);
  if (all.length === 0) return [];
  const {stdout, trouble} = await host.run({tool: 'docker', args: ['inspect', '--type', 'container', ...all]}, {signal});
  // The container of a run can end between the two calls.
  if (trouble && trouble.kind !== 'not-found') throw unreadable(trouble);
  const answer = readJson('docker', stdout, isListOf('Id', 'Name'));
  if (answer.trouble) throw unreadable(answer.trouble);
  return answer.value as unknown as Container[];
}

const unreadable = (trouble: HostError) =>
  refusal('Cannot list the containers of this machine', trouble, ['Install Docker 20.10 or newer, and check: docker ps']);

/** Agents of a release; without a release, also those that were started by hand from the image scalr/agent. */
export const agentContainers = (all: readonly Container[], release?: string): Container[] =>
  all.filter((each) => {
    const name = labelOf(each, RELEASE_LABEL);
    if (release !== undefined || name !== undefined) return release === undefined || name === release;
    return /(^|\/)scalr\/agent([:@]|$)/.test(each.Config?.Image ?? '');
  });

/** What decides whether a plan must pull images or warn. @throws ExpectedError if Docker does not answer */
export async function readDocker(image: string, {host, signal}: Omit<Deps, 'now'>) {
  const [containers, found, info] = await Promise.all([
    readContainers({host, signal}),
    host.run({tool: 'docker', args: ['image', 'inspect', '--format', '{{.Id}}', image]}, {signal}),
    host.run({tool: 'docker', args: ['info', '--format', '{{.HTTPProxy}}{{.HTTPSProxy}}']}, {signal}),
  ]);
  return {containers, hasImage: found.trouble === undefined, hasDaemonProxy: info.stdout.trim() !== ''};
}

/** State of a container and its agent. */
export async function stateOfContainer(container: Container, {host, signal, now}: Deps): Promise<HostAgentState> {
  const name = containerName(container);
  const {State = {}, RestartCount: restarts = 0, Config} = container;
  const log = await readLog({tool: 'docker', args: ['logs', '--timestamps', '--tail', String(TAIL_LINES), name]}, {host, signal});
  const startedAt = Date.parse(State.StartedAt ?? '') || 0;
  const isStable = restarts === 0 || now().getTime() - startedAt > STABLE_MS;
  const isRunning = State.Running === true && State.Restarting !== true && isStable;
  const findings = dockerFindings(name, container, [recordOf(log)], now());
  const image = Config?.Image;
  const [release, purpose] = [labelOf(container, RELEASE_LABEL), labelOf(container, PURPOSE_LABEL)];
  return {
    object: `container/${name}`,
    status: State.Status ?? 'unknown',
    isRunning,
    restarts,
    ...(image === undefined ? {} : {image}),
    ...(release === undefined ? {} : {release}),
    ...(purpose === undefined ? {} : {purpose}),
    ...stateIn(log, isRunning, findings, restarts, now(), startedAt),
  };
}

const UNIT = 'scalr-agent';
const PROPERTIES = 'LoadState ActiveState SubState Result ExecMainStatus NRestarts NeedDaemonReload'.split(' ');

/** State of the service of the Linux packages; undefined if it is not installed. @throws ExpectedError if systemd does not answer */
export async function stateOfService({host, signal, now}: Deps): Promise<HostAgentState | undefined> {
  const show = await host.run(
    {tool: 'systemctl', args: ['show', '--no-pager', `--property=${PROPERTIES.join(',')}`, `${UNIT}.service`]},
    {signal},
  );
  if (show.trouble)
    throw refusal(`Cannot read unit ${UNIT}`, show.trouble, [
      'Run the command on the machine of the agent',
      'For agents in Docker: scalr-agent status --target docker',
    ]);
  const facts = Object.fromEntries([...show.stdout.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]));
  if (facts['LoadState'] === 'not-found') return undefined;
  const log = await readLog(
    {
      tool: 'journalctl',
      args: ['--unit', `${UNIT}.service`, '--all', '--no-pager', '--utc', '--output', 'short-iso-precise', '--lines', String(TAIL_LINES)],
    },
    {host, signal},
  );
  const isRunning = facts['ActiveState'] === 'active';
  const restarts = Number(facts['NRestarts'] ?? 0);
  const findings = journalFindings([{name: UNIT, variables: [], facts}], [{...recordOf(log), file: `logs/journal/${UNIT}.log`}], now());
  return {
    object: `unit/${UNIT}`,
    status: `${facts['ActiveState']} (${facts['SubState']})`,
    isRunning,
    restarts,
    ...stateIn(log, isRunning, findings, restarts, now()),
  };
}

/** Every agent runs without an error. */
export const areReady = (agents: readonly HostAgentState[]): boolean =>
  agents.length > 0 && agents.every(({isRunning, causes}) => isRunning && !causes.some(({isError}) => isError));

/** State of an agent according to its log and the findings. */
function stateIn(
  log: string,
  isRunning: boolean,
  findings: readonly Finding[],
  restarts: number,
  now: Date,
  startedAt = 0,
): Pick<HostAgentState, 'agent' | 'causes'> {
  const verdict = verdictIn(log, 'host', isRunning, now);
  const row = AGENT_LOG_ROWS.find(({code}) => code === verdict?.meaning);
  const seconds = verdict?.since === undefined ? 0 : (now.getTime() - Date.parse(verdict.since)) / 1000;
  const isLate = row?.hopelessAfter !== undefined && seconds > row.hopelessAfter;
  return {
    // The line of an earlier start does not count.
    agent: verdict?.meaning === 'READY' && isAfter(verdict.since, startedAt) ? 'registered' : 'unknown',
    causes: findings
      .filter(({code}) => code !== 'NO_LOG')
      .map(({object, code, message, remedy, severity}) => ({
        object,
        code,
        reason: message,
        remedy,
        isError: severity === 'error',
        isHopeless: code === row?.code ? isLate : code === 'CRASH_LOOP' && restarts >= MAX_RESTARTS,
      })),
  };
}

/** Docker sets the time of a start after the first lines of its log. */
const START_DELAY_MS = 1000;

const isAfter = (time: string | undefined, startedAt: number): boolean =>
  time === undefined || Date.parse(time) >= startedAt - START_DELAY_MS;

/** Lines without the time that Docker or the journal adds; empty if there is no readable log. */
async function readLog(call: HostCall, {host, signal}: Omit<Deps, 'now'>): Promise<string> {
  const opened = await host.stream(call, {signal, isLogOnBoth: call.tool === 'docker'});
  if (opened.trouble) return '';
  const chunks: Buffer[] = [];
  for await (const chunk of opened.chunks) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8').split('\n').map(withoutPrefix).join('\n');
}

const recordOf = (tail: string) => ({file: '', bytes: Buffer.byteLength(tail), tail, lines: tail.split('\n').length, matches: []});
