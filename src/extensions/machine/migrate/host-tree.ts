import {readHostTree} from '../../../charts/host/host.ts';
import {optionMeantBy} from '../../../charts/shared/agent-options.ts';
import {isPathIn} from '../../../ground/text.ts';
import {
  at,
  leafPaths,
  type Path,
  sameTree,
  setAt,
  spellPath,
  type Values,
  withoutLeaves,
} from '../../../ground/tree.ts';
import {splitImage, withoutRegistry} from '../../../settings/kinds/images.ts';
import {canonicalQuantity} from '../../../settings/kinds/quantities.ts';
import {type Change, changeOf} from '../../../values/migrate/change.ts';
import {secondsToStop, type Variables} from '../variables.ts';
import type {HostConfiguration, HostContainer} from './read-host.ts';

/** Reads a file that the configuration names; undefined if it does not exist here. */
export type ReadFile = (path: string) => string | undefined;

interface HostTree {
  /** As the rows of the host write it. */
  tree: Values;
  /** The spelling of the user, by the current name of the variable, or the key of the tree. */
  spellings: ReadonlyMap<string, string>;
  /** What has no place in the tree. */
  changes: Change[];
  hasClientCertificate: boolean;
}

/** Variables of the image, the shell and the service manager. */
const OF_OTHERS =
  /^(PATH|HOME|HOSTNAME|TERM|LANG|LC_\w+|PWD|SHLVL|USER|GPG_KEY|PYTHON\w*|PIP_\w+)$/;
const TOKEN = 'SCALR_AGENT_TOKEN';
const DATA = 'SCALR_AGENT_DATA_DIR';
const CONCURRENCY = 'SCALR_AGENT_CONCURRENCY';
const CLIENT = ['SCALR_AGENT_TLS_CERT_FILE', 'SCALR_AGENT_TLS_KEY_FILE'];
const CA_OF_ALL = 'SCALR_AGENT_CA_CERT';
const CA_OF_RUNS = 'SCALR_AGENT_CONTAINER_TASK_CA_CERT';
const CA = [CA_OF_ALL, CA_OF_RUNS, 'SSL_CERT_FILE'];

/** What the keys of the tree are called in each source. */
const OPTIONS: Readonly<Record<HostConfiguration['source'], Readonly<Record<string, string>>>> = {
  'systemctl show': {'service.root': 'User'},
  'docker inspect': {
    'container.user': 'User',
    'container.cpus': 'NanoCpus',
    'container.memory': 'Memory',
    'container.stopSeconds': 'StopTimeout',
    'container.image': 'Image',
    'container.registry': 'Image',
    'container.labels': 'Labels',
  },
  'docker compose config': {
    'container.user': 'user',
    'container.cpus': 'cpus',
    'container.memory': 'mem_limit',
    'container.stopSeconds': 'stop_grace_period',

    'container.image': 'image',
    'container.registry': 'image',
    'container.labels': 'labels',
    'container.pull': 'pull_policy',
  },
};

/** The configuration of agents as the tree of the host rows. */
export function hostTreeOf(configuration: HostConfiguration, read: ReadFile): HostTree {
  const {agents} = configuration;
  const first = agents[0] as HostContainer;
  const spellings = new Map(Object.keys(first.variables).map((name) => [currentName(name), name]));
  const spelling = (name: string): string => spellings.get(name) ?? name;
  const variables = currentVariables(first.variables);
  // Each of several agents has its own directory.
  if (agents.length > 1 && variables[DATA]) variables[DATA] = variables[DATA].replace(/-1$/, '');
  const bundle = certificateIn(variables, read);
  const options = {
    ...OPTIONS[configuration.source],
    'tls.caBundle': spelling(bundle.name),
    'tls.scope': spelling(bundle.name),
  };
  for (const [key, option] of Object.entries(options)) spellings.set(key, option);
  const tree = treeOf(configuration, variables, bundle);
  return {
    tree,
    spellings,
    hasClientCertificate: CLIENT.some((name) => variables[name] !== undefined),
    changes: [
      ...lostOptions(configuration, {tree, variables, spelling}),
      ...lostFiles(variables, bundle, spelling),
    ],
  };
}

