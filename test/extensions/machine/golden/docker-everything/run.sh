#!/bin/sh
# Starts 2 agents. Variables with secrets are in agent.env.
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

# Containers of runs mount it from the machine.
install -D -m 0644 ca.pem /etc/scalr-agent-blue/ca.pem

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
    [ "$owner" = blue ] || { echo "A container $each exists, and this script did not start it." >&2; exit 1; }
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
    docker stop -t 600 "$name" >/dev/null
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

start blue-1 \
  --restart unless-stopped \
  --pull always \
  --user 0:0 \
  --stop-timeout 600 \
  --env-file "$PWD/agent.env" \
  --env SCALR_URL=https://acme.scalr.io \
  --env SCALR_AGENT_DEBUG=1 \
  --env SCALR_AGENT_LOG_FORMAT=json \
  --env HTTP_PROXY=http://proxy.example.com:3128 \
  --env NO_PROXY=.example.com,10.0.0.0/8,localhost,127.0.0.1,169.254.169.254 \
  --env SCALR_AGENT_PROVIDER_CACHE_ENABLED=true \
  --env SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB=40960 \
  --env SCALR_AGENT_MODULE_CACHE_ENABLED=true \
  --env SCALR_AGENT_CONTAINER_TASK_CPU_LIMIT=0.5 \
  --env SCALR_AGENT_CONTAINER_TASK_MEM_LIMIT=2048 \
  --env SCALR_AGENT_CONTAINER_TASK_IMAGE_REGISTRY=registry.example.com/mirror/ \
  --env SCALR_AGENT_CONTAINER_TASK_IMAGE_MODE=golden \
  --env SCALR_AGENT_CONTAINER_TASK_IMAGE=registry.example.com/mirror/team/runner:1.0 \
  --env SCALR_AGENT_OTLP_ENDPOINT=collector.example.com:4317 \
  --env SCALR_AGENT_OTLP_METRICS_ENABLED=true \
  --env SCALR_AGENT_OTLP_TRACES_ENABLED=false \
  --env SCALR_AGENT_WORKER_ON_STOP_ACTION=grace-shutdown \
  --env SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT=590 \
  --env 'GREETING=it'\''s $5' \
  --env SCALR_AGENT_CA_CERT=/etc/scalr-agent-blue/ca.pem \
  --env SCALR_AGENT_TLS_CERT_FILE=/etc/scalr-agent-blue/client.crt \
  --env SCALR_AGENT_TLS_KEY_FILE=/etc/scalr-agent-blue/client.key \
  --env SCALR_AGENT_NAME=blue-1 \
  --env SCALR_AGENT_CONCURRENCY=4 \
  --env SCALR_AGENT_DATA_DIR=/srv/scalr/data-1 \
  --env SCALR_AGENT_CACHE_DIR=/srv/scalr/cache \
  --mount "type=bind,source=$socket,target=/var/run/docker.sock" \
  --volume /srv/scalr/data-1:/srv/scalr/data-1 \
  --volume /srv/scalr/cache:/srv/scalr/cache \
  --volume /etc/scalr-agent-blue/ca.pem:/etc/scalr-agent-blue/ca.pem:ro \
  --volume "$PWD/client.crt:/etc/scalr-agent-blue/client.crt:ro" \
  --volume "$PWD/client.key:/etc/scalr-agent-blue/client.key:ro" \
  --label team=platform \
  --label io.scalr.agent.release=blue \
  --label io.scalr.agent.purpose=runs \
  --label io.scalr.agent.version=1.3.0 \
  registry.example.com/mirror/scalr/agent:1.3.0 run

start blue-2 \
  --restart unless-stopped \
  --pull always \
  --user 0:0 \
  --stop-timeout 600 \
  --env-file "$PWD/agent.env" \
  --env SCALR_URL=https://acme.scalr.io \
  --env SCALR_AGENT_DEBUG=1 \
  --env SCALR_AGENT_LOG_FORMAT=json \
  --env HTTP_PROXY=http://proxy.example.com:3128 \
  --env NO_PROXY=.example.com,10.0.0.0/8,localhost,127.0.0.1,169.254.169.254 \
  --env SCALR_AGENT_PROVIDER_CACHE_ENABLED=true \
  --env SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB=40960 \
  --env SCALR_AGENT_MODULE_CACHE_ENABLED=true \
  --env SCALR_AGENT_CONTAINER_TASK_CPU_LIMIT=0.5 \
  --env SCALR_AGENT_CONTAINER_TASK_MEM_LIMIT=2048 \
  --env SCALR_AGENT_CONTAINER_TASK_IMAGE_REGISTRY=registry.example.com/mirror/ \
  --env SCALR_AGENT_CONTAINER_TASK_IMAGE_MODE=golden \
  --env SCALR_AGENT_CONTAINER_TASK_IMAGE=registry.example.com/mirror/team/runner:1.0 \
  --env SCALR_AGENT_OTLP_ENDPOINT=collector.example.com:4317 \
  --env SCALR_AGENT_OTLP_METRICS_ENABLED=true \
  --env SCALR_AGENT_OTLP_TRACES_ENABLED=false \
  --env SCALR_AGENT_WORKER_ON_STOP_ACTION=grace-shutdown \
  --env SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT=590 \
  --env 'GREETING=it'\''s $5' \
  --env SCALR_AGENT_CA_CERT=/etc/scalr-agent-blue/ca.pem \
  --env SCALR_AGENT_TLS_CERT_FILE=/etc/scalr-agent-blue/client.crt \
  --env SCALR_AGENT_TLS_KEY_FILE=/etc/scalr-agent-blue/client.key \
  --env SCALR_AGENT_NAME=blue-2 \
  --env SCALR_AGENT_CONCURRENCY=3 \
  --env SCALR_AGENT_DATA_DIR=/srv/scalr/data-2 \
  --env SCALR_AGENT_CACHE_DIR=/srv/scalr/cache \
  --mount "type=bind,source=$socket,target=/var/run/docker.sock" \
  --volume /srv/scalr/data-2:/srv/scalr/data-2 \
  --volume /srv/scalr/cache:/srv/scalr/cache \
  --volume /etc/scalr-agent-blue/ca.pem:/etc/scalr-agent-blue/ca.pem:ro \
  --volume "$PWD/client.crt:/etc/scalr-agent-blue/client.crt:ro" \
  --volume "$PWD/client.key:/etc/scalr-agent-blue/client.key:ro" \
  --label team=platform \
  --label io.scalr.agent.release=blue \
  --label io.scalr.agent.purpose=runs \
  --label io.scalr.agent.version=1.3.0 \
  registry.example.com/mirror/scalr/agent:1.3.0 run
