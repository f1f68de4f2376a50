import type {LogRecord} from '../collect/read-logs.ts';
import type {Finding} from './evidence.ts';
import {agentLogFindings} from './in-logs.ts';

/** A unit of systemd: names of its variables, and what `systemctl show` says of it. */
export interface UnitFacts {
  name: string;
  variables: readonly string[];
  facts: Readonly<Record<string, string>>;
}

/** Why the agent of a VM is not well; the first unit is its own. Pure. */
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
    ...(Result === 'oom-kill'
      ? [finding('error', 'OOM_KILLED', 'it ran out of memory', 'Give the machine or MemoryMax= more memory')]
      : []),
    ...(ActiveState !== undefined && ActiveState !== 'active'
      ? [
          finding(
            'error',
            'NOT_RUNNING',
            `it is ${ActiveState} (${SubState}; ${end})`,
            `Mend what its log says, then: systemctl restart ${name}`,
          ),
        ]
      : []),
    ...(ActiveState === 'active' && Number(NRestarts) > 0
      ? [finding('warning', 'RESTARTED', `it was restarted, ${NRestarts} in all`, 'Read what it said before it ended')]
      : []),
    ...(NeedDaemonReload === 'yes'
      ? [
          finding(
            'warning',
            'UNIT_CHANGED',
            'its unit or a drop-in changed and was not loaded',
            `systemctl daemon-reload, then: systemctl restart ${name}`,
          ),
        ]
      : []),
  ];
}

/** The containers of runs are pulled by another service, which has to know the proxy too (docs.scalr.io, "Adding a Proxy"). */
function proxyOf(agent: UnitFacts, docker: UnitFacts): Finding[] {
  const hasProxy = ({variables}: UnitFacts): boolean => variables.some((name) => /^https?_proxy$/i.test(name));
  if (!hasProxy(agent) || hasProxy(docker)) return [];
  return [
    {
      severity: 'warning',
      code: 'PROXY_NOT_EVERYWHERE',
      object: `unit/${docker.name}`,
      message: `${agent.name} has a proxy and ${docker.name}, which pulls images, has none`,
      evidence: `systemd/${docker.name}.service.txt`,
      remedy: `Link the drop-in of ${agent.name} into /etc/systemd/system/${docker.name}.service.d/, then: systemctl daemon-reload`,
    },
  ];
}
