import {basename, dirname, join} from 'node:path';
import {chartFor} from '../../../charts/chart-version.ts';
import {floorOf} from '../../../charts/charts.ts';
import {HOSTS, type HostTarget, hostScope, readHostTree} from '../../../charts/host/host.ts';
import {recommend} from '../../../charts/recommend.ts';
import type {Target} from '../../../charts/releases/target.ts';
import {newestOf} from '../../../charts/releases/target.ts';
import {refusalReason, rowsFor} from '../../../charts/shared/support.ts';
import {scopeOf, supports, unsupported} from '../../../charts/support.ts';
import {credentialsIn} from '../../../ground/credentials.ts';
import {ExpectedError, failed} from '../../../ground/errors.ts';
import {variableSoundsSecret} from '../../../ground/secret.ts';
import type {Files} from '../../../ground/system/system.ts';
import {parseEnvironmentFile} from '../../../ground/system/systemd.ts';
import {spellPath} from '../../../ground/tree.ts';
import {tokenSecret, tokenSecretKey} from '../../../settings/agent.ts';
import {cache, cachePath} from '../../../settings/cache.ts';
import {catalog} from '../../../settings/catalog.ts';
import {allowClearText, extraEnv} from '../../../settings/chart-values.ts';
import type {Setting} from '../../../settings/define.ts';
import {milliOf} from '../../../settings/kinds/quantities.ts';
import {concurrency, isolation, purpose} from '../../../settings/purpose.ts';
import {chart, chartVersion, secretNamesOf} from '../../../settings/release.ts';
import {type Answer, Settings} from '../../../settings/settings.ts';
import {runSize} from '../../../settings/size.ts';
import {dataHome} from '../../../settings/storage.ts';
import {caFile, clientCertSecret} from '../../../settings/tls.ts';
import {isPrivate, valuesDocument} from '../../../values/document.ts';
import {type GeneratedValues, generate} from '../../../values/generate.ts';
import {type Change, changeOf, targetName, withoutRepeats} from '../../../values/migrate/change.ts';
import {type MigratedFile, parseTarget} from '../../../values/migrate/migrate-file.ts';
import {effectiveValues, readEffective} from '../../../values/reading/read-values.ts';
import {checkGenerated} from '../../../values/validate/validate.ts';
import {certificateFilesOf, hostTreeOf, lost, type ReadFile, sourcesOf} from './host-tree.ts';
import {type HostConfiguration, LIST_SERVICES, valuesOf} from './read-host.ts';

/** Directories of the machine; pods have their own. */
const OF_MACHINE: readonly Setting[] = [cache, cachePath, dataHome] as Setting[];

interface Wanted {
  file: string;
  from?: string | undefined;
  to?: string | undefined;
  keepsDefaults: boolean;
  /** The target, if it was read from the chart. */
  chart?: Target | undefined;
  /** Credentials are written. */
  allowsClearText: boolean;
}

/** Migrates the configuration of an agent with the files that it names: by an absolute path, or beside it. @throws ExpectedError */
export async function migrateHostFile(
  host: HostConfiguration,
  {file, from, to, keepsDefaults, chart: own, allowsClearText}: Wanted,
  files: Pick<Files, 'kindOf' | 'read'>,
): Promise<MigratedFile> {
  if (from !== undefined) throw onlyForValues('--from', file, host);
  if (keepsDefaults) throw onlyForValues('--keep-defaults', file, host);
  const textOf = (path: string): Promise<string | undefined> =>
    firstFile(candidatesFor(path, dirname(file), host), files);
  const complete = await withEnvironmentFiles(host, textOf);
  refuseOthers(complete, file);
  const found = new Map<string, string>();
  for (const path of certificateFilesOf(complete)) {
    const text = await textOf(path);
    if (text !== undefined) found.set(path, text);
  }
  return migrateHost(complete, {to, chart: own, allowsClearText}, (path) => found.get(path));
}

/** With the variables of the files that a service reads; later files take precedence. @throws ExpectedError */
async function withEnvironmentFiles(
  host: HostConfiguration,
  textOf: (path: string) => Promise<string | undefined>,
): Promise<HostConfiguration> {
  const agents = host.agents.map(async ({environmentFiles = [], ...agent}) => {
    const variables = {...agent.variables};
    for (const {path, isOptional} of environmentFiles) {
      const text = await textOf(path);
      if (text === undefined && !isOptional) throw missingVariables(path);
      Object.assign(variables, valuesOf(parseEnvironmentFile(text ?? '')));
    }
    return {...agent, variables};
  });
  return {...host, agents: await Promise.all(agents)};
}

