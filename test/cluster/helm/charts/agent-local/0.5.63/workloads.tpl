{{- $release := dict "root" . "base" "agent-local" }}
{{- $full := include "full" $release }}
{{- $stop := include "stop" . | fromYaml }}
{{- range list "SCALR_AGENT_NAME" "SCALR_URL" "SCALR_AGENT_TOKEN" "SCALR_AGENT_DATA_DIR" "SCALR_AGENT_CONCURRENCY" }}
{{- if hasKey $.Values.extraEnv . }}{{ fail (printf "extraEnv must not hold %s" .) }}{{ end }}
{{- end }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $full }}
  {{- include "chartLabel" $release | nindent 2 }}
spec:
  replicas: {{ .Values.replicaCount }}
  strategy:
    type: {{ .Values.strategy.type }}
    {{- if eq .Values.strategy.type "RollingUpdate" }}
    rollingUpdate: {{ toJson .Values.strategy.rollingUpdate }}
    {{- end }}
  selector:
    matchLabels: {{- include "labels" $release | nindent 6 }}
  template:
    metadata:
      labels: {{- include "labels" $release | nindent 8 }}
      annotations: {{ toJson .Values.podAnnotations }}
    spec:
      {{- $place := pick .Values "nodeSelector" "tolerations" "affinity" }}
      {{- $place = merge (dict "account" (include "account" $release) "pullSecrets" .Values.imagePullSecrets) $place }}
      {{- include "pod" (merge (dict "seconds" .Values.terminationGracePeriodSeconds) $place) | nindent 6 }}
      securityContext: {{ toJson .Values.podSecurityContext }}
      containers:
        - name: agent-local
          image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          resources: {{ toJson .Values.resources }}
          securityContext: {{ toJson .Values.securityContext }}
          env:
            {{- include "variables" .Values.extraEnv | nindent 12 }}
            {{- include "token" .Values.agent.tokenExistingSecret | nindent 12 }}
            {{- include "variables" $stop | nindent 12 }}
            {{- include "variables" (dict "SCALR_URL" .Values.agent.url "SCALR_AGENT_DATA_DIR" .Values.agent.dataDir) | nindent 12 }}
            {{- include "variables" (dict "SCALR_AGENT_DRIVER" "local" "SCALR_AGENT_CONCURRENCY" 1 "SCALR_AGENT_DISCONNECT_ON_STOP" 1) | nindent 12 }}
          volumeMounts:
            - name: data
              mountPath: {{ .Values.agent.dataDir | quote }}
              {{- with .Values.persistence.persistentVolumeClaim.subPath }}
              subPath: {{ . | quote }}
              {{- end }}
      volumes:
        - name: data
          {{- $data := dict "volume" .Values.persistence "name" $full "limit" .Values.persistence.emptyDir.sizeLimit }}
          {{- include "volume" $data | nindent 10 }}
{{- include "claim" (dict "volume" .Values.persistence "name" $full) }}
{{- include "serviceAccount" $release }}
