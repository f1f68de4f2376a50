import type {HostTarget} from '../../charts/host/host.ts';
import {jsonIn} from '../../ground/tool-errors.ts';
import {isMap, type Tree, type Values} from '../../ground/tree.ts';
import {readSource} from '../../values/validate/source.ts';
import {readCommand} from './pasted-command.ts';

/** One agent outside Kubernetes. */
export interface HostContainer {
  variables: Readonly<Record<string, string>>;
  /** Files with more variables. */
  environmentFiles: readonly string[];
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
  source: 'environment file' | 'docker inspect' | 'docker run' | 'Compose file' | 'systemd unit';
  target: HostTarget;
  agents: readonly HostContainer[];
}

/** Reads a docker run command, the output of docker inspect, a Compose file, a systemd unit or an environment file; undefined for everything else. Pure. */
export function readHost(text: string): HostConfiguration | undefined {
  const pasted = readDockerRun(text);
  if (pasted) return {source: 'docker run', target: 'docker', agents: [pasted]};
  const inspected = readInspect(text);
  if (inspected.length > 0) return {source: 'docker inspect', target: 'docker', agents: inspected};
  if (/^\[Service\]\s*$/m.test(text))
    return {source: 'systemd unit', target: 'systemd', agents: [readUnit(text)]};
  const variables = readVariables(text);
  if (variables)
    return {
      source: 'environment file',
      target: 'docker',
      agents: [{variables, environmentFiles: []}],
    };
  const composed = readCompose(text);
  return composed.length > 0
    ? {source: 'Compose file', target: 'compose', agents: composed}
    : undefined;
}

/** Options that pods do not need. */
const WITHOUT_MEANING = [
  // Compose
  ...'restart container_name hostname init tty stdin_open depends_on profiles build platform logging expose'.split(
    ' ',
  ),
  // systemd.service(5) and systemd.exec(5)
  ...'Type Restart RestartSec RemainAfterExit PIDFile SyslogIdentifier StandardOutput StandardError KillMode KillSignal'.split(
    ' ',
  ),
];

const unreadIn = (names: readonly string[], read: readonly string[]): string[] =>
  names.filter(
    (name) =>
      !read.includes(name) && !WITHOUT_MEANING.includes(name) && !/^Exec[A-Z]|^x-/.test(name),
  );

const COMPOSE = [
  'image',
  'environment',
  'env_file',
  'user',
  'cpus',
  'mem_limit',
  'pull_policy',
  'stop_grace_period',
  'labels',
  'volumes',
];
const UNIT = ['Environment', 'EnvironmentFile', 'User', 'Group', 'TimeoutStopSec'];
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

const isFilled = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : value !== undefined && value !== null && value !== false && value !== 0;

/** 90, 1m30s or `1min 30s` as seconds. */
function secondsOf(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+)\s*(h|min|m|s|)(?![a-z])/g)];
  const isWhole =
    parts.length > 0 &&
    parts.map(([part]) => part).join('').length === text.replaceAll(/\s+(?=\d)/g, '').length;
  return isWhole
    ? parts.reduce(
        (sum, [, number, unit]) =>
          sum + Number(number) * (unit === 'h' ? 3600 : unit?.startsWith('m') ? 60 : 1),
        0,
      )
    : undefined;
}

const mapOf = (tree: unknown): Values => (isMap(tree) ? tree : {});
const textsOf = (tree: unknown): string[] =>
  Array.isArray(tree) ? tree.filter((each) => typeof each === 'string') : [];

const itemsOf = (tree: unknown): readonly unknown[] => (Array.isArray(tree) ? tree : []);

const mountOf = (source: unknown, target: unknown): {source: string; target: string}[] =>
  typeof source === 'string' && typeof target === 'string'
    ? [{source, target: target.replace(/\/$/, '')}]
    : [];

/** `A=1` in a list. */
const assignments = (texts: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    texts
      .filter((each) => each.includes('='))
      .map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  );

const labelsOf = (tree: unknown): Record<string, string> =>
  Array.isArray(tree)
    ? assignments(textsOf(tree))
    : Object.fromEntries(Object.entries(mapOf(tree)).map(([key, value]) => [key, String(value)]));

/** Leaves out what is empty. */
const filled = <T extends object>(parts: T): {[K in keyof T]: Exclude<T[K], undefined>} =>
  Object.fromEntries(
    Object.entries(parts).filter(([, value]) => value !== undefined && value !== ''),
  ) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

const READ_OPTIONS =
  /^(-[euvmlditPhp]+|--(env|env-file|user|volume|memory|cpus|stop-timeout|pull|label|name|restart|hostname|detach|interactive|tty|rm|init|quiet|publish|log-.*|platform))$/;

/** A pasted `docker run`: its words are `run` and the image. */
function readDockerRun(text: string): HostContainer | undefined {
  const {words: [verb, image] = [], valuesOf, options = []} = readCommand(text, 'docker', 2) ?? {};
  if (verb !== 'run' || valuesOf === undefined) return undefined;
  const last = (...names: string[]): string | undefined => valuesOf(...names).at(-1);
  return {
    variables: assignments(valuesOf('-e', '--env')),
    environmentFiles: valuesOf('--env-file'),
    labels: assignments(valuesOf('-l', '--label')),
    unread: options.filter((name) => !READ_OPTIONS.test(name)),
    mounts: valuesOf('-v', '--volume').flatMap((volume) =>
      mountOf(...(volume.split(':') as [string, string])),
    ),
    ...filled({
      image,
      user: last('-u', '--user'),
      cpus: last('--cpus'),
      memory: last('-m', '--memory'),
      pull: last('--pull'),
      stopSeconds: secondsOf(last('--stop-timeout') ?? ''),
    }),
  } as HostContainer;
}