/** Every agent has its URL or its token from a variable. @throws ExpectedError */
function refuseOthers({source, agents}: HostConfiguration, file: string): void {
  const names = agents.flatMap(({variables}) => Object.keys(variables));
  if (names.some((name) => name.startsWith('SCALR_'))) return;
  throw failed(
    'AGENT_NOT_FOUND',
    `${inputName(file)} (${source}) has no variable SCALR_…, so it is no agent.`,
    ['List the containers of agents: docker ps --filter ancestor=scalr/agent', LIST_SERVICES],
  );
}

const missingVariables = (path: string): ExpectedError =>
  failed('UNREADABLE_FILE', `${path} does not exist. The service reads its variables from it.`, [
    "Run the command on the agent's machine, with sudo",
    'Copy the file into the directory of the migrated file',
  ]);

const inputName = (file: string): string => (file === '-' ? 'Standard input' : file);

const onlyForValues = (flag: string, file: string, {source}: HostConfiguration): ExpectedError =>
  failed(
    'USAGE',
    `${flag} is only for values files. ${inputName(file)} is an agent configuration (${source}).`,
    [`Omit ${flag}`],
  );

const candidatesFor = (path: string, directory: string, host: HostConfiguration): string[] => [
  ...sourcesOf(host, path).flatMap((each) => [each, join(directory, each)]),
  join(directory, basename(path)),
  join(directory, '..', basename(path)),
];

async function firstFile(
  paths: readonly string[],
  files: Pick<Files, 'kindOf' | 'read'>,
): Promise<string | undefined> {
  for (const path of paths)
    if ((await files.kindOf(path)) === 'file') return (await files.read(path)).toString('utf8');
  return undefined;
}

interface HostMigration {
  to?: string | undefined;
  /** The target, if it was read from the chart. */
  chart?: Target | undefined;
  allowsClearText?: boolean;
}

/** Values for a chart from the configuration of agents in Docker. Pure. @throws ExpectedError */
export function migrateHost(
  configuration: HostConfiguration,
  {to, chart, allowsClearText = false}: HostMigration,
  read: ReadFile,
): MigratedFile & {isPrivate: boolean} {
  const {tree, spellings, changes, hasClientCertificate} = hostTreeOf(configuration, read);
  const found = readHostTree(tree, configuration.target);
  const given = settingsOf(found, {hasClientCertificate, allowsClearText});
  const keyOf: KeyOf = (setting, settings = given) =>
    spelled({setting, settings, target: configuration.target, spellings});
  const {target, notes} = targetFor(given, to, chart);
  const carried = carriedTo(target, given, keyOf);
  const {settings, generated, refusedByRules} = generateFrom(
    withLowerRequests(carried.settings, target),
    target,
    keyOf,
  );
  const count = configuration.agents.length;
  return {
    from: configuration.source,
    to: `${target.chart}@${target.version}`,
    yaml: valuesDocument(generated),
    values: generated.values,
    isPrivate: isPrivate(generated),
    changes: withoutRepeats([
      ...requirementsOf(target),
      ...changes,
      ...carried.dropped,
      ...refusedByRules,
      ...renames(settings, generated, keyOf),
    ]),
    findings: [],
    unknownSections: [],
    target,
    warnings: generated.warnings,
    notes: [
      `Migrated from: ${configuration.source}, ${count === 1 ? '1 agent' : `${count} agents`}.`,
      ...notes,
    ],
  };
}

/** The key of a setting in the old configuration. */
type KeyOf = (setting: Setting, settings?: Settings) => string;

function requirementsOf(target: Target): Change[] {
  const floor = floorOf(target);
  if (floor === undefined) return [];
  const text = `${targetName(target)} requires Kubernetes ${floor.version} or newer: ${floor.because}.`;
  return [changeOf('requirement', [], text, 'Check the cluster: scalr-agent preflight')];
}

/** The settings that the chart can express, and what it drops. */
function carriedTo(
  target: Target,
  given: Settings,
  keyOf: KeyOf,
): {settings: Settings; dropped: Change[]} {
  const machine = given.entries().filter(({setting}) => OF_MACHINE.includes(setting));
  const desired = withoutAll(given, machine);
  const refused = unsupported(target, desired);
  const {settings, dropped} = withoutForeignVariables(withoutAll(desired, refused), target);
  return {
    settings,
    dropped: [
      ...machine.map(({setting}) => lost(keyOf(setting), 'it is for a directory of the machine')),
      ...refused.map(({setting}) => refusal(setting, desired, target, keyOf(setting))),
      ...dropped,
    ],
  };
}

