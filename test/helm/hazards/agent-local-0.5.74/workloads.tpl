{{- /* What 0.5.75 lacks: the PVC of persistence.cache. */ -}}
{{- $release := dict "root" . "base" "agent-local" }}
{{- $full := include "full" $release }}
{{- $cache := dict "volume" .Values.persistence.cache "name" (printf "%s-cache" $full) "limit" "1Gi" }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $full }}
spec:
  replicas: {{ .Values.replicaCount }}
  strategy: {{ toJson .Values.strategy }}
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
            {{- include "token" .Values.agent.tokenExistingSecret | nindent 12 }}
            {{- include "variables" (dict "SCALR_URL" .Values.agent.url) | nindent 12 }}
          volumeMounts:
            - {name: cache, mountPath: {{ .Values.agent.cacheDir | quote }}}
      volumes:
        - name: cache
          {{- include "volume" $cache | nindent 10 }}
{{- include "claim" $cache }}
{{- include "serviceAccount" $release }}
