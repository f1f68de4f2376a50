import type {Evidence} from './evidence.ts';
import type {Finding} from './finding.ts';

/** What docker and systemd print where the state is that a finding is about. */
const SIGNS: Readonly<Record<string, readonly string[]>> = {
  OOM_KILLED: ['"OOMKilled": true', 'Result=oom-kill'],
  CRASH_LOOP: ['"Restarting": true'],
  NOT_RUNNING: ['"Status": ', 'ActiveState='],
  RESTARTED: ['"RestartCount": ', 'NRestarts='],
  UNIT_CHANGED: ['NeedDaemonReload=yes'],
};

/** Adds the line to what names a file only. */
export function withLine(finding: Finding, places: Evidence): Finding {
  const {evidence, line, code} = finding;
  if (evidence === undefined || line !== undefined) return finding;
  return {...finding, ...places.inFile(evidence, ...(SIGNS[code] ?? []))};
}
