import type {HostAgent} from './agent.ts';
import {envFile} from './env-file.ts';

/** A file of an export, by its path below the directory. */
export interface ExportedFile {
  path: string;
  text: string;
  /** Readable only by its owner; must not be committed. */
  isPrivate: boolean;
  isExecutable?: true;
}

/** Files, and the commands that use them. */
export interface Export {
  files: ExportedFile[];
  /** Commands to run in the directory of the files. */
  steps: string[];
}

export const ENV_FILE = 'agent.env';

/** The files that every host has: variables with secrets, certificates, and a list of what must not be committed. */
export function commonFiles(host: HostAgent): ExportedFile[] {
  const files = [
    {
      path: ENV_FILE,
      text: [
        envFile(host.secrets, host.target, ['Secrets of the agent. Keep this file readable only by its owner, and out of Git.']),
        ...host.addedLines.map((line) => `${line}\n`),
      ].join(''),
      isPrivate: true,
    },
    ...host.files.map(({name, text, isPrivate}) => ({path: name, text, isPrivate})),
  ];
  return files;
}

/** The paths that must not be committed. */
export const ignoreFile = (files: readonly ExportedFile[]): ExportedFile => ({
  path: '.gitignore',
  text: files
    .filter(({isPrivate}) => isPrivate)
    .map(({path}) => `/${path}\n`)
    .join(''),
  isPrivate: false,
});

/** Quotes one assignment of Environment=, where % starts a specifier. */
const assignment = ([name, value]: [string, string]): string =>
  `Environment="${name}=${value.replaceAll('%', '%%').replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** A drop-in of a systemd service. */
export const dropIn = (
  path: string,
  header: string,
  variables: Readonly<Record<string, string>>,
  {isPrivate, lines = []}: {isPrivate: boolean; lines?: readonly string[]},
): ExportedFile => ({
  path,
  text: [`# ${header}`, '[Service]', ...lines, ...Object.entries(variables).map(assignment)].map((line) => `${line}\n`).join(''),
  isPrivate,
});

/** Path of the drop-in with the proxy of a Docker service. */
export const proxyDropIn = (service: string): string => `${service}.service.d/scalr-proxy.conf`;

/** The daemon pulls the images of runs, so it needs the proxy too. */
export function daemonProxy(host: HostAgent, service: string): ExportedFile[] {
  if (host.mode !== 'containers' || Object.keys(host.proxy).length === 0) return [];
  const isPrivate = Object.keys(host.proxy).some((name) => name in host.secrets);
  return [dropIn(proxyDropIn(service), 'Proxy of the Docker daemon, which pulls the images of runs.', host.proxy, {isPrivate})];
}
