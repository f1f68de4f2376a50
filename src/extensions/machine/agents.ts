import {text} from 'node:stream/consumers';
import {lastLogLine, verdictIn} from '../../checks/diagnose/agent-log.ts';
import {AGENT_LOG_ROWS} from '../../checks/diagnose/agent-log-rows.ts';
import {dockerFindings, journalFindings} from '../../checks/diagnose/host-findings.ts';
import {withoutPrefix} from '../../checks/diagnose/log-matcher.ts';
import {type ObjectFinding, objectFinding, remediesOf} from '../../ground/finding.ts';
import {oneLine} from '../../ground/one-line.ts';
import {refusal} from '../../ground/system/host-refusal.ts';
import type {HostCall, HostTools} from '../../ground/system/system.ts';
import {propertiesIn, showServices} from '../../ground/system/systemd.ts';
import {
  containerName,
  type DockerContainer,
  isUp,
  labelOf,
  purposeOf,
  RELEASE_LABEL,
} from './containers.ts';
import {containerRole} from './roles.ts';

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
  image?: string | undefined;
  /** Undefined if the container was started by hand. */
  release?: string | undefined;
  purpose?: string | undefined;
  /** Why it is not healthy: it waits in vain for errors, and warnings do not make it unhealthy. */
  causes: readonly ObjectFinding[];
  /** Waiting longer does not help. */
  isStuck: boolean;
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

export async function stateOfContainer(
  container: DockerContainer,
  deps: Deps,
): Promise<HostAgentState> {
  const name = containerName(container);
  const {State = {}, RestartCount: restarts = 0, Config} = container;
  const now = deps.now();
  const log = await containerLog(name, ['--tail', String(TAIL_LINES)], deps);
  const startedAt = Date.parse(State.StartedAt ?? '') || 0;
  const isStable = restarts === 0 || now.getTime() - startedAt > STABLE_MS;
  const isRunning = isUp(container) && !State.Restarting && !State.Paused && isStable;
  const process = {isRunning, restarts, now, startedAt};
  const findings = dockerFindings(name, container, [recordOf(log ?? '')], now);
  const purpose = purposeOf(container);
  const state: HostAgentState = {
    object: `container/${name}`,
    status: State.Status ?? 'unknown',
    isRunning,
    restarts,
    image: Config?.Image,
    release: labelOf(container, RELEASE_LABEL),
    purpose,
    ...stateIn(log ?? '', findings, process),
  };
  if (containerRole(container) !== 'current') state.causes = state.causes.map(leftByInstall);
  if (!isRunning || state.agent === 'registered' || state.causes.length > 0 || log === undefined)
    return state;
  return {...state, ...(await registrationOf(name, log, {...process, purpose}, deps))};
}

/** What happened to the process of an agent. */
interface AgentProcess {
  isRunning: boolean;
  restarts: number;
  now: Date;
  startedAt: number;
}

/** Whether a healthy agent has registered: the newest lines do not show it, but those of its start can. */
async function registrationOf(
  name: string,
  log: string,
  {purpose, ...process}: AgentProcess & {purpose: string | undefined},
  deps: Deps,
): Promise<Partial<HostAgentState>> {
  const {startedAt} = process;
  const until = rfc3339(startedAt + START_MS);
  const since = rfc3339(startedAt - START_DELAY_MS);
  const start = await containerLog(name, ['--since', since, '--until', until], deps);
  if (start !== undefined && stateIn(start, [], process).agent === 'registered')
    return {agent: 'registered'};
  return purpose !== 'vcs' && hasWholeStart(log, start, startedAt)
    ? {causes: [notRegistered(name, lastLogLine(log))]}
    : {};
}

/** A log without its start can have lost the line, unless it has older lines. */
function hasWholeStart(log: string, start: string | undefined, startedAt: number): boolean {
  if (log === '') return true;
  if (start === '') return Date.parse(`${log.slice(0, TIME_LENGTH)}Z`) < startedAt;
  return start !== undefined;
}

const containerLog = (
  name: string,
  options: readonly string[],
  deps: Omit<Deps, 'now'>,
): Promise<string | undefined> =>
  readLog({tool: 'docker', args: ['logs', '--timestamps', ...options, name]}, deps);

/** An agent registers within this time after its start, or logs why it cannot. */
const START_MS = 10 * 60_000;

/** 2026-11-23T10:00:00: seconds are enough, and Docker uses UTC. */
const TIME_LENGTH = 19;

const rfc3339 = (time: number): string => new Date(time).toISOString();

/** A container of an interrupted install must not be started by hand: two agents would share their data. */
const leftByInstall = (cause: ObjectFinding): ObjectFinding =>
  cause.code === 'NOT_RUNNING'
    ? {...cause, remedies: remediesOf('An install was interrupted: run the same install again')}
    : cause;

