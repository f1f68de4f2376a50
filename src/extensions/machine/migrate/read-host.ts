import type {HostTarget} from '../../../charts/host/host.ts';
import {failed} from '../../../ground/errors.ts';
import {jsonIn} from '../../../ground/json.ts';
import {
  type EnvironmentFile,
  environmentFilesIn,
  environmentIn,
  propertiesIn,
} from '../../../ground/system/systemd.ts';
import {isMap, type Tree, type Values} from '../../../ground/tree.ts';
import {type Variable, variableIn} from '../../../ground/variable.ts';

/** One agent outside Kubernetes. */
export interface HostContainer {
  variables: Readonly<Record<string, string>>;
  /** Files whose variables take precedence over the others. */
  environmentFiles?: readonly EnvironmentFile[];
  image?: string;
  user?: string;
  cpus?: string;
  memory?: string;
  stopSeconds?: number;
  pull?: string;
  labels?: Readonly<Record<string, string>>;
  /** Directories and files of the machine, with absolute paths in the container. */
  mounts?: readonly {source: string; target: string}[];
  /** Options that no setting expresses. */
  unread?: readonly string[];
}

/** The configuration of agents on a machine. */
export interface HostConfiguration {
  source: 'docker inspect' | 'docker compose config' | 'systemctl show';
  target: HostTarget;
  agents: readonly HostContainer[];
}

/** Reads the output of `docker inspect`, `docker compose config` and `systemctl show`; undefined for everything else. Pure. @throws ExpectedError for a service that does not exist */
export function readHost(text: string): HostConfiguration | undefined {
  const json = jsonIn(text);
  if (json === undefined) return isShown(text) ? readService(text) : undefined;
  const inspected = readInspect(json);
  if (inspected.length > 0) return {source: 'docker inspect', target: 'docker', agents: inspected};
  const composed = readCompose(json);
  return composed.length > 0
    ? {source: 'docker compose config', target: 'compose', agents: composed}
    : undefined;
}

const COMPOSE = [
  'image',
  'environment',
  'user',
  'cpus',
  'mem_limit',
  'pull_policy',
  'stop_grace_period',
  'labels',
  'volumes',
];
/** Options of a service that pods do not need. */
const WITHOUT_MEANING = [
  ...'restart container_name hostname init tty stdin_open depends_on profiles build platform'.split(
    ' ',
  ),
  ...'logging expose command entrypoint networks'.split(' '),
];
/** Options of docker run with another value than the default. */
const INSPECT = [
  'Privileged',
  'CapAdd',
  'Dns',
  'ExtraHosts',
  'Devices',
  'Tmpfs',
  'Sysctls',
  'PidsLimit',
];

/** Properties of a service that change what the agent reads, or how much it may use. */
const SHOWN = 'PassEnvironment UnsetEnvironment LoadCredential MemoryMax CPUQuotaPerSecUSec'.split(
  ' ',
);

/** One property a line, among them the name or the variables of a service. */
const isShown = (text: string): boolean =>
  /^(Id=.*\.service|Environment=.*|EnvironmentFiles=.*)$/m.test(text) &&
  text.split('\n').every((line) => line === '' || /^\w+=/.test(line));

export const LIST_SERVICES = 'List services: systemctl list-units --all "scalr*"';

function readService(text: string): HostConfiguration {
  const facts = propertiesIn(text);
  const {Id = 'The service', LoadState = 'loaded', User} = facts;
  if (LoadState !== 'loaded')
    throw failed('AGENT_NOT_FOUND', `${Id} was not found (LoadState=${LoadState}).`, [
      LIST_SERVICES,
    ]);
  const agent: HostContainer = {
    variables: valuesOf(environmentIn(text)),
    environmentFiles: environmentFilesIn(text),
    unread: SHOWN.filter((name) => !/^(infinity)?$/.test(facts[name] ?? '')),
    ...filled({user: spelled(User)}),
  };
  return {source: 'systemctl show', target: 'systemd', agents: [agent]};
}

