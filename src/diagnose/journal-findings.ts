import type {Finding} from './finding.ts';
import {agentLogFindings} from './log-findings.ts';
import type {LogRecord} from './log-matcher.ts';

/** A systemd unit: names of its variables, and properties from `systemctl show`. */
export interface UnitFacts {
  name: string;
  variables: readonly string[];
  facts: Readonly<Record<string, string>>;
}

/** Reasons why the agent of a VM is unhealthy; the first unit is the agent. Pure. */
export function journalFindings(units: readonly UnitFacts[], logs: readonly LogRecord[], now: Date): Finding[] {
  const [agent, docker] = units;
  return [
    ...units.flatMap((unit) => stateOf(unit)),
    ...(agent ? agentLogFindings(logOf(agent, logs), `unit/${agent.name}`, agent.facts['ActiveState'] === 'active', now) : []),
    ...(agent && docker ? proxyOf(agent, docker) : []),
  ];
}

const logOf = ({name}: UnitFacts, logs: readonly LogRecord[]): LogRecord | undefined =>
  logs.find(({file}) => file === `logs/journal/${name}.log`);

function stateOf({name, facts}: UnitFacts): Finding[] {
  const {ActiveState, SubState, Result = '', ExecMainStatus, NRestarts = '0', NeedDaemonReload} = facts;
  const finding = (severity: Finding['severity'], code: string, message: string, remedy: string): Finding => ({
    severity,
    code,
    object: `unit/${name}`,
    message,
    evidence: `systemd/${name}.properties.txt`,
    remedy,
  });
  const end = `${Result}, exit code ${ExecMainStatus ?? 'unknown'}`;
  return [
    ...(Result === 'oom-kill' ? [finding('error', 'OOM_KILLED', 'out of memory', 'Add memory to the machine, or raise MemoryMax=')] : []),
    ...(ActiveState !== undefined && ActiveState !== 'active'
      ? [
          finding(
            'error',
            'NOT_RUNNING',
            `${ActiveState} (${SubState}; ${end})`,
            `Fix the error in its log, then run: systemctl restart ${name}`,
          ),
        ]
      : []),
    ...(ActiveState === 'active' && Number(NRestarts) > 0
      ? [finding('warning', 'RESTARTED', `restart count: ${NRestarts}`, 'Check the last log lines before the exit')]
      : []),
    ...(NeedDaemonReload === 'yes'
      ? [
          finding(
            'warning',
            'UNIT_CHANGED',
            'the unit file or a drop-in changed on disk and was not reloaded',
            `Run systemctl daemon-reload, then systemctl restart ${name}`,
          ),
        ]
      : []),
  ];
}

/** Another service pulls the containers of runs, and requires the proxy too (docs.scalr.io, "Adding a Proxy"). */
function proxyOf(agent: UnitFacts, docker: UnitFacts): Finding[] {
  const hasProxy = ({variables}: UnitFacts): boolean => variables.some((name) => /^https?_proxy$/i.test(name));
  if (!hasProxy(agent) || hasProxy(docker)) return [];
  return [
    {
      severity: 'warning',
      code: 'PROXY_NOT_EVERYWHERE',
      object: `unit/${docker.name}`,
      message: `${agent.name} uses a proxy, but ${docker.name}, which pulls images, does not`,
      evidence: `systemd/${docker.name}.service.txt`,
      remedy: `Link the drop-in of ${agent.name} into /etc/systemd/system/${docker.name}.service.d/, then run: systemctl daemon-reload`,
    },
  ];
}