export const checkLog = (name: string): string => `Check the log: docker logs ${name}`;

function notRegistered(name: string, line: string | undefined): ObjectFinding {
  const last = line === undefined ? '' : ` (last line: ${oneLine(line)})`;
  return objectFinding('error', `container/${name}`, 'NOT_REGISTERED', {
    message: `the log does not show that the agent has registered with Scalr${last}`,
    remedy: checkLog(name),
  });
}

const UNIT = 'scalr-agent';
const PROPERTIES =
  'LoadState ActiveState SubState Result ExecMainStatus NRestarts NeedDaemonReload'.split(' ');

export async function hasService({host, signal}: Omit<Deps, 'now'>): Promise<boolean> {
  const {stdout} = await host.run(showServices([UNIT], ['LoadState']), {signal});
  return stdout.trim() === 'LoadState=loaded';
}

/** State of the service of the Linux packages; undefined if it is not installed. @throws ExpectedError if systemd does not answer */
export async function stateOfService({
  host,
  signal,
  now,
}: Deps): Promise<HostAgentState | undefined> {
  const show = await host.run(showServices([UNIT], PROPERTIES), {signal});
  if (show.error)
    throw refusal(`Cannot read unit ${UNIT}`, show.error, [
      'For agents in Docker: scalr-agent-install status --target docker',
    ]);
  const facts = propertiesIn(show.stdout);
  if (facts['LoadState'] === 'not-found') return undefined;
  const log =
    (await readLog(
      {
        tool: 'journalctl',
        args: [
          '--unit',
          `${UNIT}.service`,
          '--all',
          '--no-pager',
          '--utc',
          '--output',
          'short-iso-precise',
          '--lines',
          String(TAIL_LINES),
        ],
      },
      {host, signal},
    )) ?? '';
  const isRunning = facts['ActiveState'] === 'active';
  const restarts = Number(facts['NRestarts'] ?? 0);
  const findings = journalFindings(
    [{name: UNIT, variables: [], facts}],
    [{...recordOf(log), file: `logs/journal/${UNIT}.log`}],
    now(),
  );
  return {
    object: `unit/${UNIT}`,
    status: `${facts['ActiveState']} (${facts['SubState']})`,
    isRunning,
    restarts,
    ...stateIn(log, findings, {isRunning, restarts, now: now(), startedAt: 0}),
  };
}

export const areReady = (agents: readonly HostAgentState[]): boolean =>
  agents.length > 0 &&
  agents.every(
    ({isRunning, causes}) => isRunning && !causes.some(({verdict}) => verdict === 'error'),
  );

/** State of an agent according to its log and the findings. */
function stateIn(
  log: string,
  findings: readonly ObjectFinding[],
  {isRunning, restarts, now, startedAt}: AgentProcess,
): Pick<HostAgentState, 'agent' | 'causes' | 'isStuck'> {
  const verdict = verdictIn(log, 'host', isRunning, now);
  const row = AGENT_LOG_ROWS.find(({code}) => code === verdict?.meaning);
  const since = verdict?.since === undefined ? undefined : Date.parse(verdict.since);
  const seconds = since === undefined ? 0 : (now.getTime() - since) / 1000;
  const isLate = row?.permanentAfter !== undefined && seconds > row.permanentAfter;
  const isOfThisStart = since === undefined || since >= startedAt - START_DELAY_MS;
  const isPermanent = (code: string): boolean =>
    code === row?.code ? isLate : code === 'CRASH_LOOP' && restarts >= MAX_RESTARTS;
  // Without a bundle, there are no files to refer to.
  const causes = findings
    .filter(({code}) => code !== 'NO_LOG')
    .map(({evidence: _, ...cause}) => cause);
  return {
    agent: verdict?.meaning === 'READY' && isOfThisStart ? 'registered' : 'unknown',
    causes,
    isStuck: causes.some(({code}) => isPermanent(code)),
  };
}

/** Docker sets the time of a start after the first lines of its log. */
const START_DELAY_MS = 1000;

/** Lines without the time that Docker or the journal adds; undefined if the log cannot be read. */
async function readLog(
  call: HostCall,
  {host, signal}: Omit<Deps, 'now'>,
): Promise<string | undefined> {
  const opened = await host.stream(call, {signal, isLogOnBoth: call.tool === 'docker'});
  if (opened.error) return undefined;
  const log = await text(opened.chunks);
  if (await opened.end) return undefined;
  return log.split('\n').map(withoutPrefix).join('\n');
}

const recordOf = (tail: string) => ({
  file: '',
  bytes: Buffer.byteLength(tail),
  tail,
  lines: tail.split('\n').length,
  matches: [],
});
