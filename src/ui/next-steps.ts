import width from 'fast-string-width';
import {commandLine, type ReleaseName} from '../ground/command-line.ts';
import type {SettingFinding} from '../ground/finding.ts';
import type {Program} from '../ground/program.ts';
import type {WatchResult} from '../operations/watch-release.ts';
import {namespace, release} from '../settings/release.ts';
import {paragraph, type Screen, theme} from './theme.ts';

interface InstallOutcome {
  /** "release mine" */
  what: string;
  hasChanged: boolean;
  agent: WatchResult['agent'];
  /** Address of the Scalr account, if known. */
  url: string | undefined;
}

/** The result of an install in one sentence without full stop, and what else there is to say. */
export function resultSentence({
  what,
  hasChanged,
  agent,
  url,
}: InstallOutcome): [sentence: string, more?: string] {
  if (!hasChanged) return [`No changes: ${what} is up to date and ready`, ...UNREGISTERED[agent]];
  if (agent === 'registered')
    return [`Agent registered with ${url === undefined ? 'Scalr' : new URL(url).host}`];
  return [`${what.replace(/^./, (first) => first.toUpperCase())} is ready`, ...UNREGISTERED[agent]];
}

/** With --no-wait. */
export const NOT_WAITED = 'It may not be ready yet.';

const UNREGISTERED = {
  registered: [],
  unknown: ['Its log does not show whether the agent has registered.'],
} as const;

/** A command, or a step outside of the terminal, and what it is for. */
export type NextStep = readonly [command: string, meaning: string];

interface NextStepsInput {
  name: ReleaseName;
  /** The agent serves a VCS pool. */
  isForVcs: boolean;
  /** Whether the user still has to link the pool; false if the account says that it is linked. */
  isLinked?: boolean;
  program: Program;
  env: Readonly<Record<string, string | undefined>>;
}

/** Lets runs use the agent. In Scalr, because a command needs a token of a Scalr user. */
export const linkStep = (isForVcs: boolean): NextStep =>
  isForVcs
    ? ['Scalr: VCS provider setup, last step', 'select the agent pool']
    : ['Scalr: settings of a workspace or environment', 'select the agent pool'];

export function nextSteps({
  name,
  isForVcs,
  isLinked = false,
  program,
  env,
}: NextStepsInput): NextStep[] {
  const own = (command: string, ...more: string[]): string =>
    shortCommand(command, name, {program, env}, more);
  return [
    ...(isLinked ? [] : [linkStep(isForVcs)]),
    [own('status'), 'health, runs and versions'],
    [own('upgrade'), 'when a new chart version is out'],
    [own('collect-logs'), 'write a bundle for support'],
    [own('uninstall', '--dry-run'), 'show what it would remove'],
  ];
}

/** A command of this program without flags that repeat a default. */
function shortCommand(
  command: string,
  {release: own, kubeTarget: {namespace: space, kubeContext, kubeconfig}}: ReleaseName,
  {program, env}: Pick<NextStepsInput, 'program' | 'env'>,
  more: readonly string[],
): string {
  const flagOf = (
    setting: {id: string; env: string; fallback?(get: () => undefined): unknown},
    value: string,
  ): string[] =>
    setting.fallback?.(() => undefined) === value && !env[setting.env]
      ? []
      : [`--${setting.id}`, value];
  const cluster = [
    ...(kubeContext ? ['--kube-context', kubeContext] : []),
    ...(kubeconfig ? ['--kubeconfig', kubeconfig] : []),
  ];
  const args = [command, ...flagOf(release, own), ...flagOf(namespace, space), ...cluster, ...more];
  return commandLine({tool: 'scalr-agent', args}).replace(/^scalr-agent/, program.other);
}

/** Commands with their meaning as a comment, or below if it does not fit. A command is never wrapped, so that its line can be copied. */
export function nextStepsText(steps: readonly NextStep[], screen: Screen): string {
  const {bold, dim} = theme(screen);
  const column = Math.max(...steps.map(([command]) => width(command))) + 4;
  const comments = steps.map(([, meaning]) => `# ${meaning}`);
  const isWide =
    column + Math.max(...comments.map((each) => width(each))) <=
    (screen.columns ?? Number.POSITIVE_INFINITY);
  const lines = steps.map(([command], index) => {
    const comment = dim(comments[index] as string);
    return isWide
      ? `  ${command.padEnd(column - 2)}${comment}\n`
      : `  ${command}\n${paragraph('      ', comment, screen)}`;
  });
  return `\n${bold('Next steps:')}\n${lines.join('')}`;
}

/** Files that were written. */
export const savedText = (saved: readonly string[], screen: Screen): string =>
  saved.length === 0 ? '' : paragraph('Saved: ', saved.join(', '), screen);

/** What to do with exported files. */
export function exportStepsText(
  steps: readonly string[],
  directory: string,
  warnings: readonly SettingFinding[],
): string {
  const first = warnings.some(({code}) => code === 'NO_TOKEN')
    ? ['# Set SCALR_AGENT_TOKEN in agent.env']
    : [];
  const lines = [...first, ...steps].map((step) => `  ${step}\n`);
  if (lines.length === 0) return '';
  return `Next steps${directory === '' ? '' : `, in ${directory}`}:\n${lines.join('')}`;
}
