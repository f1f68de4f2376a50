import type {Interfaces} from '@oclif/core';
import * as Flags from '@oclif/core/flags';
import type {ReleaseName} from '../ground/command-line.ts';
import {type ExpectedError, failed, usageError} from '../ground/errors.ts';
import type {Setting} from '../settings/define.ts';
import {InvalidValue} from '../settings/kinds/kind.ts';
import {seconds} from '../settings/kinds/numbers.ts';
import {namespace, release, target} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';

/**
 * One flag per setting, as raw text: defaults, variables, validation and requirements are part of the settings, so that
 * the answers file and prompts use them too. `summaries` replaces those that mean something else in a command.
 */
export function settingFlags(
  settings: readonly Setting[],
  summaries: Readonly<Record<string, string>> = {},
): Record<never, Interfaces.Flag<string>> {
  // Few commands support --target.
  const flags = settings.filter(
    (setting) => setting.onlyEnv === undefined && setting.id !== target.id,
  );
  return Object.fromEntries(
    flags.map((setting) => [
      setting.id,
      flagOf({...setting, summary: summaries[setting.id] ?? setting.summary}),
    ]),
  );
}

function flagOf(setting: Setting) {
  const {helpValue, ...common} = textFlagOf(setting);
  if (setting.kind.isSwitch) return Flags.boolean({...common, allowNo: true});
  const text = {...common, helpValue, ...(setting.id === 'namespace' ? {char: 'n' as const} : {})};
  return setting.kind.list ? Flags.string({...text, ...repeated}) : Flags.string(text);
}

function textFlagOf({summary, group, kind, fallback, fallbackFrom}: Setting) {
  const value =
    fallbackFrom === undefined && !kind.isSwitch ? fallback?.(() => undefined) : undefined;
  const byDefault = value === undefined ? '' : kind.format(value).join(', ');
  return {
    summary: byDefault === '' ? summary : `${summary} Default: ${byDefault}.`,
    helpGroup: group.toUpperCase(),
    helpValue: `<${kind.hint}>`,
  };
}

export const generalFlags = {
  json: Flags.boolean({
    summary: 'Print one JSON document on standard output.',
    helpGroup: 'GLOBAL',
  }),
  'no-input': Flags.boolean({
    summary: 'Disable prompts; implied without a terminal and when CI is set.',
    helpGroup: 'GLOBAL',
  }),
  quiet: Flags.boolean({
    char: 'q',
    summary: 'Print only results, warnings and errors.',
    helpGroup: 'GLOBAL',
  }),
  verbose: Flags.boolean({summary: 'Print more details.', helpGroup: 'GLOBAL'}),
  accessible: Flags.boolean({
    summary:
      'For screen readers: one question per line, states as words, nothing repainted; the same as ACCESSIBLE=1.',
    helpGroup: 'GLOBAL',
  }),
  'no-color': Flags.boolean({
    summary: 'Disable colors; the same as NO_COLOR.',
    helpGroup: 'GLOBAL',
  }),
};

/** For commands that resolve settings. */
export const answersFlag = {
  answers: Flags.string({
    summary: 'Answers file: YAML with flag names as keys.',
    helpValue: '<FILE>',
  }),
};

/** For commands that change something. */
export const confirmFlags = {
  yes: Flags.boolean({char: 'y', summary: 'Confirm without a prompt.'}),
  'dry-run': Flags.boolean({summary: 'Show what would change; change nothing.'}),
};

/** For commands whose result is a file. */
export const outFlag = {
  out: Flags.string({
    char: 'o',
    summary: 'Output file (default: standard output).',
    helpValue: '<FILE>',
  }),
};

/** For commands with more output formats than --json; `more` is about one of them. */
export const formatFlag = (options: readonly string[], more = '') => ({
  format: Flags.string({
    summary: `Output format; json is the same as --json.${more}`,
    helpValue: `<${options.join('|')}>`,
    options,
  }),
});

/** @throws ExpectedError for another format than JSON */
export function refuseFormat(format: string | undefined, isJson: boolean): void {
  if (isJson && format !== undefined && format !== 'json')
    throw usageError(`--json cannot be used with --format ${format}.`, ['Omit one of these flags']);
}

const helpGroup = 'CONNECTION';

/** For commands that talk to a cluster. */
export const connectionFlags = {
  'kube-context': Flags.string({summary: 'Kubeconfig context.', helpValue: '<NAME>', helpGroup}),
  kubeconfig: Flags.string({summary: 'Path to the kubeconfig.', helpValue: '<FILE>', helpGroup}),
  timeout: Flags.string({
    summary: 'Time to wait for the cluster, for example 10m.',
    helpValue: '<DURATION>',
    helpGroup,
  }),
  helm: Flags.string({summary: 'Path to helm.', helpValue: '<FILE>', helpGroup}),
  kubectl: Flags.string({summary: 'Path to kubectl.', helpValue: '<FILE>', helpGroup}),
};