const withoutAll = (settings: Settings, all: readonly {setting: Setting}[]): Settings =>
  all.reduce((rest, {setting}) => rest.without(setting), settings);

const renames = (settings: Settings, generated: GeneratedValues, keyOf: KeyOf): Change[] =>
  withoutDerived(
    settings
      .entries()
      .filter(({setting}) => settings.isExplicit(setting))
      .flatMap(({setting}) => renamed(setting, keyOf(setting, settings), settings, generated)),
  );

function settingsOf(
  found: ReadonlyMap<string, unknown>,
  {
    hasClientCertificate,
    allowsClearText,
  }: {hasClientCertificate: boolean; allowsClearText: boolean},
): Settings {
  const answers = new Map<string, Answer>(
    [...found].map(([id, value]) => [
      id,
      {value, source: 'flag', ...(id === caFile.id ? {given: 'ca.pem'} : {})},
    ]),
  );
  if (hasClientCertificate)
    answers.set(clientCertSecret.id, {value: secretNamesOf().clientCertificate, source: 'flag'});
  if (allowsClearText) answers.set(allowClearText.id, {value: true, source: 'flag'});
  return new Settings(answers);
}

function targetFor(
  settings: Settings,
  to: string | undefined,
  read: Target | undefined,
): {target: Target; notes: string[]} {
  if (to !== undefined) return {target: parseTarget('--to', to, read).target, notes: []};
  // On a machine, each run gets a container of its own, unless the agent executes runs itself.
  const isOwn = settings.get(isolation) === undefined && settings.get(purpose) !== 'vcs';
  const {chart: name, reasons} = recommend(
    isOwn ? settings.with(isolation, {value: 'per-run', source: 'default'}) : settings,
  );
  const why = reasons.filter(({verdict}) => verdict === 'for').map(({message}) => message);
  return {
    target: {chart: name, version: newestOf(name)},
    notes: [`Recommended chart: ${name}. ${why.join(' ')}`.trim()],
  };
}

/** The chart version, and the Secret of the token, which `values` names by default. */
const withDefaults = (settings: Settings, target: Target): Settings =>
  [tokenSecret, tokenSecretKey].reduce(
    (all, setting) => all.with(setting, {value: setting.fallback?.(all.get), source: 'default'}),
    settings
      .with(chart, {value: target.chart, source: 'flag'})
      .with(chartVersion, {value: target.version, source: 'flag'}),
  );

const REQUESTS = [
  {limit: runSize.cpuLimit, request: runSize.cpuRequest},
  {limit: runSize.memoryLimit, request: runSize.memoryRequest},
];

/** A machine has limits only; Kubernetes rejects a limit below the default request of the chart. */
function withLowerRequests(settings: Settings, target: Target): Settings {
  const usual = readEffective(effectiveValues({}, target), target).settings;
  return REQUESTS.reduce((all, {limit, request}) => {
    const value = all.get(limit);
    const byDefault = usual.get(request.id);
    const isLower =
      value !== undefined &&
      byDefault !== undefined &&
      (milliOf(value) ?? 0n) < (milliOf(String(byDefault)) ?? 0n);
    return isLower
      ? all.with(request, {
          value,
          source: 'default',
          because: 'the chart default exceeds the limit',
        })
      : all;
  }, settings);
}

/** Leaves out one setting after the other that rules of the chart reject. @throws ExpectedError if no setting is the reason */
function generateFrom(
  given: Settings,
  target: Target,
  keyOf: KeyOf,
): {settings: Settings; generated: GeneratedValues; refusedByRules: Change[]} {
  const attempt = (settings: Settings): GeneratedValues | ExpectedError => {
    try {
      const generated = generate(withDefaults(settings, target), {}, target.schema && target);
      return {...generated, warnings: [...generated.warnings, ...checkGenerated(generated)]};
    } catch (error) {
      if (error instanceof ExpectedError) return error;
      throw error;
    }
  };
  let settings = given;
  const refusedByRules: Change[] = [];
  for (;;) {
    const result = attempt(settings);
    if (!(result instanceof ExpectedError)) return {settings, generated: result, refusedByRules};
    if (result.code === 'CLEAR_TEXT_CREDENTIAL') throw result;
    const rejected = settings.entries().find(({setting}) => {
      const next = attempt(settings.without(setting));
      return !(next instanceof ExpectedError) || next.message !== result.message;
    });
    if (rejected === undefined) throw result;
    settings = settings.without(rejected.setting);
    refusedByRules.push(
      changeOf('dropped', [keyOf(rejected.setting)], `not carried over: ${result.message}`),
    );
  }
}

