import type {SettingsSource} from '../answers/sources.ts';
import {combined} from '../ground/combined-failures.ts';
import {ExpectedError, failed} from '../ground/errors.ts';
import {HOW_TO_GIVE_TOKEN, token, tokenFile, tokenSecret} from '../settings/agent.ts';
import {spell} from '../settings/define.ts';
import {namespace, release, type TargetName} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import type {App} from './app.ts';
import {type ClusterFlags, timeoutOf, toolPaths} from './connection-flags.ts';
import {durationOf} from './flag-values.ts';

/** Fails if a local input is wrong or missing. @throws ExpectedError */
export type LocalCheck = () => unknown;

/**
 * Flags, variables, files and tools of this machine. All of them are checked together before the first request to a cluster, a chart
 * repository or the Scalr account, and one error lists every problem.
 *
 * - `certain`: nothing outside of this machine can solve it, such as an invalid value, a file that cannot be read, a missing URL or tool.
 *   Stops the command.
 * - `possible`: the cluster can solve it, as a Secret there can contain the token. Stops nothing alone, because only the cluster knows.
 *   Is listed with certain problems, and if the cluster cannot be read.
 *
 * What only the cluster decides, such as the chart of an installed release, is no local input.
 */
export interface LocalInputs {
  certain: readonly LocalCheck[];
  possible?: readonly LocalCheck[];
}

/** What the checks report, in their order. */
export async function failuresOf(checks: readonly LocalCheck[]): Promise<ExpectedError[]> {
  const results = await Promise.all(
    checks.map(async (check) => {
      try {
        await check();
        return undefined;
      } catch (error) {
        if (error instanceof ExpectedError) return error;
        throw error;
      }
    }),
  );
  return results.filter((each) => each !== undefined);
}

/** @throws ExpectedError that lists all of them, if there are any */
export function throwAll(failures: readonly ExpectedError[]): void {
  const [first, ...others] = failures;
  if (first !== undefined) throw combined([first, ...others]);
}

export type Tool = 'helm' | 'kubectl';

/** The tools that the command runs, and those with a path on the command line. */
export const checksOfTools = (
  tools: readonly Tool[],
  flags: ClusterFlags,
  app: Pick<App, 'requireTool'>,
): LocalCheck[] =>
  (['helm', 'kubectl'] as const)
    .filter((tool) => tools.includes(tool) || flags[tool] !== undefined)
    .map((tool) => () => app.requireTool(tool, toolPaths(flags)));

/** Files that only helm or kubectl read, by flag; an absent flag is no problem. */
export const checksOfFiles = (
  paths: Readonly<Record<string, string | undefined>>,
  {files}: Pick<App, 'files'>,
): LocalCheck[] =>
  Object.entries(paths).map(([flag, path]) => async () => {
    if (path === undefined) return;
    const kind = await files.kindOf(path);
    if (kind === 'file' || kind === 'stream') return;
    const reason = kind === 'directory' ? 'is a directory' : 'no such file or directory';
    throw failed('UNREADABLE_FILE', `--${flag}: Cannot read ${path}: ${reason}.`, [
      'Check the path and its permissions',
    ]);
  });

interface ReleaseFlags extends ClusterFlags {
  'drain-timeout'?: string;
  verify?: string | undefined;
}

/** Connection flags of a command that uses a cluster with these tools. */
export const checksOfConnection = (
  tools: readonly Tool[],
  flags: ReleaseFlags,
  app: Pick<App, 'files' | 'requireTool'>,
): LocalCheck[] => [
  () => timeoutOf(flags),
  () => durationOf('--drain-timeout', flags['drain-timeout'] ?? '1s'),
  ...checksOfFiles({kubeconfig: flags.kubeconfig, verify: flags.verify}, app),
  ...checksOfTools(tools, flags, app),
];

/** Settings that name the Secret with the token. */
export const TOKEN_SECRET = [namespace, release, tokenSecret];

/** What else can provide the token. */
export interface TokenPlace {
  target: TargetName;
  /** Agent pool of the Scalr account, for which a token is created. */
  pool?: string | undefined;
}

/** The token of an agent that is installed for the first time. @throws ExpectedError */
export function requireToken(
  sources: readonly SettingsSource[],
  names: Settings,
  {target: platform, pool}: TokenPlace,
): void {
  const isGiven = [token, tokenFile, tokenSecret].some((setting) =>
    sources.some((source) => source.answer(setting) !== undefined),
  );
  if (isGiven || pool !== undefined) return;
  const exception =
    platform === 'kubernetes'
      ? `Secret ${names.get(tokenSecret)} exists in namespace ${names.get(namespace)}`
      : `an agent of release ${names.get(release)} runs on this machine`;
  throw new ExpectedError(`No agent pool token was given. It is required unless ${exception}.`, {
    code: 'MISSING_SETTING',
    suggestions: [
      platform === 'kubernetes' ? HOW_TO_GIVE_TOKEN : `Set ${spell(token)}, or ${spell(tokenFile)}`,
    ],
    options: [{add: `${spell(tokenFile)} FILE`, when: 'Read the token from a file'}],
  });
}
