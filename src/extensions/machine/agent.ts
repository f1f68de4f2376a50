import {type HostTarget, hostTree, refuseUnsupported} from '../../charts/host/host.ts';
import {type Mode, modeOf, RUNS_PER_AGENT} from '../../charts/host/rows.ts';
import {chartSchema} from '../../charts/releases/schema.ts';
import {credentialsIn} from '../../ground/credentials.ts';
import {type SettingFinding, warningOf} from '../../ground/finding.ts';
import {type Secret, variableSoundsSecret} from '../../ground/secret.ts';
import {at, getAt, textAt, type Values} from '../../ground/tree.ts';
import {token, tokenFile, url} from '../../settings/agent.ts';
import {allowClearText} from '../../settings/chart-values.ts';
import {splitImage} from '../../settings/kinds/images.ts';
import {canonicalQuantity, milliOf} from '../../settings/kinds/quantities.ts';
import {withoutCredentials} from '../../settings/kinds/urls.ts';
import {httpProxy, httpsProxy} from '../../settings/network.ts';
import {concurrency} from '../../settings/purpose.ts';
import {release} from '../../settings/release.ts';
import type {Settings} from '../../settings/settings.ts';
import {runSize} from '../../settings/size.ts';
import {clientCertFile, clientKeyFile} from '../../settings/tls.ts';
import {clearTextError, clearTextIn} from '../../values/clear-text.ts';
import {dotted} from '../../values/reading/tree-path.ts';
import {PURPOSE_LABEL, RELEASE_LABEL} from './containers.ts';
import {type HostDirectories, STANDARD_DIRECTORIES} from './directories.ts';
import {
  addedLines,
  keptLines,
  refuseLineBreaks,
  secondsToStop,
  type Variables,
} from './variables.ts';

/** One agent of the machine. */
export interface AgentInstance {
  name: string;
  /** Variables that differ between the agents. */
  environment: Variables;
  /** Directories of the machine that the container mounts at the same path. */
  directories: string[];
}

/** Agents outside Kubernetes, as data. */
export interface HostAgent {
  target: HostTarget;
  mode: Mode;
  name: string;
  image: string;
  agents: AgentInstance[];
  environment: Variables;
  /** Variables with passwords, and the token if it is known. */
  secrets: Variables;
  /** Lines that the user has added to the file with the secrets. */
  addedLines: readonly string[];
  labels: Variables;
  pull?: string;
  user?: string;
  memory?: string;
  cpus?: string;
  /** Time for the agent to end its runs. */
  stopSeconds?: number;
  /** The socket of Docker on the machine. */
  socket: string;
  isRoot: boolean;
  /** Files that the agent reads, by their path for the agent. */
  files: HostFile[];
  proxy: Variables;
  /** What the machine must provide. */
  notes: string[];
  warnings: SettingFinding[];
}

/** A file of the export that the agent reads at `path`. */
export interface HostFile {
  name: string;
  path: string;
  text: string;
  isPrivate: boolean;
  /** Must be at the same path on the machine. */
  isOnMachine?: true;
}

export const STANDARD_SOCKET = '/var/run/docker.sock';
const CA = 'ca.pem';

/** An earlier export into the same directory. */
export interface EarlierExport {
  token?: Secret;
  /** The file with the token. */
  environment?: string;
  /** The files that start the containers. */
  commands?: string;
}

/** What the settings do not contain. */
export interface HostOptions {
  earlier?: EarlierExport;
  directories?: HostDirectories;
  socket?: string;
}

