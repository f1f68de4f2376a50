import {type ContainerFacts, dockerFindings} from '../../../checks/diagnose/host-findings.ts';
import {onFailure} from '../../../ground/errors.ts';
import {type Fields, isFields, isListOf, jsonText, readJson} from '../../../ground/json.ts';
import {refusal} from '../../../ground/system/host-refusal.ts';
import type {Files, HostCall, HostTools} from '../../../ground/system/system.ts';
import {type Variable, variableIn} from '../../../ground/variable.ts';

import {knownSecretsOfVariables, knownSecretsOfWords, looksSecret} from '../redact/find-secrets.ts';
import type {Gap} from './gap.ts';
import type {LogItem, Since} from './log-items.ts';
import type {PreparedBundle} from './prepare.ts';
import type {HideIn, TextFile} from './read-objects.ts';

interface Inspected extends ContainerFacts {
  Name: string;
  Args?: readonly string[] | null;
  Config?: {
    Env?: readonly string[] | null;
    Hostname?: string;
    Cmd?: readonly string[] | null;
    Entrypoint?: readonly string[] | null;
  };
}

const INSPECT = 'docker/inspect.json';
/** Fields of `docker info` about running containers; the rest is about registries, swarms and plugins. */
const INFO = (
  'ServerVersion OperatingSystem OSType Architecture KernelVersion NCPU MemTotal Driver LoggingDriver CgroupDriver CgroupVersion ' +
  'SecurityOptions HttpProxy HttpsProxy NoProxy MemoryLimit OomKillDisable LiveRestoreEnabled ContainersRunning Warnings'
).split(' ');

