import type {HostAgent} from './agent.ts';
import {commonFiles, daemonProxy, dropIn, ENV_FILE, type Export, type ExportedFile, ignoreFile, NPX_LINE, proxyDropIn} from './files.ts';

const CONFIGURATION = '/etc/scalr-agent';
const UNITS = '/etc/systemd/system';
const AGENT_DROP_IN = 'scalr-agent.service.d/scalr-agent.conf';
const DOCKER = 'scalr-docker';

/** Where `install.sh` puts the drop-ins. */
export const DROP_INS: readonly string[] = [AGENT_DROP_IN, proxyDropIn(DOCKER)].map((path) => `${UNITS}/${path}`);
const SCRIPT = 'install.sh';

/** Drop-ins for the services of the Linux packages, `scalr-agent` and `scalr-docker`, and a script that installs them. */
export function systemdFiles(host: HostAgent): Export {
  const unit = dropIn(
    AGENT_DROP_IN,
    'Configuration of the agent. Written by scalr-agent-install export systemd.',
    // The directories of the only agent.
    {...host.environment, ...host.agents[0]?.environment},
    {
      isPrivate: false,
      lines: [`EnvironmentFile=${CONFIGURATION}/${ENV_FILE}`, ...(host.isRoot ? ['User=root'] : [])],
    },
  );
  const files = [unit, ...daemonProxy(host, DOCKER), ...commonFiles(host)];
  const script = {path: SCRIPT, text: scriptOf(files), isPrivate: false, isExecutable: true as const};
  return {files: [script, ...files, ignoreFile(files)], steps: [`sudo sh ${SCRIPT}`, 'journalctl --follow --unit scalr-agent']};
}

function scriptOf(files: readonly ExportedFile[]): string {
  const installs = files.map(({path, isPrivate}) => {
    const target = path.includes('.service.d/') ? `${UNITS}/${path}` : `${CONFIGURATION}/${path}`;
    return `install -D -m ${isPrivate ? '0600' : '0644'} ${path} "$root"${target}`;
  });
  const services = [...(files.some(({path}) => path.startsWith(DOCKER)) ? [DOCKER] : []), 'scalr-agent'];
  return [
    '#!/bin/sh',
    '# Installs the configuration of the agent service, and restarts it. Requires root, and the package scalr-agent.',
    '# The first argument is another root directory, for images of machines; then nothing is restarted.',
    NPX_LINE,
    'set -eu',
    'cd "$(dirname "$0")"',
    `root=\${1-}`,
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
