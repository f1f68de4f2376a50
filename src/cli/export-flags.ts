import {dirname, relative, resolve} from 'node:path';
import * as Flags from '@oclif/core/flags';
import type {SettingsSource} from '../answers/sources.ts';
import {type Additions, BASES, type ImageBase} from '../extensions/fleet/dockerfile.ts';
import {
  clusterWithoutOverlay,
  FLEET_TARGETS,
  type FleetTarget,
} from '../extensions/fleet/engines.ts';
import type {Fleet, TokenSource} from '../extensions/fleet/fleet.ts';
import {commandLine} from '../ground/command-line.ts';
import {failed, usageError} from '../ground/errors.ts';
import {few} from '../ground/text.ts';
import {secretAnnotation, secretLabel} from '../settings/agent.ts';
import type {Setting} from '../settings/define.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import {recordedFlags, recordedPath, type Settings} from '../settings/settings.ts';
import {clientCertFile} from '../settings/tls.ts';
import type {GeneratedValues} from '../values/generate.ts';
import type {App} from './app.ts';
import type {ClusterFlags} from './connection-flags.ts';
import {overlayFlag, type Parsed, repeated} from './flags.ts';
import {generateUnconfirmed, type UnconfirmedValues, withKeyReport} from './generate.ts';
import {generateOverlay, requireValid, sharedSettings} from './overlay.ts';
import type {ChartDeps} from './read-chart.ts';

/** Flags of export that only fleet engines have. */
export const fleetFlags = {
  ...overlayFlag,
  'secret-store': Flags.string({
    summary:
      'Read the token with External Secrets from this ClusterSecretStore, or SecretStore/NAME.',
    helpValue: '<NAME>',
  }),
  sops: Flags.boolean({summary: 'Read the token from a file encrypted with SOPS.'}),
  'sealed-secrets': Flags.boolean({summary: 'Read the token from a SealedSecret.'}),
  autoscaled: Flags.boolean({summary: 'An autoscaler sets the number of agents: ignore replicas.'}),
  'git-url': Flags.string({
    summary:
      'Git repository that will contain the files, for Argo CD. Run the export in its root, with --out relative to it.',
    helpValue: '<URL>',
  }),
};

export type FleetFlags = {
  [name in keyof typeof fleetFlags | 'answers' | 'out']?: string | boolean | undefined;
};

const given = (
  flags: FleetFlags,
  names = Object.keys(fleetFlags) as (keyof FleetFlags)[],
): (keyof FleetFlags)[] =>
  names.filter((name) => flags[name] !== undefined && flags[name] !== false);

const textOf = (flags: FleetFlags, name: keyof FleetFlags): string | undefined => {
  const {[name]: text} = flags;
  if (text === '') throw usageError(`--${name} is empty.`, ['Set a value, or omit the flag']);
  return text as string | undefined;
};

/** Rejects flags of fleets for other targets. @throws ExpectedError */
export function refuseFleetFlags(flags: FleetFlags): void {
  const names = given(flags);
  if (names.length === 0) return;
  throw usageError(
    `${names.map((name) => `--${name}`).join(', ')}: only for the targets ${FLEET_TARGETS.join(', ')}.`,
    ['Omit these flags'],
  );
}

/** The next export would read the files as answers. @throws ExpectedError before anything is written */
export function refuseInputs(paths: readonly string[], {answers, overlay}: FleetFlags): void {
  const isInput = (path: string): boolean =>
    (typeof answers === 'string' && resolve(answers) === path) ||
    (typeof overlay === 'string' && resolve(overlay) === dirname(path) && /\.ya?ml$/i.test(path));
  const inputs = paths.filter((path) => isInput(resolve(path)));
  if (inputs.length === 0) return;
  throw usageError(
    `The export would write over its answers: ${few(inputs)}. Nothing was written.`,
    ['Use another directory with --out, for example --out fleet'],
  );
}

interface FleetDeps {
  sources: readonly SettingsSource[];
  app: Pick<App, 'files' | 'now' | 'charts' | 'processes'>;
  /** Settings without --overlay; may ask. */
  settings(): Promise<Settings>;
}

/** The clusters that the flags and the files of --overlay describe. @throws ExpectedError */
export async function fleetFrom(
  target: FleetTarget,
  flags: FleetFlags,
  {sources, app, settings}: FleetDeps,
): Promise<Fleet> {
  const directory = textOf(flags, 'overlay');
  const url = textOf(flags, 'git-url');
  const token = tokenSourceOf(flags);
  const shared = directory === undefined ? await settings() : await sharedSettings(sources, app);
  const single = {name: clusterWithoutOverlay(target), context: undefined, ring: 'all'};
  const deps = {app, flags: flags as ClusterFlags, downloads: new Map()};
  const make = (of: Settings): Promise<UnconfirmedValues> => generateReferences(of, deps);
  const overlay =
    directory === undefined
      ? undefined
      : await generateOverlay(
          {directory, sources, app, answers: textOf(flags, 'answers')},
          make,
          deps,
        );
  const clusters = overlay
    ? requireValid(overlay)
    : [{...single, made: await withKeyReport(await make(shared), deps)}];
  return {
    clusters: clusters.map(({made: generated, ...each}) => ({...each, generated})),
    rings: overlay?.rings ?? [single.ring],
    shared,
    token,
    store: textOf(flags, 'secret-store'),
    isOverlay: overlay !== undefined,
    overlay: directory === undefined ? undefined : recordedPath(directory).replace(/\/+$/, ''),
    isAutoscaled: flags.autoscaled === true,
    git: url === undefined ? undefined : {url, directory: directoryInGit(textOf(flags, 'out'))},
    ...commandsOf(target, flags, flags.answers || overlay ? shared : pinned(shared, clusters)),
  };
}

