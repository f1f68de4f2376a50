import findSocket from '../../../templates/export/docker/find-socket.sh';
import header from '../../../templates/export/docker/header.sh';
import startFunction from '../../../templates/export/docker/start.sh';
import type {Values} from '../../ground/tree.ts';
import {milliOf} from '../../settings/kinds/quantities.ts';
import {quote} from '../../settings/settings.ts';
import {type KeyComment, toYaml} from '../../values/document.ts';
import {type AgentInstance, type HostAgent, STANDARD_SOCKET} from './agent.ts';
import {RELEASE_LABEL} from './containers.ts';
import {ENV_FILE, EXPECT_TOKEN, REQUIRE_TOKEN} from './env-file.ts';
import {commonFiles, daemonProxy, type Export, fill, ignoreFile} from './files.ts';

const SCRIPT = 'run.sh';

/** A script with one `docker run` per agent. */
export function dockerFiles(host: HostAgent, origin: readonly string[]): Export {
  const files = [...commonFiles(host), ...daemonProxy(host, 'docker')];
  const script = {
    path: SCRIPT,
    text: scriptOf(host, origin),
    isPrivate: false,
    isExecutable: true as const,
  };
  return {
    files: [script, ...files, ignoreFile(files)],
    steps: [
      ...daemonSteps(host),
      `${host.files.some(({isOnMachine}) => isOnMachine) ? 'sudo ' : ''}sh ${SCRIPT}`,
      ...host.agents.map(({name}) => `docker logs --follow ${name}`),
    ],
  };
}

/** The drop-in takes effect after a restart of the daemon, which stops its containers: only if it differs from the installed one. */
export const daemonSteps = (host: HostAgent): string[] =>
  daemonProxy(host, 'docker').map(({path, isPrivate}) => {
    const installed = `/etc/systemd/system/${path}`;
    const install = `install -D -m ${isPrivate ? '0600' : '0644'} ${path} ${installed}`;
    return `sudo cmp -s ${path} ${installed} || sudo sh -c '${install} && systemctl daemon-reload && systemctl restart docker'`;
  });

/** A size as Docker reads it. */
function bytesOf(quantity: string): string {
  const bytes = (milliOf(quantity) ?? 0n) / 1000n;
  const mebibyte = 1024n * 1024n;
  return bytes % mebibyte === 0n ? `${bytes / mebibyte}m` : `${bytes}b`;
}

