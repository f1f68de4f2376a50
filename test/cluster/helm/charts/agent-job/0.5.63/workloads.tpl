{{- $release := dict "root" . "base" "agent-job" }}
{{- $full := include "full" $release }}
{{- $account := include "account" $release }}
{{- $agent := .Values.agent }}
{{- $sub := .Values.persistence.persistentVolumeClaim.subPath }}
{{- $token := required "agent.tokenExistingSecret is needed" $agent.tokenExistingSecret }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: scalr-agent-controller
  {{- include "chartLabel" $release | nindent 2 }}
spec:
  selector:
    matchLabels: {{- include "labels" $release | nindent 6 }}
  template:
    metadata:
      labels: {{- include "labels" $release | nindent 8 }}
      annotations: {{ merge (deepCopy .Values.podAnnotations) .Values.controllerPodAnnotations | toJson }}
    spec:
      {{- $place := dict "account" $account "pullSecrets" .Values.imagePullSecrets "seconds" .Values.terminationGracePeriodSeconds }}
      {{- $place = merge $place (dict "nodeSelector" .Values.controllerNodeSelector "tolerations" .Values.controllerTolerations) }}
      {{- include "pod" $place | nindent 6 }}
      containers:
        - name: controller
          {{- with .Values.controller.image }}
          image: {{ printf "%s:%s" .repository (.tag | default $.Chart.AppVersion) | quote }}
          imagePullPolicy: {{ .pullPolicy }}
          {{- end }}
          resources: {{ toJson .Values.resources }}
          env:
            {{- include "token" (dict "name" $token "key" $agent.tokenExistingSecretKey) | nindent 12 }}
            {{- include "variables" (dict "SCALR_URL" $agent.url "SCALR_AGENT_DATA_DIR" $agent.dataDir) | nindent 12 }}
            {{- include "variables" (dict "SCALR_AGENT_DRIVER" "kubernetes-job") | nindent 12 }}
            {{- include "variables" .Values.extraEnv | nindent 12 }}
          volumeMounts:
            - {name: data, mountPath: {{ $agent.dataDir | quote }}}
      volumes:
        - {name: data, emptyDir: {}}
---
apiVersion: scalr.io/v1
kind: AgentWorker
metadata:
  name: scalr-agent-worker
spec:
  jobTemplate:
    spec:
      template:
        spec:
          serviceAccountName: {{ $account | quote }}
          {{- with .Values.imagePullSecrets }}
          imagePullSecrets: {{ toJson . }}
          {{- end }}
          {{- $places := dict "runner" (dict "bin" "/opt/bin" "providers" "/opt/plugin-cache") }}
          {{- $_ := set $places "worker" (dict "bin" (printf "%s/bin" $agent.dataDir) "providers" (printf "%s/providers" $agent.dataDir)) }}
          containers:
            {{- range $name, $image := dict "runner" .Values.worker.runner.image "worker" .Values.worker.image }}
            - name: {{ $name }}
              image: {{ printf "%s:%s" $image.repository ($image.tag | default $.Chart.AppVersion) | quote }}
              imagePullPolicy: {{ $image.pullPolicy }}
              volumeMounts:
                {{- if $.Values.persistence.enabled }}
                {{- range $directory, $path := get $places $name }}
                - {name: cache, mountPath: {{ $path | quote }}, subPath: {{ list $sub $directory | compact | join "/" | quote }}}
                {{- end }}
                {{- end }}
            {{- end }}
          volumes:
            {{- if .Values.persistence.enabled }}
            - name: cache
              persistentVolumeClaim:
                claimName: {{ .Values.persistence.persistentVolumeClaim.claimName | default $full }}
            {{- end }}
{{- if and .Values.persistence.enabled (not .Values.persistence.persistentVolumeClaim.claimName) }}
{{- $annotations := .Values.secret.annotations }}
{{- include "claim" (dict "volume" .Values.persistence "name" $full) }}
{{- end }}
{{- include "serviceAccount" $release }}
{{- include "efs" $release }}
{{- if .Values.restrictMetadataService }}
{{- include "policy" (merge (dict "name" "agent-job-network-policy") $release) }}
{{- end }}
