import {type ContainerFacts, dockerFindings} from '../../diagnose/host-findings.ts';
import {type Fields, isListOf, jsonText, readJson} from '../../ground/json.ts';
import {refusal} from '../../ground/tool-errors.ts';
import type {HostCall} from '../../ports/processes.ts';
import {knownSecretsOfVariables, knownSecretsOfWords, looksSecret, variableIn} from '../../redact/find-secrets.ts';
import {type HostBundleOptions, type HostDeps, type HostPrepared, hostLog, readCommandTexts, readSystem} from './host.ts';
import type {Since} from './log-items.ts';
import type {HideIn} from './object-files.ts';

interface Inspected extends ContainerFacts {
  Name: string;
  Args?: readonly string[] | null;
  Config?: {Env?: readonly string[] | null; Cmd?: readonly string[] | null; Entrypoint?: readonly string[] | null};
}

const INSPECT = 'docker/inspect.json';
/** Fields of `docker info` about running containers; the rest is about registries, swarms and plugins. */
const INFO = (
  'ServerVersion OperatingSystem OSType Architecture KernelVersion NCPU MemTotal Driver LoggingDriver CgroupDriver CgroupVersion ' +
  'SecurityOptions HttpProxy HttpsProxy NoProxy MemoryLimit OomKillDisable LiveRestoreEnabled ContainersRunning Warnings'
).split(' ');

/** Reads the container of an agent. @throws ExpectedError if it cannot be read */
export async function prepareDocker(container: string, {since}: HostBundleOptions, deps: HostDeps): Promise<HostPrepared> {
  const {host, signal} = deps;
  const {stdout, error} = await host.run({tool: 'docker', args: ['inspect', '--type', 'container', '--', container]}, {signal});
  if (error)
    throw refusal(`Cannot read container ${container}`, error, [
      ...(error.isToolMissing ? ['On a VM, add the docker of the agent to PATH: /opt/scalr-agent/embedded/bin'] : []),
      ...(/daemon/.test(error.message) ? ['Start Docker: systemctl start docker'] : []),
      'For an agent that runs as a systemd service: scalr-agent-install collect-logs --journal',
    ]);
  const answer = readJson('docker', stdout, isInspected);
  if (answer.error)
    throw refusal(`Cannot read container ${container}: docker inspect`, answer.error, [
      `Check the output: docker inspect --type container -- ${container}`,
    ]);
  const [inspected] = answer.value;
  const name = inspected.Name.replace(/^\//, '');
  const [calls, system] = await Promise.all([
    readCommandTexts(
      [
        {name: 'docker/version.json', call: {tool: 'docker', args: ['version', '--format', '{{json .}}']}, shape: (version) => version},
        {name: 'docker/info.json', call: {tool: 'docker', args: ['info', '--format', '{{json .}}']}, shape: infoOf},
      ],
      deps,
    ),
    readSystem(deps),
  ]);
  const {Env, Cmd, Entrypoint} = inspected.Config ?? {};
  const variables = (Env ?? []).flatMap((each) => variableIn(each) ?? []);
  return {
    name,
    about: `container ${name}`,
    releases: [],
    scope: {objects: [], pods: []},
    texts: (hideIn) => [{name: INSPECT, text: jsonText(withoutSecretVariables(inspected, hideIn(INSPECT)))}, ...calls.texts, ...system],
    logs: [hostLog('docker', name)],
    knownSecrets: [
      ...knownSecretsOfVariables(variables),
      ...[inspected.Args, Cmd, Entrypoint].flatMap((args) => knownSecretsOfWords(args ?? [])),
    ],
    gaps: calls.gaps,
    findings: (logs, now) => dockerFindings(name, inspected, logs, now),
    api: {stream: (path) => host.stream(logsOf(path, since), {signal, isLogOnBoth: true})},
  };
}

const isInspected = (value: unknown): value is [Inspected] => isListOf('Name')(value) && value.length === 1;

/** The agent uses both standard output and standard error, and docker keeps both. */
const logsOf = (container: string, since: Since): HostCall => ({
  tool: 'docker',
  args: [
    ...['logs', '--timestamps'],
    ...(since === undefined ? [] : ['--since', 'seconds' in since ? `${since.seconds}s` : since.time]),
    ...['--', container],
  ],
});

function withoutSecretVariables({Config, ...inspected}: Inspected, hide: ReturnType<HideIn>): object {
  const shown = (text: string): string => {
    const variable = variableIn(text);
    return variable && looksSecret(variable) ? `${variable.name}=${hide(variable.value)}` : text;
  };
  return {...inspected, ...(Config ? {Config: {...Config, ...(Config.Env ? {Env: Config.Env.map(shown)} : {})}} : {})};
}

const infoOf = (info: Fields): Fields => Object.fromEntries(INFO.map((key) => [key, info[key]]));
