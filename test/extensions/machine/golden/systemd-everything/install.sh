#!/bin/sh
# Installs the configuration of the agent service, and restarts it. Requires root, and the package scalr-agent.
# Optional first argument: another root directory, for machine images. Nothing is restarted then.
set -eu
cd "$(dirname "$0")"
root=${1-}

install -D -m 0644 scalr-agent.service.d/scalr-agent.conf "$root"/etc/systemd/system/scalr-agent.service.d/scalr-agent.conf
install -D -m 0600 scalr-docker.service.d/scalr-proxy.conf "$root"/etc/systemd/system/scalr-docker.service.d/scalr-proxy.conf
install -D -m 0600 agent.env "$root"/etc/scalr-agent/agent.env
install -D -m 0644 ca.pem "$root"/etc/scalr-agent/ca.pem

[ -z "$root" ] || exit 0
systemctl daemon-reload
systemctl restart scalr-docker
systemctl restart scalr-agent
systemctl enable scalr-agent
