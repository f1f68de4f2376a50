{{- /* A dict of variables as a list for a container. */ -}}
{{- define "variables" }}
{{- range $name, $value := . }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}

{{- define "token" }}
- name: SCALR_AGENT_TOKEN
  valueFrom:
    secretKeyRef: {name: {{ required "the name of the Secret with the token is needed" .name | quote }}, key: {{ .key | quote }}}
- name: SCALR_AGENT_NAME
  valueFrom:
    fieldRef: {fieldPath: metadata.name}
{{- end }}

{{- /* `<fullname>` of a release; the dict holds root and base. */ -}}
{{- define "full" -}}
{{- if contains .base .root.Release.Name -}}{{ .root.Release.Name }}{{- else -}}{{ .root.Release.Name }}-{{ .base }}{{- end -}}
{{- end }}

{{- define "chartLabel" -}}
labels: {"helm.sh/chart": "{{ .root.Chart.Name }}-{{ .root.Chart.Version }}", "app.kubernetes.io/instance": {{ .root.Release.Name | quote }}}
{{- end }}

{{- define "labels" -}}
app.kubernetes.io/name: {{ .base }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{- define "account" -}}
{{- if .root.Values.serviceAccount.create -}}
{{ .root.Values.serviceAccount.name | default (include "full" .) }}
{{- else -}}
{{ .root.Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end }}

{{- define "serviceAccount" }}
{{- if .root.Values.serviceAccount.create }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "account" . | quote }}
  {{- include "chartLabel" . | nindent 2 }}
  annotations: {{ toJson .root.Values.serviceAccount.annotations }}
{{- end }}
{{- end }}

{{- /* A role with its binding; the dict holds root, kind, name, account and rules. */ -}}
{{- define "role" }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  name: {{ .name }}
rules: {{ toJson .rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}Binding
metadata:
  name: {{ .name }}-binding
subjects:
  - {kind: ServiceAccount, name: {{ .account | quote }}, namespace: {{ .root.Release.Namespace }}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: {{ .kind }}, name: {{ .name }}}
{{- end }}

{{- /* Egress to everything but the metadata service; the dict also holds the name and more labels. */ -}}
{{- define "policy" }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .name }}
spec:
  podSelector:
    matchLabels:
      {{- include "labels" . | nindent 6 }}
      {{- with .component }}
      app.kubernetes.io/component: {{ . }}
      {{- end }}
  policyTypes: [Egress]
  egress:
    - to:
        - ipBlock: {cidr: 0.0.0.0/0, except: [169.254.169.254/32]}
{{- end }}

{{- /* Where pods go and what they pull with. */ -}}
{{- define "pod" }}
serviceAccountName: {{ .account | quote }}
terminationGracePeriodSeconds: {{ .seconds }}
{{- with .pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with .affinity }}
affinity: {{ toJson . }}
{{- end }}
{{- end }}

{{- /* How agent-local stops, with the shortest period of each mode. */ -}}
{{- define "stop" }}
{{- $mode := .Values.agent.shutdownMode }}
{{- $seconds := int .Values.terminationGracePeriodSeconds }}
{{- $least := get (dict "graceful" 30 "drain" 120 "force" 10) $mode }}
{{- if lt $seconds (int $least) }}{{ fail (printf "%s takes %d seconds at least" $mode $least) }}{{ end }}
{{- if eq $mode "drain" }}
SCALR_AGENT_WORKER_ON_STOP_ACTION: drain
SCALR_AGENT_WORKER_DRAIN_TIMEOUT: {{ sub $seconds 70 }}
SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT: 60
{{- else if eq $mode "graceful" }}
SCALR_AGENT_WORKER_ON_STOP_ACTION: grace-shutdown
SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT: {{ sub $seconds 10 }}
{{- else }}
SCALR_AGENT_WORKER_ON_STOP_ACTION: force-shutdown
{{- end }}
{{- end }}
