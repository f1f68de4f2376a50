import {milliOf} from '../settings/quantity.ts';
import {quote} from '../settings/settings.ts';
import {type AgentInstance, type HostAgent, RELEASE_LABEL} from './host/agent.ts';
import {commonFiles, daemonProxy, ENV_FILE, type Export, ignoreFile} from './host/files.ts';

const SCRIPT = 'run.sh';

/** A script with one `docker run` per agent. */
export function dockerFiles(host: HostAgent): Export {
  const files = [...commonFiles(host), ...daemonProxy(host, 'docker')];
  const script = {path: SCRIPT, text: scriptOf(host), isPrivate: false, isExecutable: true as const};
  return {
    files: [script, ...files, ignoreFile(files)],
    steps: [
      ...daemonSteps(host),
      `${host.files.some(({isOnMachine}) => isOnMachine) ? 'sudo ' : ''}sh ${SCRIPT}`,
      ...host.agents.map(({name}) => `docker logs --follow ${name}`),
    ],
  };
}

/** The drop-in takes effect after a restart of the daemon. */
export const daemonSteps = (host: HostAgent): string[] =>
  daemonProxy(host, 'docker').flatMap(({path, isPrivate}) => [
    `sudo install -D -m ${isPrivate ? '0600' : '0644'} ${path} /etc/systemd/system/${path}`,
    'sudo systemctl daemon-reload',
    'sudo systemctl restart docker',
  ]);

/** A size as Docker reads it. */
export function bytesOf(quantity: string): string {
  const bytes = (milliOf(quantity) ?? 0n) / 1000n;
  const mebibyte = 1024n * 1024n;
  return bytes % mebibyte === 0n ? `${bytes / mebibyte}m` : `${bytes}b`;
}

function scriptOf(host: HostAgent): string {
  const onMachine = host.files.filter(({isOnMachine}) => isOnMachine);
  return `${[
    '#!/bin/sh',
    `# Starts ${host.agents.length === 1 ? 'the agent' : `${host.agents.length} agents`}. Variables with secrets are in ${ENV_FILE}.`,
    'set -eu',
    'cd "$(dirname "$0")"',
    '',
    ...onMachine.flatMap(({name, path}) => ['# Containers of runs mount it from the machine.', `install -D -m 0644 ${name} ${path}`, '']),
    '# Stops and removes a container of an earlier version of this script.',
    'replace() {',
    `  owner=$(docker container inspect --format '{{index .Config.Labels "${RELEASE_LABEL}"}}' "$1" 2>/dev/null) || return 0`,
    `  [ "$owner" = ${host.name} ] || { echo "A container $1 exists, and this script did not start it." >&2; exit 1; }`,
    '  docker stop "$1" >/dev/null',
    '  docker rm "$1" >/dev/null',
    '}',
    '',
    ...host.agents.flatMap((agent) => [`replace ${agent.name}`, runLine(agent, host), '']),
  ]
    .join('\n')
    .trimEnd()}\n`;
}

type Option = readonly [flag: string] | readonly [flag: string, value: string];

/** The options of `docker run` with their values; `directory` contains the files of the export. */
function optionsOf(agent: AgentInstance, host: HostAgent, directory: string): Option[] {
  const mounts = [
    ...(host.mode === 'containers' ? ['/var/run/docker.sock:/var/run/docker.sock'] : []),
    ...agent.directories.map((each) => `${each}:${each}`),
    ...host.files.map(({name, path, isOnMachine}) => `${isOnMachine ? path : `${directory}/${name}`}:${path}:ro`),
  ];
  return [
    ['--detach'],
    ['--name', agent.name],
    ['--restart', 'unless-stopped'],
    ...given('--pull', host.pull),
    ...given('--user', host.user),
    ...given('--cpus', host.cpus),
    ...given('--memory', host.memory === undefined ? undefined : bytesOf(host.memory)),
    ...given('--stop-timeout', host.stopSeconds),
    ['--env-file', `${directory}/${ENV_FILE}`],
    ...pairs('--env', {...host.environment, ...agent.environment}),
    ...mounts.map((mount): Option => ['--volume', mount]),
    ...pairs('--label', host.labels),
  ];
}

const given = (flag: string, value: string | number | undefined): Option[] => (value === undefined ? [] : [[flag, String(value)]]);

const pairs = (flag: string, map: Readonly<Record<string, string>>): Option[] =>
  Object.entries(map).map(([name, value]) => [flag, `${name}=${value}`]);

/** Arguments of docker that start an agent with the files of an export in `directory`. */
export const runArguments = (agent: AgentInstance, host: HostAgent, directory: string): string[] => [
  'run',
  ...optionsOf(agent, host, directory).flat(),
  host.image,
  'run',
];

function runLine(agent: AgentInstance, host: HostAgent): string {
  // The shell expands $PWD.
  const word = (value: string): string => (value.startsWith('$PWD/') ? `"${value}"` : quote(value));
  const options = optionsOf(agent, host, '$PWD').map(([flag, value]) => (value === undefined ? flag : `${flag} ${word(value)}`));
  return ['docker run \\', ...options.map((option) => `  ${option} \\`), `  ${host.image} run`].join('\n');
}
