{{- /* An image behind the registry of the release. */ -}}
{{- define "image" -}}
{{- $name := printf "%s:%s" .image.repository (.image.tag | default .root.Chart.AppVersion) -}}
{{- list .root.Values.global.imageRegistry $name | compact | join "/" | quote -}}
{{- end }}

{{- define "proxy" }}
{{- with .Values.global.proxy }}
{{- if .enabled }}
{{- include "variables" (dict "HTTP_PROXY" .httpProxy "HTTPS_PROXY" .httpsProxy "NO_PROXY" .noProxy) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Soft limits of a cache; only whole gibibytes and mebibytes. */ -}}
{{- define "cache-variables" }}
{{- include "variables" (dict (printf "%s_ENABLED" .prefix) .cache.enabled) }}
{{- if .cache.enabled }}
{{- $factor := ternary 1024 1 (hasSuffix "Gi" .cache.sizeLimit) }}
{{- $megabytes := mul $factor (regexFind "^[0-9]+" .cache.sizeLimit | int) }}
{{- include "variables" (dict (printf "%s_SIZE_LIMIT_MB" .prefix) $megabytes) }}
{{- if eq .mode "worker" }}
{{- include "variables" (dict (printf "%s_CONCURRENCY" .prefix) .cache.concurrency) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* What controller and worker have in common; the dict holds root and mode. */ -}}
{{- define "agent-variables" }}
{{- $values := .root.Values }}
{{- $agent := $values.agent }}
{{- include "token" $agent.tokenExistingSecret }}
{{- include "variables" (dict
  "SCALR_URL" $agent.url
  "SCALR_AGENT_DEBUG" $agent.debug
  "SCALR_AGENT_LOG_FORMAT" $agent.logFormat
  "SCALR_AGENT_DATA_DIR" $agent.dataDir
  "SCALR_AGENT_CACHE_DIR" $agent.cacheDir
  "SCALR_AGENT_DRIVER" "kubernetes-job"
  "SCALR_AGENT_KUBERNETES_MODE" .mode
  "SCALR_AGENT_KUBERNETES_TASK_STARTUP_TIMEOUT_SECONDS" $values.task.startupTimeoutSeconds
  "SCALR_AGENT_STATE_PERSISTENCE_ENABLED" false
  "SCALR_AGENT_MEMORY_MONITOR_ENABLED" 1
  "SCALR_AGENT_MEMORY_MONITOR_WARN_PERCENT" $values.task.runner.memoryWarnPercent
  "SCALR_AGENT_MEMORY_MONITOR_SOFT_LIMIT_PERCENT" $values.task.runner.memorySoftLimitPercent
  "SCALR_AGENT_SENTRY_DSN" $agent.sentryDsn
  "SCALR_AGENT_BINARY_CACHE_SIZE_LIMIT_MB" 5120
  "SCALR_AGENT_BINARY_CACHE_THRESHOLD_DAYS" $agent.binaryCache.thresholdDays
) }}
{{- include "cache-variables" (dict "prefix" "SCALR_AGENT_PROVIDER_CACHE" "cache" $agent.providerCache "mode" .mode) }}
{{- include "cache-variables" (dict "prefix" "SCALR_AGENT_MODULE_CACHE" "cache" $agent.moduleCache "mode" .mode) }}
{{- with $agent.providerNetworkMirrors }}
{{- include "variables" (dict "SCALR_AGENT_PROVIDER_NETWORK_MIRRORS" (toJson .)) }}
{{- end }}
{{- with $values.otel }}
{{- if and .enabled .endpoint }}
{{- include "variables" (dict "SCALR_AGENT_OTLP_ENDPOINT" .endpoint) }}
{{- if .metricsEnabled }}{{ include "variables" (dict "SCALR_AGENT_OTLP_METRICS_ENABLED" true) }}{{ end }}
{{- if .tracesEnabled }}{{ include "variables" (dict "SCALR_AGENT_OTLP_TRACES_ENABLED" true) }}{{ end }}
{{- end }}
{{- end }}
{{- include "proxy" .root }}
{{- include "ca-variables" $values.global.tls }}
{{- include "variables" $agent.extraEnv }}
{{- end }}

{{- /* The volume of the cache; only tasks mount a directory of the node. */ -}}
{{- define "cache-volume" -}}
{{- $cache := .root.Values.persistence.cache }}
{{- $onNode := and $cache.enabled $cache.hostPath.path }}
{{- if and $onNode .isTask -}}
hostPath: {{ toJson $cache.hostPath }}
{{- else -}}
{{- $volume := ternary (dict "enabled" false) $cache (not (empty $onNode)) }}
{{- include "volume" (dict "volume" $volume "name" (printf "%s-cache" .full) "limit" $cache.emptyDir.sizeLimit) }}
{{- end -}}
{{- end }}
