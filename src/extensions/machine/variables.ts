import {OWN_VARIABLES} from '../../charts/host/rows.ts';
import {failed} from '../../ground/errors.ts';
import {type SettingFinding, warningOf} from '../../ground/finding.ts';

export type Variables = Readonly<Record<string, string>>;

/** Variables that rows do not write are from the user. */
export const addedLines = (environment: string, variables: Variables): string[] =>
  environment.split(/\r?\n/).filter((line) => {
    const [, name] = /^(?:export\s+)?([A-Za-z_]\w*)=/.exec(line) ?? [];
    return (
      name !== undefined &&
      name !== 'SCALR_AGENT_TOKEN' &&
      !OWN_VARIABLES.has(name) &&
      !(name in variables)
    );
  });

export const keptLines = (lines: readonly string[]): SettingFinding[] =>
  lines.length === 0
    ? []
    : [
        warningOf(
          'KEPT_VARIABLES',
          `agent.env still contains ${lines.map((line) => line.replace(/=.*/, '')).join(', ')}, which no setting uses. Remove the variables that are no longer needed.`,
        ),
      ];

/** Defaults of the agent, which chart agent-k8s also has. */
const DRAIN_SECONDS = 3600;
const STOP_SECONDS = 60;
/** Time to exit after the runs have ended. */
const EXIT_SECONDS = 10;

/** Seconds that an agent with these variables needs to end its runs after SIGTERM. */
export function secondsToStop(variables: Variables): number {
  const seconds = (name: string, usual: number): number =>
    Number(variables[name] ?? usual) || usual;
  const stop = seconds('SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT', STOP_SECONDS);
  switch (variables['SCALR_AGENT_WORKER_ON_STOP_ACTION']) {
    case 'force-shutdown':
      return EXIT_SECONDS;
    case 'grace-shutdown':
      return stop + EXIT_SECONDS;
    default:
      return seconds('SCALR_AGENT_WORKER_DRAIN_TIMEOUT', DRAIN_SECONDS) + stop;
  }
}

/** A file of variables has one line per variable. @throws ExpectedError */
export function refuseLineBreaks(variables: Variables): void {
  const found = Object.entries(variables).find(([, value]) => /[\r\n]/.test(value));
  if (found === undefined) return;
  throw failed('INVALID_SETTING', `${found[0]} contains a line break.`, [
    'Encode the value, for example with base64',
  ]);
}
