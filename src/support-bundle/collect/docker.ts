import type {HostCall} from '../../ports/host-tools.ts';
import {type ContainerFacts, dockerFindings} from '../findings/docker-findings.ts';
import {type Fields, isListOf, jsonText, readJson} from '../json.ts';
import {looksSecret, seedsOfVariables, seedsOfWords, variableIn} from '../redact/find-secrets.ts';
import {type HostDeps, type HostOptions, type HostPrepared, hostLog, readSystem, readTexts, refusal} from './host.ts';
import type {Since} from './log-items.ts';
import type {HideIn} from './object-files.ts';

interface Inspected extends ContainerFacts {
  Name: string;
  Args?: readonly string[] | null;
  Config?: {Env?: readonly string[] | null; Cmd?: readonly string[] | null; Entrypoint?: readonly string[] | null};
}

const INSPECT = 'docker/inspect.json';
/** Of `docker info` what says how containers run; the rest is about registries, swarms and plugins of everybody. */
const INFO = (
  'ServerVersion OperatingSystem OSType Architecture KernelVersion NCPU MemTotal Driver LoggingDriver CgroupDriver CgroupVersion ' +
  'SecurityOptions HttpProxy HttpsProxy NoProxy MemoryLimit OomKillDisable LiveRestoreEnabled ContainersRunning Warnings'
).split(' ');

/** What docker knows of the container of an agent. @throws ExpectedError when it cannot be read at all */
export async function prepareDocker(container: string, {since}: HostOptions, world: HostDeps): Promise<HostPrepared> {
  const {host, over} = world;
  const {stdout, trouble} = await host.run({tool: 'docker', args: ['inspect', '--type', 'container', '--', container]}, {over});
  if (trouble)
    throw refusal(`Container ${container} cannot be read`, trouble, [
      ...(trouble.isToolMissing ? ['On a VM the agent brings docker in /opt/scalr-agent/embedded/bin: put it on PATH'] : []),
      'For an agent that runs as a service of systemd: scalr-agent collect-logs --journal',
    ]);
  const answer = readJson('docker', stdout, isInspected);
  if (answer.trouble)
    throw refusal(`Container ${container} cannot be read: docker inspect`, answer.trouble, [
      `See what it says: docker inspect --type container -- ${container}`,
    ]);
  const [inspected] = answer.value;
  const name = inspected.Name.replace(/^\//, '');
  const [asked, system] = await Promise.all([
    readTexts(
      [
        {name: 'docker/version.json', call: {tool: 'docker', args: ['version', '--format', '{{json .}}']}, shape: (version) => version},
        {name: 'docker/info.json', call: {tool: 'docker', args: ['info', '--format', '{{json .}}']}, shape: infoOf},
      ],
      world,
    ),
    readSystem(world),
  ]);
  const {Env, Cmd, Entrypoint} = inspected.Config ?? {};
  const variables = (Env ?? []).flatMap((each) => variableIn(each) ?? []);
  return {
    name,
    about: `container ${name}`,
    releases: [],
    scope: {objects: [], pods: []},
    texts: (hideIn) => [{name: INSPECT, text: jsonText(withoutSecretVariables(inspected, hideIn(INSPECT)))}, ...asked.texts, ...system],
    logs: [hostLog('docker', name)],
    seeds: [...seedsOfVariables(variables), ...[inspected.Args, Cmd, Entrypoint].flatMap((words) => seedsOfWords(words ?? []))],
    gaps: asked.gaps,
    findings: (logs, now) => dockerFindings(name, inspected, logs, now),
    api: {stream: (path) => host.stream(logsOf(path, since), {over, isLogOnBoth: true})},
  };
}

const isInspected = (value: unknown): value is [Inspected] => isListOf('Name')(value) && value.length === 1;

/** The agent says some on one output and some on the other, and docker keeps both. */
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
