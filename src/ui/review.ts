import {join} from 'node:path';
import type {Difference} from '../cluster/diff/values-diff.ts';
import {remediesOf, type SettingFinding, warningOf} from '../ground/finding.ts';
import type {Program} from '../ground/program.ts';
import type {Plan} from '../operations/step.ts';
import {token} from '../settings/agent.ts';
import type {Setting} from '../settings/define.ts';
import {chart, chartVersion, target} from '../settings/release.ts';
import {type Answer, flagsOf, holdsSecret, quote} from '../settings/settings.ts';

export interface Entry {
  setting: Setting;
  answer: Answer;
}

/** Commands that start the agent with the files of an install. */
interface HostReview {
  steps: readonly string[];
}

export interface PrintOptions {
  entries: readonly Entry[];
  target: {chart: string; version: string};
  /** With the saved files, if they are current. */
  directory: string | undefined;
  /** How this program was started, for commands that can be copied. */
  program: Program;
}

/** The equivalent non-interactive command. */
export function equivalentCommandText({
  entries,
  target,
  where,
  directory,
  program,
}: PrintOptions & {where: readonly string[]}): string {
  const command = `${program.install} --yes`;
  return directory === undefined
    ? commandOf(command, where, entries, target)
    : answersCommand(command, where, entries, directory);
}

/** The equivalent command for an agent on this machine, and the commands that use its files. */
export function hostCommandsText(
  target: 'docker' | 'systemd',
  entries: readonly Entry[],
  {steps}: HostReview,
  {directory, program}: Pick<PrintOptions, 'directory' | 'program'>,
): string {
  // The saved files contain the token.
  const open =
    directory === undefined ? entries : entries.filter(({setting}) => setting.id !== token.id);
  const use = (note: string, ...first: readonly string[]): string =>
    `\n${note}\n${[...first, ...steps].map((step) => `  ${step}\n`).join('')}`;
  if (target === 'docker') {
    const command = `${program.install} --target docker --yes`;
    if (directory === undefined) return commandOf(command, [], open);
    return `${answersCommand(command, [`--save ${quote(directory)}`], open, directory)}${use('With the files only:', `cd ${quote(directory)}`)}`;
  }
  const command = `${program.other.replace(/^scalr-agent$/, 'scalr-agent-install')} export systemd --out ${quote(directory ?? 'scalr-agent')}`;
  const text =
    directory === undefined
      ? commandOf(command, [], open)
      : answersCommand(command, [], open, directory);
  return `${text}${use('On the virtual machine, in the directory of the files:')}`;
}

/** Settings that the command itself contains. */
const OWN: readonly Setting[] = [target, chart, chartVersion];

export function commandOf(
  command: string,
  where: readonly string[],
  entries: readonly Entry[],
  release?: PrintOptions['target'],
): string {
  const given = entries.filter(
    ({setting, answer}) =>
      answer.source !== 'default' && answer.source !== 'chart' && !OWN.includes(setting),
  );
  const exact =
    release === undefined ? [] : [`--chart ${release.chart}`, `--chart-version ${release.version}`];
  const flags = given.flatMap(({setting, answer}) =>
    holdsSecret(setting, answer) ? [] : flagsOf(setting, answer),
  );
  return commandLines([command, ...where, ...exact, ...flags], given);
}

/** The command with the saved answers instead of flags. */
const answersCommand = (
  command: string,
  where: readonly string[],
  entries: readonly Entry[],
  directory: string,
): string =>
  commandLines([command, ...where, `--answers ${quote(join(directory, 'answers.yaml'))}`], entries);

/** One flag per line, after the variables that must be set. */
function commandLines(lines: readonly string[], entries: readonly Entry[]): string {
  const hidden = entries
    .filter(({setting, answer}) => holdsSecret(setting, answer))
    .map(({setting}) => setting.env);
  const before =
    hidden.length === 0
      ? ''
      : `# Requires the environment variable${hidden.length > 1 ? 's' : ''} ${hidden.join(', ')}\n`;
  return `${before}${lines.map((line, index) => `${index === 0 ? '' : '  '}${line}`).join(' \\\n')}\n`;
}

/** Warnings about values, PVCs, runs and Secrets, shown before the plan runs and in the result. */
export const planWarnings = ({
  keptClaims = [],
  lostValues = [],
  warnings = [],
}: Plan): SettingFinding[] => [
  ...keptClaims.map((claim) =>
    warningOf('PVC_KEPT', `PVC ${claim} remains with its data, but Helm no longer manages it.`),
  ),
  ...lostValues.map(lossWarning),
  ...warnings,
];

function lossWarning({path, installed, file}: Difference): SettingFinding {
  const what = file === undefined ? 'remove it' : `change it to ${JSON.stringify(file)}`;
  const message = `${path} is ${JSON.stringify(installed)} in the installed release, but these settings ${what}.`;
  return {
    ...warningOf('VALUE_DROPPED', message),
    remedies: remediesOf('To keep the value, set it again'),
  };
}
