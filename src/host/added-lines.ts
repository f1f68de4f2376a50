import {OWN_VARIABLES} from '../charts/host/rows.ts';
import type {Warning} from '../ground/errors.ts';

/** Variables that rows do not write are from the user. */
export const addedLines = (environment: string, variables: Readonly<Record<string, string>>): string[] =>
  environment.split(/\r?\n/).filter((line) => {
    const [, name] = /^(?:export\s+)?([A-Za-z_]\w*)=/.exec(line) ?? [];
    return name !== undefined && name !== 'SCALR_AGENT_TOKEN' && !OWN_VARIABLES.has(name) && !(name in variables);
  });

/** Names the variables, without their values. */
export const keptLines = (lines: readonly string[]): Warning[] =>
  lines.length === 0
    ? []
    : [
        {
          code: 'KEPT_VARIABLES',
          message: `agent.env keeps ${lines.map((line) => line.replace(/=.*/, '')).join(', ')}, which no setting contains. Remove what is no longer needed.`,
        },
      ];