function readInspect(json: unknown): HostContainer[] {
  return [json].flat().flatMap((each) => {
    const {Config, HostConfig, Mounts} = mapOf(each);
    const config = mapOf(Config);
    const host = mapOf(HostConfig);
    return Array.isArray(config['Env']) ? [inspectedContainer(config, host, Mounts)] : [];
  });
}

function inspectedContainer(config: Values, host: Values, mounts: unknown): HostContainer {
  const cpus = Number(host['NanoCpus'] ?? 0);
  const memory = Number(host['Memory'] ?? 0);
  const {StopTimeout: stopSeconds} = config;
  return {
    variables: assignments(config['Env']),
    labels: textsByKey(config['Labels']),
    unread: INSPECT.filter((name) => isFilled(host[name])),
    mounts: itemsOf(mounts).flatMap((each) =>
      mountOf(mapOf(each)['Source'], mapOf(each)['Destination']),
    ),
    ...filled({
      image: spelled(config['Image']),
      user: spelled(config['User']),
      cpus: cpus > 0 ? String(cpus / 1e9) : undefined,
      memory: memory > 0 ? String(memory) : undefined,
      stopSeconds: typeof stopSeconds === 'number' ? stopSeconds : undefined,
    }),
  };
}

const readCompose = (json: unknown): HostContainer[] =>
  Object.values(mapOf(mapOf(json)['services']))
    .filter(isMap)
    .filter(({image}) => /agent/.test(String(image ?? '')))
    .map(composedContainer);

function composedContainer(service: Values): HostContainer {
  // Two dollar signs are one.
  const variables = Object.entries(textsByKey(service['environment'])).map(
    ([key, value]) => [key, value.replaceAll('$$', '$')] as const,
  );
  return {
    variables: Object.fromEntries(variables),
    labels: textsByKey(service['labels']),
    unread: Object.keys(service).filter(
      (name) =>
        !COMPOSE.includes(name) &&
        !WITHOUT_MEANING.includes(name) &&
        !name.startsWith('x-') &&
        isFilled(service[name]),
    ),
    mounts: itemsOf(service['volumes']).flatMap((volume) =>
      mountOf(mapOf(volume)['source'], mapOf(volume)['target']),
    ),
    ...filled({
      image: spelled(service['image']),
      user: spelled(service['user']),
      cpus: spelled(service['cpus']),
      memory: spelled(service['mem_limit']),
      pull: spelled(service['pull_policy']),
      stopSeconds: secondsOf(spelled(service['stop_grace_period']) ?? ''),
    }),
  };
}

const isFilled = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : value !== undefined && value !== null && value !== false && value !== 0;

const SECONDS: Readonly<Record<string, number>> = {h: 3600, m: 60, s: 1};

/** 1m30s as seconds. */
function secondsOf(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+)([hms])/g)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join('') === text;
  return isWhole
    ? parts.reduce((sum, [, number, unit = 's']) => sum + Number(number) * (SECONDS[unit] ?? 1), 0)
    : undefined;
}

const mapOf = (tree: unknown): Values => (isMap(tree) ? tree : {});
const itemsOf = (tree: unknown): readonly unknown[] => (Array.isArray(tree) ? tree : []);

const mountOf = (source: unknown, target: unknown): {source: string; target: string}[] =>
  typeof source === 'string' && typeof target === 'string'
    ? [{source, target: target.replace(/\/$/, '')}]
    : [];

/** `A=1` in a list. */
const assignments = (tree: unknown): Record<string, string> =>
  valuesOf(itemsOf(tree).flatMap((each) => variableIn(String(each)) ?? []));

export const valuesOf = (variables: readonly Variable[]): Record<string, string> =>
  Object.fromEntries(variables.map(({name, value}) => [name, value]));

/** Without keys that have no value. */
const textsByKey = (tree: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(mapOf(tree)).flatMap(([key, value]) =>
      value === null ? [] : [[key, String(value)]],
    ),
  );

const spelled = (tree: Tree | undefined): string | undefined =>
  tree === undefined || tree === null || tree === '' ? undefined : String(tree);

/** Leaves out what is undefined. */
const filled = <T extends object>(parts: T): {[K in keyof T]: Exclude<T[K], undefined>} =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
