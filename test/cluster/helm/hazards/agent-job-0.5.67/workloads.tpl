{{- /* What 0.5.68 changes: the selector, the names of PVC and service account, and the custom resource. */ -}}
{{- $release := dict "root" . "base" "agent-job" }}
{{- $full := include "full" $release }}
{{- $cache := dict "volume" .Values.persistence.cache "name" (printf "%s-cache" $full) "limit" "1Gi" }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: scalr-agent
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
      annotations: {{ toJson .Values.agent.podAnnotations }}
    spec:
      serviceAccountName: {{ include "account" $release | quote }}
      terminationGracePeriodSeconds: {{ .Values.agent.terminationGracePeriodSeconds }}
      containers:
        - name: controller
          image: {{ printf "%s:%s" .Values.agent.image.repository .Chart.AppVersion | quote }}
          env:
            {{- include "token" .Values.agent.tokenExistingSecret | nindent 12 }}
            {{- include "variables" (dict "SCALR_URL" .Values.agent.url) | nindent 12 }}
          volumeMounts:
            - {name: cache, mountPath: {{ .Values.agent.cacheDir | quote }}}
      volumes:
        - name: cache
          {{- include "volume" $cache | nindent 10 }}
---
apiVersion: scalr.io/v1
kind: AgentTask
metadata:
  name: scalr-agent-task
spec:
  jobTemplate:
    spec:
      template:
        spec:
          serviceAccountName: {{ include "account" $release | quote }}
          volumes:
            - name: cache
              {{- include "volume" $cache | nindent 14 }}
{{- include "claim" $cache }}
{{- include "serviceAccount" $release }}
