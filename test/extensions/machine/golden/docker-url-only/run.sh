#!/bin/sh
# Starts the agent. Variables with secrets are in agent.env.
set -eu
cd "$(dirname "$0")"

# The agent starts containers through the socket of Docker.
socket=$(docker context inspect --format '{{.Endpoints.docker.Host}}')
case $socket in
  unix://*) socket=${socket#unix://} ;;
  *) echo "Docker is at $socket. Run this script on the machine where that Docker Engine runs, without DOCKER_HOST." >&2; exit 1 ;;
esac
# A virtual machine has its own socket.
if [ "$(uname)" != Linux ] || [ "$(docker info --format '{{.OperatingSystem}}')" = 'Docker Desktop' ]; then
  socket=/var/run/docker.sock
elif [ ! -S "$socket" ]; then
  echo "$socket is not a socket." >&2
  exit 1
fi

exists() {
  docker container inspect "$1" >/dev/null 2>&1
}

# Creates the new container before it stops the previous one. If the new one does not start, the previous one is started again.
start() {
  name=$1
  shift
  for each in "$name" "$name.next" "$name.previous"; do
    exists "$each" || continue
    owner=$(docker container inspect --format '{{index .Config.Labels "io.scalr.agent.release"}}' "$each")
    [ "$owner" = scalr-agent ] || { echo "A container $each exists, and this script did not start it." >&2; exit 1; }
  done
  # Left by an interrupted run of this script.
  if exists "$name.previous"; then
    if [ "$(docker container inspect --format '{{.State.Running}}' "$name" 2>/dev/null)" = true ]; then
      docker rm "$name.previous" >/dev/null
    else
      if exists "$name"; then docker rm "$name" >/dev/null; fi
      docker rename "$name.previous" "$name"
      docker start "$name" >/dev/null
    fi
  fi
  if exists "$name.next"; then docker rm "$name.next" >/dev/null; fi
  docker create --name "$name.next" "$@" >/dev/null
  before=
  if exists "$name"; then
    before=$name.previous
    docker stop -t 3660 "$name" >/dev/null
    docker rename "$name" "$before"
  fi
  docker rename "$name.next" "$name"
  if docker start "$name" >/dev/null; then
    [ -z "$before" ] || docker rm "$before" >/dev/null
    return
  fi
  docker rm --force "$name" >/dev/null
  [ -n "$before" ] || exit 1
  docker rename "$before" "$name"
  docker start "$name" >/dev/null
  echo "The previous container $name is running again." >&2
  exit 1
}

start scalr-agent \
  --restart unless-stopped \
  --stop-timeout 3660 \
  --env-file "$PWD/agent.env" \
  --env SCALR_URL=https://acme.scalr.io \
  --env SCALR_AGENT_DATA_DIR=/var/lib/scalr-agent \
  --mount "type=bind,source=$socket,target=/var/run/docker.sock" \
  --volume /var/lib/scalr-agent:/var/lib/scalr-agent \
  --label io.scalr.agent.release=scalr-agent \
  --label io.scalr.agent.purpose=runs \
  --label io.scalr.agent.version=1.4.0 \
  scalr/agent:1.4.0 run