function treeOf({agents, target}: HostConfiguration, variables: Variables, bundle: Bundle): Values {
  const first = agents[0] as HostContainer;
  const environment = Object.entries(variables).filter(([name]) => isFree(name));
  const tree: Values = {environment: Object.fromEntries(environment)};
  if (bundle.text !== undefined)
    setAt(tree, at('tls'), {caBundle: bundle.text, scope: bundle.isOfRuns ? 'tasks' : 'all'});
  // Several agents share the runs.
  const runs = agents
    .map((agent) => currentVariables(agent.variables)[CONCURRENCY])
    .reduce((sum, each) => sum + Number(each ?? 0), 0);
  const runsKey = target === 'systemd' ? `environment.${CONCURRENCY}` : 'concurrency';
  if (runs > 0) setAt(tree, at(runsKey), runs);
  if (variables['SCALR_AGENT_CACHE_DIR'] !== undefined) setAt(tree, at('cache'), 'hostpath');
  if (first.labels?.['io.scalr.agent.purpose'] === 'vcs') setAt(tree, at('purpose'), 'vcs');
  const options =
    target === 'systemd' ? serviceOf(first, variables) : containerOf(first, variables);
  for (const [path, value] of options) if (value !== undefined) setAt(tree, at(path), value);
  const labels = Object.entries(first.labels ?? {}).filter(
    ([name]) => !/^(io\.scalr|com\.docker|org\.opencontainers)\./.test(name),
  );
  if (labels.length > 0) setAt(tree, at('container.labels'), Object.fromEntries(labels));
  return tree;
}

const isFree = (name: string): boolean =>
  !OF_OTHERS.test(name) &&
  ![TOKEN, 'SCALR_AGENT_NAME', CONCURRENCY, ...CLIENT, ...CA].includes(name);

const currentVariables = (variables: Variables): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [currentName(name), value]));

/** The token, and what is in files of the machine. */
function lostFiles(
  variables: Variables,
  bundle: Bundle,
  spelling: (name: string) => string,
): Change[] {
  const changes: Change[] = [];
  if (bundle.unread !== undefined)
    changes.push(
      lost(
        spelling(bundle.name),
        bundle.unread,
        'Run the command where the file is readable, or pass the file with --ca-file to scalr-agent install',
      ),
    );
  if (variables[TOKEN] !== undefined)
    changes.push(
      changeOf(
        'dropped',
        [spelling(TOKEN)],
        'not written, because values.yaml stores plain text.',
        'Set SCALR_AGENT_TOKEN for scalr-agent install, or store it in the Secret scalr-agent-token under the key token',
      ),
    );
  for (const name of CLIENT.filter((each) => variables[each] !== undefined))
    changes.push(
      changeOf(
        'dropped',
        [spelling(name)],
        'refers to a file on the machine.',
        'Store certificate and key in the Secret scalr-agent-client-cert of type kubernetes.io/tls',
      ),
    );
  return changes;
}

/** The current name of a variable that older agents read. */
function currentName(name: string): string {
  if (name === 'SCALR_AGENT_URL') return 'SCALR_URL';
  if (/^(https?|no)_proxy$/.test(name)) return name.toUpperCase();
  const meant = optionMeantBy(name);
  return meant?.isOld ? meant.option.name : name;
}

/** The certificate files that variables refer to. */
export const certificateFilesOf = ({agents}: HostConfiguration): string[] =>
  agents.flatMap(({variables}) =>
    Object.entries(variables).flatMap(([name, value]) =>
      CA.includes(currentName(name)) && value.startsWith('/') ? [value] : [],
    ),
  );

/** Where the file is on the machine: a container can have it mounted at another path. */
export const sourcesOf = ({agents}: HostConfiguration, path: string): string[] => [
  ...agents.flatMap(({mounts = []}) =>
    mounts.flatMap(({source, target}) =>
      isPathIn(path, target) ? [`${source}${path.slice(target.length)}`] : [],
    ),
  ),
  path,
];

interface Bundle {
  /** Current name of the variable. */
  name: string;
  isOfRuns: boolean;
  text?: string;
  unread?: string;
}

/** The CA bundle, a path or base64, or why it cannot be read. */
function certificateIn(variables: Variables, read: ReadFile): Bundle {
  const name = [CA_OF_ALL, CA_OF_RUNS].find((each) => variables[each] !== undefined) ?? CA_OF_ALL;
  const value = variables[name];
  const isOfRuns = name === CA_OF_RUNS;
  if (value === undefined) return {name, isOfRuns};
  const decoded = value.includes('-----BEGIN')
    ? value
    : Buffer.from(value, 'base64').toString('utf8');
  const text = value.startsWith('/') ? read(value) : decoded;
  if (text?.includes('-----BEGIN CERTIFICATE')) return {name, isOfRuns, text};
  const what = value.startsWith('/') ? `the file ${value}` : 'its value';
  return {
    name,
    isOfRuns,
    unread:
      text === undefined ? `${what} does not exist here` : `${what} contains no PEM certificate`,
  };
}

/** Sizes are bytes. */
function memoryOf(text: string | undefined): string | undefined {
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const mebibyte = 1024 ** 2;
  const bytes = Number(text);
  return canonicalQuantity(bytes % mebibyte === 0 ? `${bytes / mebibyte}Mi` : text);
}

