import {join} from 'node:path';
import type {Checked} from '../checks/preflight/checks/check.ts';
import {unverified} from '../checks/preflight/run-preflight.ts';
import type {Difference} from '../cluster/diff/values-diff.ts';
import type {ExpectedError, Warning} from '../ground/errors.ts';
import type {Program} from '../ground/program.ts';
import {count} from '../ground/text.ts';
import type {Plan} from '../operations/step.ts';
import {token} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import type {Setting} from '../settings/define.ts';
import {chart, chartVersion, target} from '../settings/release.ts';
import {type Answer, flagsOf, holdsSecret, quote} from '../settings/settings.ts';
import type {Generated} from '../values/generate.ts';
import {type Screen, theme} from './theme.ts';

export interface Entry {
  setting: Setting;
  answer: Answer;
}

/** A warning of the review, and the settings that can remove it. */
export interface Notice {
  text: string;
  remedy?: string | undefined;
  settings: readonly Setting[];
}

interface PreparedPlan {
  plan: Plan;
  checks: readonly Checked[];
  accountSteps?: readonly {title: string}[];
}

/** An agent on this machine: its files, and the plan that starts it. */
interface HostReview {
  files: readonly {path: string}[];
  notes: readonly string[];
  warnings: readonly Warning[];
  /** Commands that start the agent with these files. */
  steps: readonly string[];
  plan?: {steps: readonly {title: string}[]; warnings: readonly string[]};
}

/** All warnings about the settings, the plan and the cluster. */
export function noticesOf({
  generated,
  prepared,
  host,
}: Pick<ReviewInput, 'generated' | 'prepared' | 'host'>): Notice[] {
  const named = (text: string): Setting[] =>
    catalog.filter(({id}) => new RegExp(`--${id}(?![\\w-])`).test(text));
  const checks = prepared?.checks ?? [];
  const own = [...unverified(generated?.warnings ?? [], checks), ...(host?.warnings ?? [])].map(
    ({message, setting}) => ({
      text: message,
      settings: [...catalog.filter(({id}) => id === setting), ...named(message)],
    }),
  );
  const planned =
    prepared === undefined
      ? []
      : planWarnings(prepared.plan).map(({message}) => ({text: message, settings: named(message)}));
  const warned = checks.filter(({status}) => status === 'warn');
  const checked = warned.map(({message: text, remedy}) => ({
    text,
    remedy,
    settings: named(`${remedy} ${text}`),
  }));
  // A check repeats what is already known from the settings.
  const ofDocker = (host?.plan?.warnings ?? []).map((text) => ({text, settings: named(text)}));
  return [...own, ...planned, ...checked, ...ofDocker].filter(
    ({text}, index, all) => all.findIndex((each) => each.text === text) === index,
  );
}

interface ReviewInput {
  generated?: Generated | undefined;
  prepared?: PreparedPlan | undefined;
  host?: HostReview | undefined;
  problem?: ExpectedError | undefined;
  /** What was answered, by group. */
  groups: readonly (readonly [name: string, answers: readonly string[]])[];
  where: readonly string[];
  notes: readonly string[];
}

/** The review: chart and cluster, answers by group, problems, warnings and planned changes. */
export function reviewLines(
  {generated, prepared, host, problem, groups, where, notes}: ReviewInput,
  screen: Screen,
): string[] {
  const {bold, dim, green, red, yellow} = theme(screen);
  const chart =
    generated === undefined ? '' : `${generated.target.chart} ${generated.target.version} → `;
  const notices = noticesOf({generated, prepared, host});
  // A list shortens them before it leaves one out.
  const most = Math.max(MOST_NOTICES, (screen.rows ?? Number.POSITIVE_INFINITY) - 20);
  const plan = prepared?.plan ?? host?.plan;
  const steps = [...(prepared?.accountSteps ?? []), ...(plan?.steps ?? [])].map(({title}) => title);
  return [
    `${bold('Review')}     ${chart}${where.join(' · ')}`,
    ...groups
      .filter(([, answers]) => answers.length > 0)
      .map(([name, answers]) => `${name}\t${answers.join(' · ')}`),
    ...(problem === undefined
      ? []
      : ['', red(`× ${problem.message}`), ...problem.suggestions.map((each) => `  ${dim(each)}`)]),
    ...(notices.length === 0 ? [] : ['', yellow(`! ${count(notices.length, 'warning')}:`)]),
    ...notices.slice(0, most).map(({text}) => `  - ${text}`),
    ...(notices.length > most ? [`  - ${dim(`and ${notices.length - most} more`)}`] : []),
    ...(plan === undefined && host === undefined ? [] : ['']),
    ...(plan === undefined
      ? []
      : [
          `${green('Changes')}\t${steps.join(' · ') || 'none, the installed agent matches these settings'}`,
        ]),
    ...(host === undefined
      ? []
      : [`${green('Files')}\t${host.files.map(({path}) => path).join(' · ')}`]),
    ...(host?.notes ?? []),
    ...notes,
    '',
  ];
}

const MOST_NOTICES = 3;

export interface Printed {
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
}: Printed & {where: readonly string[]}): string {
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
  {directory, program}: Pick<Printed, 'directory' | 'program'>,
): string {
  // The saved files contain the token.
  const open =
    directory === undefined ? entries : entries.filter(({setting}) => setting.id !== token.id);
  const use = (note: string): string => `\n${note}\n${steps.map((step) => `  ${step}\n`).join('')}`;
  if (target === 'docker') {
    const command = `${program.install} --target docker --yes`;
    if (directory === undefined) return commandOf(command, [], open);
    return `${answersCommand(command, [`--save ${quote(directory)}`], open, directory)}${use(`With the files in ${directory} only:`)}`;
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
  release?: Printed['target'],
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
}: Plan): Warning[] => [
  ...keptClaims.map((claim) => ({
    code: 'PVC_KEPT',
    message: `PVC ${claim} remains with its data, but Helm no longer manages it.`,
  })),
  ...lostValues.map(lossWarning),
  ...warnings,
];

function lossWarning({path, installed, file}: Difference): Warning {
  const what = file === undefined ? 'remove it' : `change it to ${JSON.stringify(file)}`;
  return {
    code: 'VALUE_DROPPED',
    message: `${path} is ${JSON.stringify(installed)} in the installed release, but these settings ${what}. To keep the value, set it with its flag or with --set.`,
  };
}