/** Reads the container of an agent. @throws ExpectedError if it cannot be read */
export async function prepareDocker(
  container: string,
  {since}: HostBundleOptions,
  deps: HostDeps,
): Promise<PreparedBundle> {
  const {host, signal} = deps;
  const inspected = await inspectContainer(container, deps);
  const name = inspected.Name.replace(/^\//, '');
  const {Env, Cmd, Entrypoint} = inspected.Config ?? {};
  const variables = (Env ?? []).flatMap((each) => variableIn(each) ?? []);
  const [calls, system, account] = await Promise.all([
    readCommandTexts(DOCKER_CALLS, deps),
    readSystem(deps),
    deps.readAccount?.(agentIn(name, inspected, variables)) ?? {texts: [], gaps: []},
  ]);
  return {
    name,
    about: `container ${name}`,
    releases: [],
    scope: {objects: [], pods: []},
    texts: (hideIn) => [
      {name: INSPECT, text: jsonText(withoutSecretVariables(inspected, hideIn(INSPECT)))},
      ...[calls.texts, system, account.texts].flat(),
    ],
    logs: [hostLog('docker', name)],
    knownSecrets: [
      ...knownSecretsOfVariables(variables),
      ...[inspected.Args, Cmd, Entrypoint].flatMap((args) => knownSecretsOfWords(args ?? [])),
    ],
    gaps: [...calls.gaps, ...account.gaps],
    findings: (logs, now) => dockerFindings(name, inspected, logs, now),
    api: {stream: (path) => host.stream(logsOf(path, since), {signal, isLogOnBoth: true})},
  };
}

const DOCKER_CALLS: readonly TextCall[] = [
  {
    name: 'docker/version.json',
    call: {tool: 'docker', args: ['version', '--format', '{{json .}}']},
    shape: (version) => version,
  },
  {
    name: 'docker/info.json',
    call: {tool: 'docker', args: ['info', '--format', '{{json .}}']},
    shape: (info) => Object.fromEntries(INFO.map((key) => [key, info[key]])),
  },
];

/** @throws ExpectedError if the container cannot be read */
async function inspectContainer(container: string, {host, signal}: HostDeps): Promise<Inspected> {
  const args = ['inspect', '--type', 'container', '--', container];
  const {stdout, error} = await host.run({tool: 'docker', args}, {signal});
  if (error)
    throw refusal(`Cannot read container ${container}`, error, [
      ...(error.isToolMissing
        ? ['On a VM, add the docker of the agent to PATH: /opt/scalr-agent/embedded/bin']
        : []),
      'For an agent that runs as a systemd service: scalr-agent-install collect-logs --target systemd',
    ]);
  const isOneContainer = (value: unknown): value is [Inspected] =>
    isListOf('Name')(value) && value.length === 1;
  const answer = readJson('docker', stdout, isOneContainer);
  if (answer.error)
    throw refusal(`Cannot read container ${container}: docker inspect`, answer.error, [
      `Check the output: docker inspect --type container -- ${container}`,
    ]);
  return answer.value[0];
}

function agentIn(
  name: string,
  {Config}: Inspected,
  variables: readonly Variable[],
): AgentsInAccount {
  const variableNamed = (variable: string): string | undefined =>
    variables.find((each) => each.name === variable)?.value;
  return {
    name,
    address: variableNamed('SCALR_URL'),
    agents: [variableNamed('SCALR_AGENT_NAME') ?? Config?.Hostname ?? ''],
  };
}

/** The agent uses both standard output and standard error, and docker keeps both. */
const logsOf = (container: string, since: Since): HostCall => ({
  tool: 'docker',
  args: [
    'logs',
    '--timestamps',
    ...(since === undefined
      ? []
      : ['--since', 'seconds' in since ? `${since.seconds}s` : since.time]),
    '--',
    container,
  ],
});

function withoutSecretVariables(
  {Config, ...inspected}: Inspected,
  hide: ReturnType<HideIn>,
): object {
  const shown = (text: string): string => {
    const variable = variableIn(text);
    return variable && looksSecret(variable) ? `${variable.name}=${hide(variable.value)}` : text;
  };
  return {
    ...inspected,
    ...(Config ? {Config: {...Config, ...(Config.Env ? {Env: Config.Env.map(shown)} : {})}} : {}),
  };
}

export interface HostBundleOptions {
  since: Since;
  now: Date;
}

export interface HostDeps {
  host: HostTools;
  files: Pick<Files, 'read' | 'kindOf'>;
  signal: AbortSignal;
  /** What the Scalr account shows of the agent in a container; absent with --no-account. */
  readAccount?(agent: AgentsInAccount): Promise<{texts: TextFile[]; gaps: Gap[]}>;
}

/** Agents of one pool, as an account is asked about them. */
export interface AgentsInAccount {
  /** Of the file in the bundle. */
  name: string;
  /** Of Scalr, if it is known. */
  address: string | undefined;
  /** Their names in Scalr. */
  agents: readonly string[];
}

/** One log of this machine; `path` is its name in the source. */
export const hostLog = (source: 'docker' | 'journal', name: string): LogItem => ({
  file: `logs/${source}/${name}.log`,
  pod: source,
  container: name,
  isPrevious: false,
  path: name,
});

interface TextCall {
  name: string;
  call: HostCall;
  /** Expected shape of a JSON result. */
  shape?(value: Fields): Fields;
}

/** Results of small calls, one file each; failures are gaps. */
export async function readCommandTexts(
  calls: readonly TextCall[],
  {host, signal}: HostDeps,
): Promise<{texts: TextFile[]; gaps: Gap[]}> {
  const read = await Promise.all(
    calls.map(async ({name, call, shape}) => {
      const {stdout, error} = await host.run(call, {signal});
      const answer = shape && readJson(call.tool, stdout, isFields);
      // A failed tool may have printed output before.
      const failed = error ?? answer?.error;
      const shaped = answer === undefined || answer.error ? '' : jsonText(shape?.(answer.value));
      const text = answer === undefined ? stdout : shaped;
      return {
        texts: text === '' ? [] : [{name, text}],
        gaps: failed ? [{what: name, error: failed}] : [],
      };
    }),
  );
  return {texts: read.flatMap(({texts}) => texts), gaps: read.flatMap(({gaps}) => gaps)};
}

export async function readSystem({files}: Pick<HostDeps, 'files'>): Promise<TextFile[]> {
  // Not available on every system.
  const release = await files.read('/etc/os-release').catch(onFailure(() => undefined));
  return release === undefined
    ? []
    : [{name: 'host/os-release.txt', text: release.toString('utf8')}];
}
