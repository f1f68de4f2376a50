#!/bin/sh
# Starts 2 agents. Variables with secrets are in agent.env.
set -eu
cd "$(dirname "$0")"

# Containers of runs mount it from the machine.
install -D -m 0644 ca.pem /etc/scalr-agent/ca.pem

# Stops and removes a container of an earlier version of this script.
replace() {
  owner=$(docker container inspect --format '{{index .Config.Labels "io.scalr.agent.release"}}' "$1" 2>/dev/null) || return 0
  [ "$owner" = blue ] || { echo "A container $1 exists, and this script did not start it." >&2; exit 1; }
  docker stop "$1" >/dev/null
  docker rm "$1" >/dev/null
}

replace blue-1
docker run \
  --detach \
  --name blue-1 \
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
  --env SCALR_AGENT_CA_CERT=/etc/scalr-agent/ca.pem \
  --env SCALR_AGENT_TLS_CERT_FILE=/etc/scalr-agent/client.crt \
  --env SCALR_AGENT_TLS_KEY_FILE=/etc/scalr-agent/client.key \
  --env SCALR_AGENT_NAME=blue-1 \
  --env SCALR_AGENT_CONCURRENCY=4 \
  --env SCALR_AGENT_DATA_DIR=/srv/scalr/data-1 \
  --env SCALR_AGENT_CACHE_DIR=/srv/scalr/cache \
  --volume /var/run/docker.sock:/var/run/docker.sock \
  --volume /srv/scalr/data-1:/srv/scalr/data-1 \
  --volume /srv/scalr/cache:/srv/scalr/cache \
  --volume /etc/scalr-agent/ca.pem:/etc/scalr-agent/ca.pem:ro \
  --volume "$PWD/client.crt:/etc/scalr-agent/client.crt:ro" \
  --volume "$PWD/client.key:/etc/scalr-agent/client.key:ro" \
  --label team=platform \
  --label io.scalr.agent.release=blue \
  --label io.scalr.agent.purpose=runs \
  --label io.scalr.agent.version=1.3.0 \
  registry.example.com/mirror/scalr/agent:1.3.0 run

replace blue-2
docker run \
  --detach \
  --name blue-2 \
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
  --env SCALR_AGENT_CA_CERT=/etc/scalr-agent/ca.pem \
  --env SCALR_AGENT_TLS_CERT_FILE=/etc/scalr-agent/client.crt \
  --env SCALR_AGENT_TLS_KEY_FILE=/etc/scalr-agent/client.key \
  --env SCALR_AGENT_NAME=blue-2 \
  --env SCALR_AGENT_CONCURRENCY=3 \
  --env SCALR_AGENT_DATA_DIR=/srv/scalr/data-2 \
  --env SCALR_AGENT_CACHE_DIR=/srv/scalr/cache \
  --volume /var/run/docker.sock:/var/run/docker.sock \
  --volume /srv/scalr/data-2:/srv/scalr/data-2 \
  --volume /srv/scalr/cache:/srv/scalr/cache \
  --volume /etc/scalr-agent/ca.pem:/etc/scalr-agent/ca.pem:ro \
  --volume "$PWD/client.crt:/etc/scalr-agent/client.crt:ro" \
  --volume "$PWD/client.key:/etc/scalr-agent/client.key:ro" \
  --label team=platform \
  --label io.scalr.agent.release=blue \
  --label io.scalr.agent.purpose=runs \
  --label io.scalr.agent.version=1.3.0 \
  registry.example.com/mirror/scalr/agent:1.3.0 run
