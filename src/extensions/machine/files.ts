import {dirname} from 'node:path/posix';
import {createTar} from 'nanotar';
import {Secret} from '../../ground/secret.ts';
import type {HostAgent} from './agent.ts';
import {ENV_FILE, REQUIRE_TOKEN} from './env-file.ts';

/** It gets the lines that it lacks; it remains unchanged; or the new text contains what its owner has added. */
export type Existing = 'appended' | 'kept' | 'merged';

/** A file of an export, by its path below the directory. */
export interface ExportedFile {
  path: string;
  text: string;
  /** Readable only by its owner; must not be committed. */
  isPrivate: boolean;
  isExecutable?: true;
  /** What happens to a file that exists already. By default, it is replaced. */
  existing?: Existing;
}

/** Files, and the commands that use them. */
export interface Export {
  files: ExportedFile[];
  /** Commands to run in the directory of the files. */
  steps: string[];
}

/** Replaces @name@ in a text of templates/export. @throws Error for an unknown name */
export const fill = (text: string, words: Readonly<Record<string, string>>): string =>
  text.replaceAll(/@([a-z]+)@/gi, (_, name: string) => {
    if (words[name] === undefined) throw new Error(`templates/export: unknown word ${name}`);
    return words[name];
  });

/** The files that every host has: variables with secrets, certificates, and a list of what must not be committed. */
export function commonFiles(host: HostAgent): ExportedFile[] {
  const header = 'Secrets of the agent. Keep this file readable only by its owner, and out of Git.';
  const text = [
    envFile(host.secrets, host.target, [header]),
    ...host.addedLines.map((line) => `${line}\n`),
  ].join('');
  const others = host.files.map(({name, text, isPrivate}) => ({path: name, text, isPrivate}));
  return [{path: ENV_FILE, text, isPrivate: true, existing: 'merged'}, ...others];
}

export const ignoreFile = (files: readonly ExportedFile[]): ExportedFile => ({
  path: '.gitignore',
  text: files
    .filter(({isPrivate}) => isPrivate)
    .map(({path}) => `/${path}\n`)
    .join(''),
  isPrivate: false,
  existing: 'appended',
});

/** Quotes one assignment of Environment=, where % starts a specifier. */
const assignment = ([name, value]: [string, string]): string =>
  `Environment="${name}=${value.replaceAll('%', '%%').replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

export const dropIn = (
  path: string,
  header: string,
  variables: Readonly<Record<string, string>>,
  {isPrivate, lines = []}: {isPrivate: boolean; lines?: readonly string[]},
): ExportedFile => ({
  path,
  text: [`# ${header}`, '[Service]', ...lines, ...Object.entries(variables).map(assignment)]
    .map((line) => `${line}\n`)
    .join(''),
  isPrivate,
});

const proxyDropIn = (service: string): string => `${service}.service.d/scalr-proxy.conf`;

/** The daemon pulls the runner images, so it needs the proxy too. */
export function daemonProxy(host: HostAgent, service: string): ExportedFile[] {
  if (host.mode !== 'containers' || Object.keys(host.proxy).length === 0) return [];
  const isPrivate = Object.keys(host.proxy).some((name) => name in host.secrets);
  return [
    dropIn(
      proxyDropIn(service),
      'Proxy for the Docker daemon, which pulls the runner images.',
      host.proxy,
      {isPrivate},
    ),
  ];
}

/** Who reads the file: each has its own quoting. */
type Reader = 'docker' | 'compose' | 'systemd';

const PLAIN = /^[\w@%+=:,./-]*$/;

export function envFile(
  variables: Readonly<Record<string, string>>,
  reader: Reader,
  header: readonly string[],
): string {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${spell(value, reader)}`);
  return [...header.map((line) => `# ${line}`), ...lines].map((line) => `${line}\n`).join('');
}

