import {verdictIn} from '../../diagnose/agent-log.ts';
import {AGENT_LOG_ROWS} from '../../diagnose/agent-log-rows.ts';
import type {LogRecord} from '../collect.ts';
import type {Finding} from '../findings/finding.ts';
import {withoutPrefix} from '../log-words.ts';

/** What the newest telling line of an agent's log on a machine means, and a log without a line. */
export function agentLogFindings(record: LogRecord | undefined, object: string, isRunning: boolean, now: Date): Finding[] {
  if (record === undefined) return [];
  const evidence = record.file;
  const lines = record.tail
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('-- '))
    .map(withoutPrefix);
  if (lines.length === 0) {
    // A log that could not be read to its end may have had lines.
    if (record.isPart) return [];
    const message = 'it said nothing in the time that was looked at';
    const remedy = 'Look further back with --since, and whether it runs at all';
    return [{severity: 'warning', code: 'NO_LOG', object, message, evidence, remedy}];
  }
  const verdict = verdictIn(lines.join('\n'), 'host', isRunning, now);
  const remedy = AGENT_LOG_ROWS.find(({code}) => code === verdict?.meaning)?.remedy.host;
  if (verdict === undefined || remedy === undefined) return [];
  const {line} = record.said.find(({meaning}) => meaning === verdict.meaning) ?? {};
  const message = `agent log: ${verdict.line}`;
  return [{severity: 'error', code: verdict.meaning, object, message, evidence, ...(line === undefined ? {} : {line}), remedy}];
}
