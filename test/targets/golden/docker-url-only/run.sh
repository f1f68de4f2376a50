#!/bin/sh
# Starts the agent. Variables with secrets are in agent.env.
set -eu
cd "$(dirname "$0")"

# Stops and removes a container of an earlier version of this script.
replace() {
  owner=$(docker container inspect --format '{{index .Config.Labels "io.scalr.agent.release"}}' "$1" 2>/dev/null) || return 0
  [ "$owner" = scalr-agent ] || { echo "A container $1 exists, and this script did not start it." >&2; exit 1; }
  docker stop "$1" >/dev/null
  docker rm "$1" >/dev/null
}

replace scalr-agent
docker run \
  --detach \
  --name scalr-agent \
  --restart unless-stopped \
  --env-file "$PWD/agent.env" \
  --env SCALR_URL=https://acme.scalr.io \
  --env SCALR_AGENT_DATA_DIR=/var/lib/scalr-agent \
  --volume /var/run/docker.sock:/var/run/docker.sock \
  --volume /var/lib/scalr-agent:/var/lib/scalr-agent \
  --label io.scalr.agent.release=scalr-agent \
  --label io.scalr.agent.purpose=runs \
  --label io.scalr.agent.version=1.4.0 \
  scalr/agent:1.4.0 run
