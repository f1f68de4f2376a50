{{- /* What 0.5.75 lacks: the PVC of persistence.cache. And a token in the values, which all charts take. */ -}}
{{- $release := dict "root" . "base" "agent-local" }}
{{- $full := include "full" $release }}
{{- $cache := dict "volume" .Values.persistence.cache "name" (printf "%s-cache" $full) "limit" "1Gi" }}
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
    spec:
      serviceAccountName: {{ include "account" $release | quote }}
      terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
      containers:
        - name: agent-local
          image: {{ printf "%s:%s" .Values.image.repository .Chart.AppVersion | quote }}
          env:
            {{- $token := .Values.agent.tokenExistingSecret }}
            {{- include "token" (ternary $token (dict "name" (printf "%s-token" $full) "key" "token") (empty .Values.agent.token)) | nindent 12 }}
            {{- include "variables" (dict "SCALR_URL" .Values.agent.url) | nindent 12 }}
          volumeMounts:
            - {name: cache, mountPath: {{ .Values.agent.cacheDir | quote }}}
      volumes:
        - name: cache
          {{- include "volume" $cache | nindent 10 }}
{{- include "claim" $cache }}
{{- include "serviceAccount" $release }}
{{- with .Values.agent.token }}
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ $full }}-token
stringData:
  token: {{ . | quote }}
{{- end }}