/** For commands that call helm only to read a chart. */
export const helmFlag = {helm: connectionFlags.helm};
/** For commands that install a chart, or list what it contains. */
export const verifyFlag = {
  verify: Flags.string({
    summary:
      'Verify the signature of the chart with the public keys in this keyring, and stop if it is invalid.',
    helpValue: '<KEYRING>',
  }),
};
/** Names of flags that only a cluster has. */
export const CONNECTION_FLAGS = ['kube-context', 'kubeconfig', 'helm', 'kubectl'] as const;

/** A flag that can be repeated, each time with one value. */
export const repeated = {multiple: true, multipleNonGreedy: true} as const;

/** For commands that change a release with Helm. */
export const takeOverFlag = {
  'take-over': Flags.boolean({
    summary:
      'Take over a release with a pending Helm operation. By default, only an operation older than --timeout counts as aborted.',
  }),
};

/** For commands that support agents on this machine. */
export const targetFlag = {target: Flags.string(textFlagOf(target))};

export const fromClusterFlag = {
  'from-cluster': Flags.boolean({summary: 'Read unset settings from the cluster.'}),
};

/** For commands that always require a cluster. */
export const noFromClusterFlag = {
  'from-cluster': Flags.boolean({
    summary: 'Read unset settings from the cluster.',
    default: true,
    allowNo: true,
  }),
};

/** What `this.parse` returns for these flags. */
export type Parsed<Flags extends Interfaces.FlagInput> = Interfaces.InferredFlags<Flags>;
export type SharedFlags = Partial<
  Parsed<typeof answersFlag & Pick<typeof generalFlags, 'no-input' | 'quiet'>>
>;
export type ClusterFlags = Partial<Parsed<typeof connectionFlags>>;
export type ConfirmFlags = Partial<Parsed<typeof confirmFlags>> & {confirm?: string | undefined};

export function releaseName(flags: ClusterFlags, settings: Pick<Settings, 'get'>): ReleaseName {
  return {
    release: settings.get(release) as string,
    kubeTarget: {
      namespace: settings.get(namespace) as string,
      ...(flags['kube-context'] ? {kubeContext: flags['kube-context']} : {}),
      ...(flags.kubeconfig ? {kubeconfig: flags.kubeconfig} : {}),
    },
  };
}

export const toolPaths = ({helm, kubectl}: ClusterFlags) => ({
  ...(helm ? {helm} : {}),
  ...(kubectl ? {kubectl} : {}),
});

/** Value of --timeout in milliseconds. @throws ExpectedError */
export const timeoutOf = ({timeout = '10m'}: ClusterFlags): number =>
  durationOf('--timeout', timeout);

/** How a change of a release waits, and for what. @throws ExpectedError */
export const waitingOf = (
  flags: ClusterFlags & {'take-over'?: boolean; 'drain-timeout': string},
) => ({
  takesOver: flags['take-over'] ?? false,
  timeoutMs: timeoutOf(flags),
  drainTimeoutSeconds: durationOf('--drain-timeout', flags['drain-timeout']) / 1000,
});

/** An empty value, for example of an unset variable in a script. */
export const emptyFlag = (flag: string): ExpectedError =>
  failed('INVALID_SETTING', `--${flag} is empty.`, ['Set a value, or omit the flag']);

const DAY = 86_400;

/** Go duration in milliseconds, by default at most one day. @throws ExpectedError */
export function durationOf(flag: string, text: string, {max = DAY} = {}): number {
  try {
    return seconds({min: 1, max}).parse(text, {now: new Date()}) * 1000;
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw failed(
      'INVALID_SETTING',
      `${flag}: ${error.message}.`,
      error.suggestion === undefined ? [] : [error.suggestion],
    );
  }
}

/** Names of flags that were given, also as --no-…, and not only have a default. */
export const explicitFlags = (
  flags: Readonly<Record<string, unknown>>,
  metadata: {flags: Readonly<Record<string, {setFromDefault?: boolean} | undefined>>},
): Record<string, true> =>
  Object.fromEntries(
    Object.entries(flags)
      .filter(
        ([name, value]) => value !== undefined && metadata.flags[name]?.setFromDefault !== true,
      )
      .map(([name]) => [name, true]),
  );

/** Rejects flags that another flag makes useless. Not oclif's `exclusive`, because --help would list every pair. @throws ExpectedError */
export function refuseWith(
  flag: string,
  others: readonly string[],
  flags: Readonly<Record<string, unknown>>,
): void {
  const clash = others.filter((other) => flags[other] !== undefined && flags[other] !== false);
  if (clash.length === 0) return;
  throw failed(
    'USAGE',
    `--${flag} cannot be used with ${clash.map((other) => `--${other}`).join(', ')}.`,
    ['Omit one of these flags'],
  );
}

/** URLs of --probe-url. @throws ExpectedError */
export function probeUrls(texts: readonly string[] = []): string[] {
  return texts.map((text) => {
    if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).href;
    throw failed('INVALID_SETTING', `--probe-url: "${text}" is not an HTTP URL.`, [
      'Use the format https://gitlab.example.com',
    ]);
  });
}