/** The agents for a machine. Pure. @throws ExpectedError for settings that the target does not support */
export function hostAgent(
  settings: Settings,
  target: HostTarget,
  {earlier = {}, directories = STANDARD_DIRECTORIES, socket = STANDARD_SOCKET}: HostOptions = {},
): HostAgent {
  refuseUnsupported(settings, target);
  const mode = modeOf(settings.get);
  const {tree, warnings} = hostTree(settings, target);
  const name = settings.get(release) as string;
  const image = imageOf(tree);
  const {files, environment} = filesOf(tree, settings, mode, directories.configuration);
  const variables: Variables = {...textsAt(tree, 'environment'), ...environment};
  refuseLineBreaks(variables);
  const {SCALR_AGENT_DATA_DIR: _, SCALR_AGENT_CACHE_DIR: __, ...common} = variables;
  const secretToken = settings.get(token) ?? settings.get(tokenFile) ?? earlier.token;
  const added = addedLines(earlier.environment ?? '', variables);
  refuseClearText(tree, settings, target);
  return {
    ...containerOptions(tree),
    ...stopSeconds(tree, common, mode),
    target,
    mode,
    name,
    image,
    agents: instancesOf(tree, variables, {name, mode, target}, directories),
    environment: Object.fromEntries(Object.entries(common).filter((each) => !isSecret(each))),
    secrets: {
      SCALR_AGENT_TOKEN: secretToken?.reveal() ?? '',
      ...Object.fromEntries(Object.entries(common).filter(isSecret)),
    },
    addedLines: added,
    labels: {
      ...textsAt(tree, 'container.labels'),
      [RELEASE_LABEL]: name,
      [PURPOSE_LABEL]: mode === 'vcs' ? 'vcs' : 'runs',
      'io.scalr.agent.version': splitImage(image).tag ?? 'latest',
    },
    socket,
    isRoot: textAt(tree, 'service.root') === 'root',
    files,
    proxy: Object.fromEntries(
      Object.entries(variables).filter(([variable]) => PROXIES.includes(variable)),
    ),
    notes: notesOf(settings, mode),
    warnings: [
      ...warnings,
      ...cautionsOf(settings),
      ...(secretToken ? [] : [NO_TOKEN]),
      ...keptLines(added),
      ...unreadableKey(tree, settings),
    ],
  };
}

const textsAt = (tree: Values, path: string): Variables =>
  (getAt(tree, at(path)) as Variables | undefined) ?? {};

const isSecret = ([name, value]: [string, string]): boolean =>
  variableSoundsSecret(name) ||
  withoutCredentials(value) !== value ||
  credentialsIn(value).length > 0;

const containerOptions = (tree: Values): Pick<HostAgent, 'pull' | 'user' | 'memory' | 'cpus'> =>
  Object.fromEntries(
    ['pull', 'user', 'memory', 'cpus']
      .map((key) => [key, textAt(tree, `container.${key}`)])
      .filter(([, value]) => value !== ''),
  );

/**
 * Variables with credentials are written to a file that only its owner can read; everything else is also part of scripts and commands.
 * @throws ExpectedError
 */
function refuseClearText(tree: Values, settings: Settings, target: HostTarget): void {
  if (settings.get(allowClearText) === true) return;
  const {environment: _, ...shared} = tree;
  const found = clearTextIn(shared).map(({path, kind}) => ({place: dotted(path), kind}));
  if (found.length > 0) throw clearTextError(found, `the files of ${target}`);
}

/** docs.scalr.io, self-hosted agents: enough for most runs. */
const USUAL_MEMORY = '512Mi';

function notesOf(settings: Settings, mode: Mode): string[] {
  if (mode === 'vcs')
    return [
      'Do not run a VCS agent on a machine with run agents.',
      'The agent opens HTTPS connections to Scalr and to the VCS server. It requires no open port.',
    ];
  const runs = settings.get(concurrency) ?? (mode === 'local' ? 1 : RUNS_PER_AGENT);
  const limit = settings.get(runSize.memoryLimit);
  const memory = limit ?? USUAL_MEMORY;
  const perRun =
    limit === undefined ? `${memory} per run; Scalr recommends 2 GB per run` : `${memory} per run`;
  const total = canonicalQuantity(`${((milliOf(memory) ?? 0n) * BigInt(runs)) / 1000n / 1024n}Ki`);
  return [
    `${runs} concurrent ${runs === 1 ? 'run needs' : 'runs need'} at least ${total} memory (${perRun}). The operating system needs more.`,
  ];
}

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];

const NO_TOKEN: SettingFinding = warningOf(
  'NO_TOKEN',
  'agent.env contains no token. Set SCALR_AGENT_TOKEN in it, or export again with SCALR_AGENT_TOKEN or --token-file.',
  token.id,
);

