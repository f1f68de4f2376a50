import type {Values} from '../ground/tree.ts';
import {toYaml} from '../values/yaml.ts';
import {type AgentInstance, type HostAgent, STANDARD_SOCKET} from './agent.ts';
import {bytesOf, daemonSteps} from './docker.ts';
import {commonFiles, daemonProxy, ENV_FILE, type Export, ignoreFile} from './files.ts';

/** A Compose file without secrets, and the files that it refers to. */
export function composeFiles(host: HostAgent): Export {
  const files = [...commonFiles(host), ...daemonProxy(host, 'docker')];
  const services = Object.fromEntries(host.agents.map((agent) => [agent.name.replaceAll('.', '-'), serviceOf(agent, host)]));
  const header = [`Agents of Scalr in Docker Compose. Contains no secrets: they are in ${ENV_FILE}.`];
  const compose = {path: 'compose.yaml', text: toYaml({services}, {header}), isPrivate: false};
  const onMachine = host.files.filter(({isOnMachine}) => isOnMachine);
  return {
    files: [compose, ...files, ignoreFile(files)],
    steps: [
      ...daemonSteps(host),
      ...onMachine.map(({name, path}) => `sudo install -D -m 0644 ${name} ${path}`),
      'docker compose up --detach',
      'docker compose logs --follow',
    ],
  };
}

function serviceOf(agent: AgentInstance, host: HostAgent): Values {
  const volumes = [
    ...(host.mode === 'containers' ? [`${host.socket}:${STANDARD_SOCKET}`] : []),
    ...agent.directories.map((directory) => `${directory}:${directory}`),
    ...host.files.map(({name, path, isOnMachine}) => `${isOnMachine ? path : `./${name}`}:${path}:ro`),
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
  Object.keys(map).length === 0 ? {} : {[key]: Object.fromEntries(Object.entries(map).map(([name, value]) => [name, literal(value)]))};
