import {text} from 'node:stream/consumers';
import {AGENT_LOG_ROWS, lastLogLine, verdictIn} from '../../checks/diagnose/agent-log.ts';
import {type Cause, passing} from '../../checks/diagnose/cause.ts';
import type {Finding} from '../../checks/diagnose/finding.ts';
import {dockerFindings, journalFindings} from '../../checks/diagnose/host-findings.ts';
import {withoutPrefix} from '../../checks/diagnose/log-matcher.ts';
import {oneLine} from '../../ground/one-line.ts';
import {refusal} from '../../ground/system/host-refusal.ts';
import type {HostCall, HostTools} from '../../ground/system/system.ts';
import {
  containerName,
  containerRole,
  type DockerContainer,
  labelOf,
  purposeOf,
  RELEASE_LABEL,
} from './containers.ts';

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
  causes: readonly HostCause[];
}

/** Why an agent is not healthy. */
export interface HostCause extends Cause {
  isError: boolean;
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
  {host, signal, now}: Deps,
): Promise<HostAgentState> {
  const name = containerName(container);
  const {State = {}, RestartCount: restarts = 0, Config} = container;
  const logOf = (...args: string[]) =>
    readLog({tool: 'docker', args: ['logs', '--timestamps', ...args, name]}, {host, signal});
  const log = await logOf('--tail', String(TAIL_LINES));
  const startedAt = Date.parse(State.StartedAt ?? '') || 0;
  const isStable = restarts === 0 || now().getTime() - startedAt > STABLE_MS;
  const isRunning =
    State.Running === true && State.Restarting !== true && State.Paused !== true && isStable;
  const findings = dockerFindings(name, container, [recordOf(log ?? '')], now());
  const purpose = purposeOf(container);
  const found = stateIn(log ?? '', isRunning, findings, restarts, now(), startedAt);
  const isOpen = isRunning && found.agent === 'unknown' && found.causes.length === 0;
  const start =
    isOpen && log !== undefined
      ? await logOf('--since', rfc3339(startedAt), '--until', rfc3339(startedAt + START_MS))
      : undefined;
  const isRegistered =
    start !== undefined &&
    stateIn(start, isRunning, [], restarts, now(), startedAt).agent === 'registered';
  // A log without its start can have lost the line, unless it has older lines.
  const isWhole =
    log === '' ||
    (start === ''
      ? Date.parse(`${(log ?? '').slice(0, TIME_LENGTH)}Z`) < startedAt
      : start !== undefined);
  const isUnregistered = isOpen && !isRegistered && purpose !== 'vcs' && isWhole;
  return {
    object: `container/${name}`,
    status: State.Status ?? 'unknown',
    isRunning,
    restarts,
    image: Config?.Image,
    release: labelOf(container, RELEASE_LABEL),
    purpose,
    ...found,
    ...(containerRole(container) === 'current' ? {} : {causes: found.causes.map(leftByInstall)}),
    ...(isRegistered ? {agent: 'registered'} : {}),
    ...(isUnregistered ? {causes: [notRegistered(name, lastLogLine(log))]} : {}),
  };
}

/** An agent registers within this time after its start, or logs why it cannot. */
const START_MS = 10 * 60_000;

/** 2026-11-23T10:00:00: seconds are enough, and Docker uses UTC. */
const TIME_LENGTH = 19;

const rfc3339 = (time: number): string => new Date(time).toISOString();

/** A container of an interrupted install must not be started by hand: two agents would share their data. */
const leftByInstall = (cause: HostCause): HostCause =>
  cause.code === 'NOT_RUNNING'
    ? {...cause, remedy: 'An install was interrupted: run the same install again'}
    : cause;

function notRegistered(name: string, line: string | undefined): HostCause {
  const reason = `the log does not show that the agent has registered with Scalr${line === undefined ? '' : ` (last line: ${oneLine(line)})`}`;
  return {
    ...passing(`container/${name}`, 'NOT_REGISTERED', reason, `Check the log: docker logs ${name}`),
    isError: true,
  };
}

const UNIT = 'scalr-agent';
const PROPERTIES =
  'LoadState ActiveState SubState Result ExecMainStatus NRestarts NeedDaemonReload'.split(' ');

export async function hasService({host, signal}: Omit<Deps, 'now'>): Promise<boolean> {
  const {stdout} = await host.run(
    {tool: 'systemctl', args: ['show', '--no-pager', '--property=LoadState', `${UNIT}.service`]},
    {signal},
  );
  return stdout.trim() === 'LoadState=loaded';
}

/** State of the service of the Linux packages; undefined if it is not installed. @throws ExpectedError if systemd does not answer */
export async function stateOfService({
  host,
  signal,
  now,
}: Deps): Promise<HostAgentState | undefined> {
  const show = await host.run(
    {
      tool: 'systemctl',
      args: ['show', '--no-pager', `--property=${PROPERTIES.join(',')}`, `${UNIT}.service`],
    },
    {signal},
  );
  if (show.error)
    throw refusal(`Cannot read unit ${UNIT}`, show.error, [
      'For agents in Docker: scalr-agent-install status --target docker',
    ]);
  const facts = Object.fromEntries(
    [...show.stdout.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]),
  );
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
    ...stateIn(log, isRunning, findings, restarts, now()),
  };
}

export const areReady = (agents: readonly HostAgentState[]): boolean =>
  agents.length > 0 &&
  agents.every(({isRunning, causes}) => isRunning && !causes.some(({isError}) => isError));

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
  const seconds =
    verdict?.since === undefined ? 0 : (now.getTime() - Date.parse(verdict.since)) / 1000;
  const isLate = row?.permanentAfter !== undefined && seconds > row.permanentAfter;
  const isOfThisStart =
    verdict?.since === undefined || Date.parse(verdict.since) >= startedAt - START_DELAY_MS;
  return {
    agent: verdict?.meaning === 'READY' && isOfThisStart ? 'registered' : 'unknown',
    causes: findings
      .filter(({code}) => code !== 'NO_LOG')
      .map(({object, code, message, remedy, severity}) => ({
        object,
        code,
        reason: message,
        remedy,
        isError: severity === 'error',
        isPermanent:
          code === row?.code ? isLate : code === 'CRASH_LOOP' && restarts >= MAX_RESTARTS,
      })),
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
