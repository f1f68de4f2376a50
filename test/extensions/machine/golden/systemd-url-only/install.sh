#!/bin/sh
# Installs the configuration of the agent service, and restarts it. Requires root, and the package scalr-agent.
# Optional first argument: another root directory, for machine images. Nothing is restarted then.
set -eu
cd "$(dirname "$0")"
root=${1-}
# A machine image may get its token later.
[ -n "$root" ] || grep -q '^SCALR_AGENT_TOKEN=.' agent.env || { echo 'agent.env contains no token. Set SCALR_AGENT_TOKEN in it, and run this script again.' >&2; exit 1; }

install -D -m 0644 scalr-agent.service.d/scalr-agent.conf "$root"/etc/systemd/system/scalr-agent.service.d/scalr-agent.conf
install -D -m 0600 agent.env "$root"/etc/scalr-agent/agent.env

[ -z "$root" ] || exit 0
systemctl daemon-reload
systemctl restart scalr-agent
systemctl enable scalr-agent
