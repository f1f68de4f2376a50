import type {Warning} from '../errors.ts';
import type {Secret} from '../settings/secret.ts';
import type {Settings} from '../settings/settings.ts';
import {composeFiles} from './compose.ts';
import {dockerFiles} from './docker.ts';
import {type HostAgent, hostAgent} from './host/agent.ts';
import type {Export} from './host/files.ts';
import type {HostTarget} from './host/mode.ts';
import {systemdFiles} from './systemd.ts';

const FILES = {docker: dockerFiles, compose: composeFiles, systemd: systemdFiles} as const;

const DEPRECATED: Warning = {
  code: 'DEPRECATED_PACKAGES',
  message:
    'The Linux packages of the agent are deprecated since 2026-03-31 and get no new versions. Move to Docker with "scalr-agent export compose", or to Kubernetes with "scalr-agent install".',
};

/** Files for agents outside Kubernetes, and the agents as data. */
export interface HostExport extends Export {
  agent: HostAgent;
  notes: string[];
  warnings: Warning[];
}

/** The files for agents outside Kubernetes. Pure. @throws ExpectedError for settings that the target does not support */
export function exportHost(settings: Settings, target: HostTarget, knownToken?: Secret): HostExport {
  const host = hostAgent(settings, target, knownToken);
  return {
    ...FILES[target](host),
    agent: host,
    notes: host.notes,
    warnings: [...(target === 'systemd' ? [DEPRECATED] : []), ...host.warnings],
  };
}
