import type {HostTarget} from '../../charts/host/host.ts';
import {type SettingFinding, warningOf} from '../../ground/finding.ts';
import {agentImage, imageRegistry} from '../../settings/images.ts';
import {withoutRegistry} from '../../settings/kinds/images.ts';
import {release} from '../../settings/release.ts';
import type {Settings} from '../../settings/settings.ts';
import {generatedBy} from '../../values/document.ts';
import {type HostAgent, type HostOptions, hostAgent} from './agent.ts';
import {directoriesNamed, type HostDirectories, STANDARD_DIRECTORIES} from './directories.ts';
import {composeFiles, dockerFiles} from './docker.ts';
import {type Export, systemdFiles} from './files.ts';

const FILES = {docker: dockerFiles, compose: composeFiles, systemd: systemdFiles} as const;

const DEPRECATED: SettingFinding = warningOf(
  'DEPRECATED_PACKAGES',
  'The Linux packages of the agent are deprecated since 2026-03-31 and get no new versions. Move to Docker with "scalr-agent-install export compose", or to Kubernetes with "scalr-agent-install install".',
);

/** Files for agents outside Kubernetes, and the agents as data. */
export interface HostExport extends Export {
  agent: HostAgent;
  notes: string[];
  warnings: SettingFinding[];
}

/** The files for agents outside Kubernetes. Pure. @throws ExpectedError for settings that the target does not support */
export function exportHost(
  settings: Settings,
  target: HostTarget,
  options: Omit<HostOptions, 'directories'> = {},
): HostExport {
  const host = hostAgent(settings, target, {
    ...options,
    directories: directoriesOf(settings, target, options.earlier?.commands),
  });
  return {
    ...FILES[target](host, generatedBy(`export ${target}`, pinned(settings, host))),
    agent: host,
    notes: host.notes,
    warnings: [...(target === 'systemd' ? [DEPRECATED] : []), ...host.warnings],
  };
}

/** With the image as a flag, so that the recorded command writes the same files with a newer program. */
const pinned = (settings: Settings, {target, image}: HostAgent): Settings =>
  target === 'systemd' || settings.isExplicit(agentImage)
    ? settings
    : settings.with(agentImage, {
        value: withoutRegistry(image, settings.get(imageRegistry)),
        source: 'flag',
      });

const STANDARD_RELEASE = 'scalr-agent';

/** A release with another name may be the second one of its machine, unless an earlier export has used the standard directories. */
function directoriesOf(settings: Settings, target: HostTarget, commands = ''): HostDirectories {
  const name = settings.get(release) as string;
  const isStandard =
    target === 'systemd' ||
    name === STANDARD_RELEASE ||
    /[\s=:"']\/(var\/lib|etc)\/scalr-agent(-\d+)?[/:\s"']/.test(commands);
  return isStandard ? STANDARD_DIRECTORIES : directoriesNamed(name);
}

/** The files are usually written on the machine that uses them. */
export const socketIn = ({
  DOCKER_HOST: endpoint = '',
}: Readonly<Record<string, string | undefined>>): {socket?: string} =>
  endpoint.startsWith('unix://') ? {socket: endpoint.slice('unix://'.length)} : {};