/** With the chart version as a flag, so that the recorded command writes the same files. */
const pinned = (settings: Settings, [cluster]: readonly {made: GeneratedValues}[]): Settings =>
  cluster
    ? settings
        .with(chart, {value: cluster.made.target.chart, source: 'flag'})
        .with(chartVersion, {value: cluster.made.target.version, source: 'flag'})
    : settings;

/** The engine reads the files from this directory of the repository. @throws ExpectedError */
function directoryInGit(out = ''): string {
  const path = relative('', out);
  if (path.startsWith('..'))
    throw usageError(`--out: "${out}" is outside of the repository of --git-url.`, [
      'Run the export in the root of the repository, for example with --out fleet',
    ]);
  return path && `${path}/`;
}

/** Generates values that refer to Secrets and to the public repository only. @throws ExpectedError */
async function generateReferences(settings: Settings, deps: ChartDeps): Promise<UnconfirmedValues> {
  const refused = [
    {setting: chartSource, remedy: 'Omit it: the files refer to the public chart repository'},
    {setting: secretLabel, remedy: 'Set labels and annotations where the Secret is created'},
    {setting: secretAnnotation, remedy: 'Set labels and annotations where the Secret is created'},
    {
      setting: clientCertFile,
      remedy: 'Create a Secret of the type kubernetes.io/tls, and use --client-cert-secret',
    },
  ].filter(({setting}) => settings.isExplicit(setting as Setting));
  if (refused.length === 0) return generateUnconfirmed(settings, undefined, deps);
  const flags = refused.map(({setting}) => `--${setting.id}`).join(', ');
  const remedies = refused.map(({remedy}) => remedy);
  throw failed('UNSUPPORTED_SETTING', `${flags}: not supported in files for fleets.`, remedies);
}

function tokenSourceOf(flags: FleetFlags): TokenSource {
  const names = given(flags, ['secret-store', 'sops', 'sealed-secrets']);
  if (names.length > 1)
    throw usageError(`${names.map((name) => `--${name}`).join(' and ')} cannot be combined.`, [
      'Use only one of them',
    ]);
  const [name = 'existing'] = names;
  return name === 'secret-store' ? 'external-secrets' : (name as TokenSource);
}

/** Settings of the answers file come from that file. The files are the same wherever they are written. */
function commandsOf(
  target: FleetTarget,
  flags: FleetFlags,
  settings: Settings,
): Pick<Fleet, 'answers' | 'command' | 'overlayCommand'> {
  const own = given(flags).flatMap((name) => {
    const {[name]: value} = flags;
    return value === true ? [`--${name}`] : [`--${name}`, recordedPath(String(value))];
  });
  const typed = settings
    .entries()
    .filter(
      ({setting, answer}) =>
        ['flag', 'environment', 'prompt'].includes(answer.source) && !setting.kind.isSecret,
    )
    .flatMap(({setting, answer}) => recordedFlags(setting, answer));
  const record = (files: readonly string[], others: readonly string[]): string =>
    [
      commandLine({tool: 'scalr-agent', args: ['export', target, ...files, ...own]}),
      ...others,
      '--out DIRECTORY --yes',
    ].join(' ');
  const answers = flags.answers && recordedPath(String(flags.answers));
  const overlay = ['--overlay', 'clusters'];
  if (!answers)
    return {
      command: record([], typed),
      overlayCommand: record(['--answers', 'answers.yaml', ...overlay], []),
    };
  const files = ['--answers', answers];
  return {
    answers,
    command: record(files, typed),
    overlayCommand: record([...files, ...overlay], typed),
  };
}

/** Flags of export that only a Dockerfile has. */
export const dockerfileFlags = {
  base: Flags.string({
    summary:
      'Image that the Dockerfile extends. Default: the one in which the chart executes runs.',
    helpValue: `<${BASES.join('|')}>`,
    options: [...BASES],
  }),
  package: Flags.string({
    summary: 'Package for the Dockerfile, from apt. Can be repeated.',
    helpValue: '<NAME>',
    ...repeated,
  }),
  plugins: Flags.string({
    summary: 'Directory with provider plugins for the Dockerfile.',
    helpValue: '<DIRECTORY>',
  }),
};

/** What the Dockerfile adds, and to which image. @throws ExpectedError */
export function additionsFrom(
  flags: Partial<Parsed<typeof dockerfileFlags>>,
  isDockerfile: boolean,
): Additions {
  const {base, package: packages = [], plugins} = flags;
  if (!isDockerfile && (packages.length > 0 || plugins !== undefined || base !== undefined))
    throw usageError('--base, --package and --plugins are only for the target dockerfile.', [
      'Omit them',
      'Run: scalr-agent export dockerfile',
    ]);
  const wrong = packages.find((each) => !/^[a-z0-9][a-z0-9+.-]+(=[\w.+:~-]+)?$/.test(each));
  if (wrong !== undefined)
    throw usageError(`--package: "${wrong}" is not the name of a package.`, [
      'Example: --package jq',
    ]);
  return {packages, plugins, base: base as ImageBase | undefined};
}