function scriptOf(host: HostAgent, origin: readonly string[]): string {
  const {agents, files, mode, name, stopSeconds} = host;
  const onMachine = files.filter(({isOnMachine}) => isOnMachine);
  const parts = [
    fill(header, {
      agents: agents.length === 1 ? 'the agent' : `${agents.length} agents`,
      origin: origin.map((line) => `# ${line}`).join('\n'),
    }),
    `${REQUIRE_TOKEN}\n`,
    mode === 'containers' ? fill(findSocket, {socket: STANDARD_SOCKET}) : '',
    ...onMachine.map(
      (file) =>
        `# Containers of runs mount it from the machine.\ninstall -D -m 0644 ${file.name} ${file.path}\n`,
    ),
    fill(startFunction, {
      label: RELEASE_LABEL,
      release: name,
      stop: stopSeconds === undefined ? '' : ` -t ${stopSeconds}`,
    }),
    ...agents.map((agent) => `${startLine(agent, host)}\n`),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** Mounted directories and files; `directory` contains the files of the export. */
const volumesOf = (
  {directories}: AgentInstance,
  {files}: HostAgent,
  directory: string,
): string[] => [
  ...directories.map((each) => `${each}:${each}`),
  ...files.map(
    ({name, path, isOnMachine}) => `${isOnMachine ? path : `${directory}/${name}`}:${path}:ro`,
  ),
];

type Option = readonly [flag: string, value: string];

/** The options of `docker create` with their values; `directory` contains the files of the export. */
function optionsOf(agent: AgentInstance, host: HostAgent, directory: string): Option[] {
  return [
    ['--restart', 'unless-stopped'],
    ...given('--pull', host.pull),
    ...given('--user', host.user),
    ...given('--cpus', host.cpus),
    ...given('--memory', host.memory === undefined ? undefined : bytesOf(host.memory)),
    ...given('--stop-timeout', host.stopSeconds),
    ['--env-file', `${directory}/${ENV_FILE}`],
    ...pairs('--env', {...host.environment, ...agent.environment}),
    // Unlike --volume, it does not create a directory if the socket is missing.
    ...given(
      '--mount',
      host.mode === 'containers'
        ? `type=bind,source=${host.socket},target=${STANDARD_SOCKET}`
        : undefined,
    ),
    ...volumesOf(agent, host, directory).map((volume): Option => ['--volume', volume]),
    ...pairs('--label', host.labels),
  ];
}

const given = (flag: string, value: string | number | undefined): Option[] =>
  value === undefined ? [] : [[flag, String(value)]];

const pairs = (flag: string, map: Readonly<Record<string, string>>): Option[] =>
  Object.entries(map).map(([name, value]) => [flag, `${name}=${value}`]);

/** Arguments of docker that create the container of an agent; what only the agent reads is copied into it (see agentArchive). */
export const createArguments = (
  agent: AgentInstance,
  host: HostAgent,
  directory: string,
): string[] => [
  'create',
  '--name',
  agent.name,
  ...optionsOf(
    agent,
    {...host, files: host.files.filter(({isOnMachine}) => isOnMachine)},
    directory,
  ).flat(),
  host.image,
  'run',
];

/** Its values are expanded by the shell. */
const SHELL_VALUE = /^\$PWD\/|=\$socket,/;

function startLine(agent: AgentInstance, host: HostAgent): string {
  const word = (value: string): string => (SHELL_VALUE.test(value) ? `"${value}"` : quote(value));
  const options = optionsOf(agent, {...host, socket: '$socket'}, '$PWD').map(
    ([flag, value = '']) => `${flag} ${word(value)}`,
  );
  return [
    `start ${agent.name} \\`,
    ...options.map((option) => `  ${option} \\`),
    `  ${host.image} run`,
  ].join('\n');
}

/** A Compose file without secrets, and the files that it refers to. */
export function composeFiles(host: HostAgent, origin: readonly string[]): Export {
  const files = [...commonFiles(host), ...daemonProxy(host, 'docker')];
  const services = Object.fromEntries(
    host.agents.map((agent) => [agent.name.replaceAll('.', '-'), serviceOf(agent, host)]),
  );
  const onMachine = host.files.filter(({isOnMachine}) => isOnMachine);
  const before = [
    ...daemonSteps(host),
    ...onMachine.map(({name, path}) => `sudo install -D -m 0644 ${name} ${path}`),
  ];
  const header = [
    `Scalr agents for Docker Compose. Secrets, such as SCALR_AGENT_TOKEN, are in ${ENV_FILE}.`,
    'To start the agents, run this in the directory of this file:',
    ...[...before, UP].map((step) => `  ${step}`),
    ...origin,
  ];
  const text = toYaml({services}, {header, comments: commentsOf(services, host)});
  const guard = host.secrets['SCALR_AGENT_TOKEN'] ? '' : `${EXPECT_TOKEN} && `;
  return {
    files: [{path: 'compose.yaml', text, isPrivate: false}, ...files, ignoreFile(files)],
    steps: [...before, `${guard}${UP}`, 'docker compose logs --follow'],
  };
}

const UP = 'docker compose up --detach';

/** What a reviewer of the file asks about. */
const commentsOf = (services: Values, {mode, stopSeconds}: HostAgent): KeyComment[] =>
  Object.keys(services).flatMap((name) => [
    ...(stopSeconds === undefined
      ? []
      : [{path: ['services', name, 'stop_grace_period'], text: TIME}]),
    ...(mode === 'containers' ? [{path: ['services', name, 'volumes'], text: SOCKET}] : []),
  ]);

const TIME = 'Time for runs to finish when the agent stops.';
const SOCKET =
  'The agent starts containers through the socket of Docker: whoever controls the agent is root on this machine.';

function serviceOf(agent: AgentInstance, host: HostAgent): Values {
  const volumes = [
    ...(host.mode === 'containers' ? [`${host.socket}:${STANDARD_SOCKET}`] : []),
    ...volumesOf(agent, host, '.'),
  ];
  return {
    image: host.image,
    container_name: agent.name,
    command: ['run'],
    restart: 'unless-stopped',
    ...(host.pull === undefined ? {} : {pull_policy: host.pull}),
    ...(host.user === undefined ? {} : {user: host.user}),
    ...(host.cpus === undefined ? {} : {cpus: Number(host.cpus)}),
    ...(host.memory === undefined ? {} : {mem_limit: bytesOf(host.memory)}),
    ...(host.stopSeconds === undefined ? {} : {stop_grace_period: `${host.stopSeconds}s`}),
    env_file: [ENV_FILE],
    ...maps('environment', {...host.environment, ...agent.environment}),
    ...(volumes.length === 0 ? {} : {volumes: volumes.map(literal)}),
    ...maps('labels', host.labels),
  };
}

/** Compose replaces variables after a dollar sign. */
const literal = (text: string): string => text.replaceAll('$', '$$$$');

const maps = (key: string, map: Readonly<Record<string, string>>): Values =>
  Object.keys(map).length === 0
    ? {}
    : {
        [key]: Object.fromEntries(
          Object.entries(map).map(([name, value]) => [name, literal(value)]),
        ),
      };
