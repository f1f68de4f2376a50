{{- $release := dict "root" . "base" "agent-k8s" }}
{{- $agent := .Values.agent }}
{{- $account := include "account" $release }}
{{- $token := required "agent.tokenExistingSecret is needed" $agent.tokenExistingSecret }}
{{- $common := dict
  "SCALR_URL" $agent.url
  "SCALR_AGENT_DATA_DIR" $agent.data_home
  "SCALR_AGENT_LOG_FORMAT" $agent.log_format
  "SCALR_AGENT_DEBUG" $agent.debug
  "SCALR_AGENT_WORKER_ON_STOP_ACTION" $agent.worker_on_stop_action
  "SCALR_AGENT_WORKER_DRAIN_TIMEOUT" $agent.worker_drain_timeout
  "SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT" $agent.grace_shutdown_timeout
  "SCALR_AGENT_DISCONNECT_ON_STOP" $agent.disconnect_on_stop
  "SCALR_AGENT_CA_CERT" $agent.ca_cert
  "SCALR_AGENT_CONTAINER_TASK_CA_CERT" $agent.container_task_ca_cert
  "SCALR_AGENT_CONTAINER_TASK_SCHEDULING_TIMEOUT" $agent.container_task_scheduling_timeout
  "SCALR_AGENT_CONTAINER_TASK_ACQUIRE_TIMEOUT" $agent.container_task_acquire_timeout
  "SCALR_AGENT_CONTAINER_TASK_CPU_REQUEST" $agent.container_task_cpu_request
  "SCALR_AGENT_CONTAINER_TASK_CPU_LIMIT" $agent.container_task_cpu_limit
  "SCALR_AGENT_CONTAINER_TASK_MEM_REQUEST" $agent.container_task_mem_request
  "SCALR_AGENT_CONTAINER_TASK_MEM_LIMIT" $agent.container_task_mem_limit
  "SCALR_AGENT_CONTAINER_TASK_IMAGE" $agent.container_task_image
  "SCALR_AGENT_CONTAINER_TASK_IMAGE_MODE" $agent.container_task_image_mode
  "SCALR_AGENT_CONTAINER_TASK_IMAGE_REGISTRY" $agent.container_task_image_registry
  "SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB" $agent.gc_plugins_global_size_limit
}}
{{- if .Values.efsVolumeHandle }}
{{- $_ := set $common "SCALR_AGENT_KUBERNETES_EFS_CLAIM_NAME" "agent-k8s-efs-claim" }}
{{- end }}
{{- $forRuns := dict
  "SCALR_AGENT_KUBERNETES_AUTOMOUNT_SERVICE_ACCOUNT_TOKEN" $agent.automount_service_account_token
  "SCALR_AGENT_KUBERNETES_TASK_LABELS" ($agent.kubernetes_task_labels | toJson | b64enc)
  "SCALR_AGENT_KUBERNETES_TASK_ANNOTATIONS" ($agent.kubernetes_task_annotations | toJson | b64enc)
  "SCALR_AGENT_KUBERNETES_TASK_NODE_SELECTOR" (.Values.workerNodeSelector | toJson | b64enc)
  "SCALR_AGENT_KUBERNETES_TASK_TOLERATIONS" (.Values.workerTolerations | toJson | b64enc)
}}
{{- range $mode, $kind := dict "controller" "Deployment" "worker" "DaemonSet" }}
---
apiVersion: apps/v1
kind: {{ $kind }}
metadata:
  name: {{ include "full" $release }}-{{ $mode }}
  {{- include "chartLabel" $release | nindent 2 }}
spec:
  selector:
    matchLabels: {{- include "labels" $release | nindent 6 }}
  template:
    metadata:
      labels: {{- include "labels" $release | nindent 8 }}
      annotations: {{ merge (deepCopy $.Values.podAnnotations) (get $.Values (printf "%sPodAnnotations" $mode)) | toJson }}
    spec:
      {{- $place := dict "account" $account "seconds" $.Values.terminationGracePeriodSeconds "pullSecrets" $.Values.imagePullSecrets }}
      {{- $_ := set $place "nodeSelector" (get $.Values (printf "%sNodeSelector" $mode)) }}
      {{- $_ := set $place "tolerations" (get $.Values (printf "%sTolerations" $mode)) }}
      {{- include "pod" $place | nindent 6 }}
      securityContext: {{ toJson $.Values.podSecurityContext }}
      containers:
        - name: agent-k8s
          image: {{ printf "%s:%s" $.Values.image.repository ($.Values.image.tag | default $.Chart.AppVersion) | quote }}
          imagePullPolicy: {{ $.Values.image.pullPolicy }}
          resources: {{ toJson $.Values.resources }}
          securityContext: {{ toJson $.Values.securityContext }}
          env:
            {{- include "token" (dict "name" $token "key" $agent.tokenExistingSecretKey) | nindent 12 }}
            {{- include "variables" (dict "SCALR_AGENT_KUBERNETES_MODE" $mode) | nindent 12 }}
            {{- include "variables" $common | nindent 12 }}
            {{- if eq $mode "controller" }}
            {{- include "variables" $forRuns | nindent 12 }}
            {{- end }}
            {{- include "variables" $.Values.extraEnv | nindent 12 }}
          volumeMounts:
            - {name: data-home, mountPath: {{ $agent.data_home | quote }}}
      volumes:
        - name: data-home
          {{- if eq $mode "controller" }}
          emptyDir: {}
          {{- else if $.Values.efsVolumeHandle }}
          persistentVolumeClaim: {claimName: agent-k8s-efs-claim}
          {{- else }}
          hostPath: {path: {{ $agent.data_home | quote }}, type: DirectoryOrCreate}
          {{- end }}
{{- end }}
{{- include "serviceAccount" $release }}
{{- if .Values.serviceAccount.create }}
{{- $pods := list (dict "apiGroups" (list "") "resources" (list "pods" "pods/log" "pods/exec" "configmaps" "secrets") "verbs" (list "create" "delete" "get" "list" "patch" "watch")) }}
{{- include "role" (dict "root" . "kind" "Role" "name" "agent-k8s-role" "account" $account "rules" $pods) }}
{{- end }}
{{- include "efs" $release }}
{{- if .Values.restrictMetadataService }}
{{- include "policy" (merge (dict "name" "agent-k8s-network-policy") $release) }}
{{- end }}