function refusal(setting: Setting, settings: Settings, target: Target, key: string): Change {
  const reason = refusalReason(chartFor(target), setting, settings.get(setting));
  return changeOf('dropped', [key], `not supported by ${targetName(target)}: ${reason}.`);
}

/** Extra variables that are secrets, or that the chart sets itself. */
function withoutForeignVariables(
  settings: Settings,
  target: Target,
): {settings: Settings; dropped: Change[]} {
  const answer = settings.answer(extraEnv as Setting);
  if (answer === undefined) return {settings, dropped: []};
  const own = new Set(chartFor(target).ownVariables.map(({name}) => name));
  const all = Object.entries(answer.value as Readonly<Record<string, string>>);
  const allowsClearText = settings.get(allowClearText) === true;
  const isSecret = ([name, value]: [string, string]): boolean =>
    variableSoundsSecret(name) || (!allowsClearText && credentialsIn(value).length > 0);
  const kept = all.filter((each) => !own.has(each[0]) && !isSecret(each));
  const without = settings.without(extraEnv as Setting);
  return {
    settings:
      kept.length === 0
        ? without
        : without.with(extraEnv as Setting, {...answer, value: Object.fromEntries(kept)}),
    dropped: all
      .filter(([name]) => !kept.some(([each]) => each === name))
      .map(([name]) =>
        own.has(name)
          ? lost(name, `${targetName(target)} sets it`)
          : changeOf(
              'dropped',
              [name],
              'can be a secret, and values.yaml stores plain text.',
              'Pass it to the pods from a Kubernetes Secret',
            ),
      ),
  };
}

/** Without settings that have no option of their own, or share it with one that is carried over. */
const withoutDerived = (changes: readonly Change[]): Change[] => {
  const ids = catalog.map(({id}) => id);
  return changes.filter(
    ({kind, subject: {path}}) =>
      kind !== 'kept' ||
      !(
        ids.includes(path) ||
        changes.some((each) => each.kind === 'renamed' && each.subject.path === path)
      ),
  );
};

/** Where the value of a setting is in values.yaml. */
function renamed(
  setting: Setting,
  key: string,
  settings: Settings,
  {origins, target}: GeneratedValues,
): Change[] {
  const places = origins
    .filter((origin) => origin.setting === setting)
    .map(({path}) => spellPath(path));
  if (places.length > 0) return [changeOf('renamed', [key], `now ${places.join(' and ')}.`)];
  const scope = scopeOf(target, settings.get);
  const value = settings.get(setting);
  const limits = rowsFor(chartFor(target), setting, value, scope).flatMap(
    (row) => row.partly?.(value, scope) ?? [],
  );
  if (limits.length > 0)
    return [changeOf('dropped', [key], `not carried over: ${limits.join(' ')}`)];
  return supports(target, setting, settings)
    ? [changeOf('kept', [key], `needs no key in ${targetName(target)}.`)]
    : [];
}

interface SpelledSetting {
  setting: Setting;
  settings: Settings;
  target: HostTarget;
  spellings: ReadonlyMap<string, string>;
}

/** The variables, or the option of the container, that express the setting. */
function spelled({setting, settings, target, spellings}: SpelledSetting): string {
  const scope = hostScope(settings.get);
  const paths = HOSTS[target].rows
    .filter((row) => row.setting === setting && (row.when?.(settings.get) ?? true))
    .flatMap((row) => row.write(settings.get(setting), scope))
    .map(([path]) => path);
  const names = paths.flatMap(([map, name]) =>
    map === 'environment' && name !== undefined ? (spellings.get(name) ?? []) : [],
  );
  if (names.length > 0) return names.join(', ');
  if (setting.id === concurrency.id) return 'SCALR_AGENT_CONCURRENCY';
  const [first] = paths;
  if (first === undefined) return setting.id;
  const [option] = paths.flatMap((path) => spellings.get(spellPath(path)) ?? []);
  return option ?? spellPath(first);
}