/** The certificates that the agent reads, and the variables with their paths. */
function filesOf(
  tree: Values,
  settings: Settings,
  mode: Mode,
  configuration: string,
): Pick<HostAgent, 'files' | 'environment'> {
  const ca = textAt(tree, 'tls.caBundle');
  const certificate = settings.get(clientCertFile);
  const privateKey = settings.get(clientKeyFile);
  const file = (name: string, text: string, isPrivate = false): HostFile => ({
    name,
    path: `${configuration}/${name}`,
    text,
    isPrivate,
  });
  const path = `${configuration}/${CA}`;
  const isForRuns = textAt(tree, 'tls.scope') === 'tasks';
  return {
    files: [
      // Containers of runs mount it from the machine, so it must have the same path there.
      ...(ca === ''
        ? []
        : [{...file(CA, ca), ...(mode === 'containers' ? {isOnMachine: true as const} : {})}]),
      ...(certificate ? [file('client.crt', certificate.reveal())] : []),
      ...(privateKey ? [file('client.key', privateKey.reveal(), true)] : []),
    ],
    environment: {
      ...(ca === ''
        ? {}
        : {[isForRuns ? 'SCALR_AGENT_CONTAINER_TASK_CA_CERT' : 'SCALR_AGENT_CA_CERT']: path}),
      ...(ca !== '' && mode === 'local' ? {SSL_CERT_FILE: path} : {}),
      ...(certificate ? {SCALR_AGENT_TLS_CERT_FILE: `${configuration}/client.crt`} : {}),
      ...(privateKey ? {SCALR_AGENT_TLS_KEY_FILE: `${configuration}/client.key`} : {}),
    },
  };
}

function stopSeconds(tree: Values, variables: Variables, mode: Mode): {stopSeconds?: number} {
  const found = getAt(tree, at('container.stopSeconds'));
  if (typeof found === 'number') return {stopSeconds: found};
  return mode === 'vcs' ? {} : {stopSeconds: secondsToStop(variables)};
}

/** The key is readable only by its owner, who may be another user. */
const unreadableKey = (tree: Values, settings: Settings): SettingFinding[] =>
  settings.get(clientKeyFile) && textAt(tree, 'container.user') === '1000:1000'
    ? [
        warningOf(
          'PARTLY_SUPPORTED',
          'The agent runs as uid 1000 and must be able to read client.key. Run: sudo chown 1000 client.key',
          clientKeyFile.id,
        ),
      ]
    : [];

const cautionsOf = ({get}: Settings): SettingFinding[] =>
  [url, httpProxy, httpsProxy].flatMap((setting) => {
    const value = get(setting);
    const message = value === undefined ? undefined : setting.caution?.(value, get);
    return message === undefined ? [] : [warningOf('CAUTION', message, setting.id)];
  });

function imageOf(tree: Values): string {
  const newest = chartSchema('agent-local')['x-releases'].at(-1)?.appVersion;
  const {repository, tag, digest} = splitImage(textAt(tree, 'container.image') || 'scalr/agent');
  const named = digest ? `${repository}:${tag}` : `${repository}:${tag ?? newest}`;
  const registry = textAt(tree, 'container.registry');
  return registry === '' ? named : `${registry}/${named}`;
}

/** More concurrent runs than one agent executes are divided among several agents, each with its own data directory. */
function instancesOf(
  tree: Values,
  variables: Variables,
  {name, mode, target}: Pick<HostAgent, 'name' | 'mode' | 'target'>,
  directories: HostDirectories,
): AgentInstance[] {
  const {SCALR_AGENT_DATA_DIR: dataHome, SCALR_AGENT_CACHE_DIR: cacheHome} = variables;
  const isOnMachine = target === 'systemd';
  const concurrency = Number(getAt(tree, at('concurrency')) ?? 0);
  const perAgent = mode === 'local' ? 1 : RUNS_PER_AGENT;
  const count = isOnMachine || mode === 'vcs' ? 1 : Math.max(1, Math.ceil(concurrency / perAgent));
  const defaultData = mode === 'containers' && !isOnMachine ? directories.data : undefined;
  return Array.from({length: count}, (_, index) => {
    const suffix = count === 1 ? '' : `-${index + 1}`;
    const data = dataHome ?? defaultData;
    const own = data === undefined ? undefined : `${data}${suffix}`;
    const cacheDirectory =
      cacheHome ??
      (mode === 'local' && textAt(tree, 'cache') === 'hostpath'
        ? `${directories.data}/cache`
        : undefined);
    const runs =
      mode === 'local'
        ? 1
        : Math.floor(concurrency / count) + (index < concurrency % count ? 1 : 0);
    return {
      name: `${name}${suffix}`,
      environment: {
        ...(count === 1 ? {} : {SCALR_AGENT_NAME: `${name}${suffix}`}),
        ...(runs === 0 || isOnMachine || mode === 'vcs'
          ? {}
          : {SCALR_AGENT_CONCURRENCY: String(runs)}),
        ...(own === undefined ? {} : {SCALR_AGENT_DATA_DIR: own}),
        ...(cacheDirectory === undefined ? {} : {SCALR_AGENT_CACHE_DIR: cacheDirectory}),
      },
      directories: [own, cacheDirectory].filter((each) => each !== undefined),
    };
  });
}