type Option = readonly [path: string, value: string | number | undefined];

const serviceOf = (agent: HostContainer, variables: Variables): Option[] => [
  ['service.root', agent.user === undefined || agent.user === 'root' ? agent.user : 'scalr-agent'],
  ['container.stopSeconds', stopSecondsOf(agent, variables)],
];

function containerOf(agent: HostContainer, variables: Variables): Option[] {
  const registry =
    variables['SCALR_AGENT_CONTAINER_TASK_IMAGE_REGISTRY']?.replace(/\/$/, '') ??
    registryOf(agent.image);
  const image = agent.image === undefined ? undefined : ownImage(agent.image, registry);
  return [
    ['container.user', agent.user],
    ['container.cpus', agent.cpus],
    ['container.memory', memoryOf(agent.memory)],
    ['container.pull', agent.pull],
    ['container.registry', registry],
    ['container.image', image],
    ['container.stopSeconds', stopSecondsOf(agent, variables)],
  ];
}

/** The registry in front of the usual image. */
const registryOf = (image = ''): string | undefined =>
  /^(.+)\/scalr\/agent(?::[^/]*)?$/.exec(image)?.[1];

/** An image of the user; the charts have their own version of the usual one. */
function ownImage(image: string, registry: string | undefined): string | undefined {
  const reference = withoutRegistry(image, registry);
  return splitImage(reference).repository === 'scalr/agent' ? undefined : reference;
}

/** A service has only the timeouts of the agent, which end before the service manager stops it. */
function stopSecondsOf({stopSeconds}: HostContainer, variables: Variables): number | undefined {
  // An export writes the usual time, which is without timeouts of the user.
  const {SCALR_AGENT_WORKER_ON_STOP_ACTION = ''} = variables;
  if (
    stopSeconds !== undefined &&
    stopSeconds !== secondsToStop({SCALR_AGENT_WORKER_ON_STOP_ACTION})
  )
    return stopSeconds;
  const drain = variables['SCALR_AGENT_WORKER_DRAIN_TIMEOUT'];
  const stop = variables['SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT'];
  if (drain !== undefined) return Number(drain) + 60;
  return stop === undefined ? undefined : Number(stop) + 10;
}

interface Found {
  tree: Values;
  /** By their current names. */
  variables: Variables;
  /** The spelling of the user. */
  spelling(name: string): string;
}

/** Options of the machine that no setting expresses. */
const lostOptions = (
  {agents, target}: HostConfiguration,
  {tree, variables, spelling}: Found,
): Change[] => [
  ...[...new Set(agents.flatMap(({unread = []}) => unread))].map((name) =>
    lost(name, 'no setting expresses it', 'Check whether pods need it, and set it in the new file'),
  ),
  ...unreadIn(tree, target).map((path) =>
    lost(spelling(spellPath(path)), 'it applies to the container or service of the agent only'),
  ),
  ...versionOf(agents[0]?.image),
  ...secondBundle(variables, spelling),
];

export const lost = (name: string, reason: string, remedy?: string): Change =>
  changeOf('dropped', [name], `not carried over: ${reason}.`, remedy);

/** Options that change no setting. */
function unreadIn(tree: Values, target: HostConfiguration['target']): Path[] {
  const all = readHostTree(tree, target);
  const options = leafPaths(tree).filter(
    ([section]) => section === 'container' || section === 'service',
  );
  return options.filter((path) =>
    sameTree(
      [
        ...readHostTree(
          withoutLeaves(tree, (each) => sameTree(each, path)),
          target,
        ),
      ],
      [...all],
    ),
  );
}

/** The charts select the version of the usual image. */
function versionOf(image = ''): Change[] {
  const {repository, tag} = splitImage(image);
  const isPinned = /(^|\/)scalr\/agent$/.test(repository) && tag !== undefined && tag !== 'latest';
  if (!isPinned) return [];
  const message = `the version of ${image} is not carried over: the chart selects the agent version.`;
  return [
    changeOf(
      'dropped',
      ['image'],
      message,
      'To keep the version, set the tag of the image in the new file',
    ),
  ];
}

/** Values have one bundle, for all containers or for runs. */
function secondBundle(variables: Variables, spelling: Found['spelling']): Change[] {
  const all = variables[CA_OF_ALL];
  const runs = variables[CA_OF_RUNS];
  if (all === undefined || runs === undefined || all === runs) return [];
  const reason = `${spelling(CA_OF_ALL)} refers to another CA bundle, and the new values have one for all containers`;
  return [lost(spelling(CA_OF_RUNS), reason, 'Put the certificates of both into one bundle')];
}
