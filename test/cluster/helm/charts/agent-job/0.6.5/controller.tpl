{{- $release := dict "root" . "base" "scalr-agent" }}
{{- $full := include "full" $release }}
{{- $cache := .Values.persistence.cache }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $full }}
  {{- include "chartLabel" $release | nindent 2 }}
spec:
  replicas: {{ .Values.agent.replicaCount }}
  selector:
    matchLabels:
      {{- include "labels" $release | nindent 6 }}
      app.kubernetes.io/component: agent
  template:
    metadata:
      labels:
        {{- include "labels" $release | nindent 8 }}
        app.kubernetes.io/component: agent
        {{- with merge (deepCopy .Values.agent.podLabels) .Values.global.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations: {{ merge (deepCopy .Values.global.podAnnotations) .Values.agent.podAnnotations | toJson }}
    spec:
      {{- $place := dict "account" (include "account" $release) "pullSecrets" .Values.global.imagePullSecrets }}
      {{- $_ := set $place "seconds" .Values.agent.terminationGracePeriodSeconds }}
      {{- include "pod" (merge $place (pick .Values.agent "nodeSelector" "tolerations" "affinity")) | nindent 6 }}
      securityContext: {{ merge (deepCopy .Values.agent.podSecurityContext) .Values.global.podSecurityContext | toJson }}
      containers:
        - name: controller
          image: {{ include "image" (dict "root" . "image" .Values.agent.image) }}
          imagePullPolicy: {{ .Values.agent.image.pullPolicy }}
          resources: {{ toJson .Values.agent.resources }}
          securityContext: {{ toJson .Values.agent.controller.securityContext }}
          env:
            {{- include "agent-variables" (dict "root" . "mode" "controller") | nindent 12 }}
            {{- include "variables" (dict
              "SCALR_AGENT_KUBERNETES_TASK_TEMPLATE" (printf "%s-task-template" $full)
              "SCALR_AGENT_WORKER_ON_STOP_ACTION" "drain"
              "SCALR_AGENT_WORKER_DRAIN_TIMEOUT" 180
              "SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT" .Values.agent.terminationGracePeriodSeconds
            ) | nindent 12 }}
          volumeMounts:
            - {name: data, mountPath: {{ .Values.agent.dataDir | quote }}}
            - name: cache
              mountPath: {{ .Values.agent.cacheDir | quote }}
              {{- if and $cache.enabled (not $cache.hostPath.path) }}
              subPath: {{ list $cache.persistentVolumeClaim.subPath "cache" | compact | join "/" | quote }}
              {{- end }}
            {{- include "ca-mount" .Values.global.tls | nindent 12 }}
            {{- include "identity-mount" .Values.global.tls | nindent 12 }}
      volumes:
        - {name: data, emptyDir: {}}
        - name: cache
          {{- include "cache-volume" (dict "root" . "full" $full "isTask" false) | nindent 10 }}
        {{- include "ca-volumes" (dict "tls" .Values.global.tls "full" $full) | nindent 8 }}
{{- if not $cache.hostPath.path }}
{{- include "claim" (dict "volume" $cache "name" (printf "%s-cache" $full)) }}
{{- end }}
{{- include "ca-secret" (dict "tls" .Values.global.tls "full" $full) }}
{{- include "serviceAccount" $release }}
{{- if .Values.rbac.create }}
{{- $role := dict "root" . "account" (include "account" $release) }}
{{- include "role" (merge (dict "kind" "Role" "name" (printf "%s-role" $full) "rules" .Values.rbac.rules) $role) }}
{{- include "role" (merge (dict "kind" "ClusterRole" "name" (printf "%s-%s-clusterrole" .Release.Namespace $full) "rules" .Values.rbac.clusterRules) $role) }}
{{- end }}
{{- if not .Values.task.allowMetadataService }}
{{- include "policy" (merge (dict "name" (printf "%s-network-policy" $full) "component" "task") $release) }}
{{- end }}