function spell(value: string, reader: Reader): string {
  // docker run reads each line as it is.
  if (reader === 'docker' || PLAIN.test(value)) return value;
  // Docker Compose 1 and 2 read escapes differently, but both read single quotes literally.
  if (!/['\\]/.test(value)) return `'${value}'`;
  return `"${value.replaceAll(/["\\$`]/g, (sign) => `\\${sign}`)}"`;
}

/** Files that only the agent reads, as an archive for `docker cp`; undefined if there are none. A copy outlives the directory that it comes from. */
export function agentArchive({files, user = '0:0'}: HostAgent): Secret | undefined {
  const own = files.filter(({isOnMachine}) => !isOnMachine);
  if (own.length === 0) return undefined;
  const [uid, gid] = user.split(':').map(Number);
  const owner = {uid: uid ?? 0, gid: gid ?? 0, mtime: 0};
  const directories = [...new Set(own.map(({path}) => dirname(path)))];
  const archive = createTar([
    ...directories.map((path) => ({name: `${path.slice(1)}/`, attrs: {...owner, mode: '755'}})),
    ...own.map(({path, text, isPrivate}) => ({
      name: path.slice(1),
      data: text,
      attrs: {...owner, mode: isPrivate ? '400' : '444'},
    })),
  ]);
  return new Secret(Buffer.from(archive).toString('utf8'));
}

const CONFIGURATION = '/etc/scalr-agent';
const UNITS = '/etc/systemd/system';
const AGENT_DROP_IN = 'scalr-agent.service.d/scalr-agent.conf';
const DOCKER = 'scalr-docker';

/** Where `install.sh` puts the drop-ins. */
export const DROP_INS: readonly string[] = [AGENT_DROP_IN, proxyDropIn(DOCKER)].map(
  (path) => `${UNITS}/${path}`,
);
const SCRIPT = 'install.sh';

/** Drop-ins for the services of the Linux packages, `scalr-agent` and `scalr-docker`, and a script that installs them. */
export function systemdFiles(host: HostAgent, origin: readonly string[]): Export {
  const header = ['Configuration of the agent.', ...origin].join('\n# ');
  const lines = [
    `EnvironmentFile=${CONFIGURATION}/${ENV_FILE}`,
    ...(host.isRoot ? ['User=root'] : []),
  ];
  // The directories of the only agent.
  const variables = {...host.environment, ...host.agents[0]?.environment};
  const unit = dropIn(AGENT_DROP_IN, header, variables, {isPrivate: false, lines});
  const files = [unit, ...daemonProxy(host, DOCKER), ...commonFiles(host)];
  const script = {
    path: SCRIPT,
    text: scriptOf(files),
    isPrivate: false,
    isExecutable: true as const,
  };
  return {
    files: [script, ...files, ignoreFile(files)],
    steps: [`sudo sh ${SCRIPT}`, 'journalctl --follow --unit scalr-agent'],
  };
}

function scriptOf(files: readonly ExportedFile[]): string {
  const installs = files.map(({path, isPrivate}) => {
    const target = path.includes('.service.d/') ? `${UNITS}/${path}` : `${CONFIGURATION}/${path}`;
    return `install -D -m ${isPrivate ? '0600' : '0644'} ${path} "$root"${target}`;
  });
  const services = [
    ...(files.some(({path}) => path.startsWith(DOCKER)) ? [DOCKER] : []),
    'scalr-agent',
  ];
  return [
    '#!/bin/sh',
    '# Installs the configuration of the agent service, and restarts it. Requires root, and the package scalr-agent.',
    '# Optional first argument: another root directory, for machine images. Nothing is restarted then.',
    'set -eu',
    'cd "$(dirname "$0")"',
    `root=\${1-}`,
    '# A machine image may get its token later.',
    `[ -n "$root" ] || ${REQUIRE_TOKEN}`,
    '',
    ...installs,
    '',
    '[ -z "$root" ] || exit 0',
    'systemctl daemon-reload',
    ...services.map((service) => `systemctl restart ${service}`),
    'systemctl enable scalr-agent',
    '',
  ].join('\n');
}