function readInspect(text: string): HostContainer[] {
  return [jsonIn(text)].flat().flatMap((each) => {
    const {Config, HostConfig} = mapOf(each);
    const config = mapOf(Config);
    const host = mapOf(HostConfig);
    if (!Array.isArray(config['Env'])) return [];
    const cpus = Number(host['NanoCpus'] ?? 0);
    const memory = Number(host['Memory'] ?? 0);
    return [
      {
        variables: assignments(textsOf(config['Env'])),
        environmentFiles: [],
        labels: labelsOf(config['Labels']),
        unread: INSPECT.filter((name) => isFilled(host[name])),
        mounts: itemsOf(mapOf(each)['Mounts']).flatMap((mount) =>
          mountOf(mapOf(mount)['Source'], mapOf(mount)['Destination']),
        ),
        ...filled({
          image: String(config['Image'] ?? ''),
          user: String(config['User'] ?? ''),
          cpus: cpus > 0 ? String(cpus / 1e9) : undefined,
          memory: memory > 0 ? String(memory) : undefined,
          stopSeconds:
            typeof config['StopTimeout'] === 'number' ? config['StopTimeout'] : undefined,
        }),
      } as HostContainer,
    ];
  });
}

function readCompose(text: string): HostContainer[] {
  const services = Object.values(mapOf(readSource(text).source?.values['services'])).filter(isMap);
  return services
    .filter((service) => /agent/.test(String(service['image'] ?? '')))
    .map((service) => {
      const {environment} = service;
      const variables = Array.isArray(environment)
        ? assignments(textsOf(environment))
        : labelsOf(environment);
      // Two dollar signs are one.
      const plain = Object.fromEntries(
        Object.entries(variables).map(([key, value]) => [key, value.replaceAll('$$', '$')]),
      );
      return {
        variables: plain,
        environmentFiles:
          typeof service['env_file'] === 'string'
            ? [service['env_file']]
            : textsOf(service['env_file']),
        labels: labelsOf(service['labels']),
        unread: unreadIn(Object.keys(service), COMPOSE),
        mounts: itemsOf(service['volumes']).flatMap((volume) => {
          const [source, path] = typeof volume === 'string' ? volume.split(':') : [];
          return isMap(volume)
            ? mountOf(volume['source'], volume['target'])
            : mountOf(source, path);
        }),
        ...filled({
          image: spelled(service['image']),
          user: spelled(service['user']),
          cpus: spelled(service['cpus']),
          memory: spelled(service['mem_limit']),
          pull: spelled(service['pull_policy']),
          stopSeconds: secondsOf(String(service['stop_grace_period'] ?? '')),
        }),
      } as HostContainer;
    });
}

const spelled = (tree: Tree | undefined): string | undefined =>
  tree === undefined || tree === null ? undefined : String(tree);

function readUnit(text: string): HostContainer {
  // A backslash at the end continues the line.
  const lines = text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/);
  const valuesOf = (key: string): string[] =>
    lines.flatMap((line) => {
      const [, name, value = ''] = /^(\w+)\s*=\s*(.*)$/.exec(line.trim()) ?? [];
      return name === key ? [value] : [];
    });
  // An empty assignment discards the earlier ones.
  const listOf = (key: string): string[] => valuesOf(key).slice(valuesOf(key).lastIndexOf('') + 1);
  return {
    variables: Object.assign(
      {},
      ...listOf('Environment').map((value) => assignments(unquoteWords(value))),
    ),
    environmentFiles: listOf('EnvironmentFile').map((path) =>
      path.replace(/^-/, '').replace(/^"(.*)"$/, '$1'),
    ),
    unread: unreadIn(optionsOf(text), UNIT),
    ...filled({
      user: valuesOf('User').at(-1),
      stopSeconds: secondsOf(valuesOf('TimeoutStopSec').at(-1) ?? ''),
    }),
  };
}

/** The names of the options in the section of the service. */
function optionsOf(text: string): string[] {
  const section = /^\[Service\]\s*$([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(text)?.[1] ?? '';
  return [
    ...new Set([...section.matchAll(/^([A-Z]\w*)\s*=/gm)].map((match) => match[1] as string)),
  ];
}

/** The words of Environment=, where % starts a specifier. */
const unquoteWords = (line: string): string[] =>
  [...line.matchAll(/"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(\S+)/g)].map(
    ([, double, single, plain]) =>
      (double ?? single ?? plain ?? '').replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%'),
  );

/** The variables of an environment file; undefined if it contains other lines. */
export function readVariables(text: string): Record<string, string> | undefined {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const found = lines.map((line) => /^(?:export\s+)?([A-Za-z_]\w*)=(.*)$/.exec(line));
  if (found.length === 0 || found.includes(null)) return undefined;
  return Object.fromEntries(
    found.map((match) => [match?.[1] as string, unquote(match?.[2] ?? '')]),
  );
}

function unquote(text: string): string {
  if (/^'[^']*'$/.test(text)) return text.slice(1, -1);
  return /^"(?:[^"\\]|\\.)*"$/.test(text)
    ? text.slice(1, -1).replaceAll(/\\(["\\$`])/g, '$1')
    : text;
}
