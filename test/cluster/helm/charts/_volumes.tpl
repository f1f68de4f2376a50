{{- /* A claim, when the volume asks for one and names none. */ -}}
{{- define "claim" }}
{{- if and .volume.enabled (not .volume.persistentVolumeClaim.claimName) }}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ .name }}
spec:
  accessModes: [{{ .volume.persistentVolumeClaim.accessMode }}]
  resources:
    requests:
      storage: {{ .volume.persistentVolumeClaim.storage }}
  {{- with .volume.persistentVolumeClaim.storageClassName }}
  storageClassName: {{ ternary "" . (eq . "-") | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* The volume itself: the claim, or an ephemeral one with a limit. */ -}}
{{- define "volume" -}}
{{- if .volume.enabled -}}
persistentVolumeClaim:
  claimName: {{ .volume.persistentVolumeClaim.claimName | default .name }}
{{- else -}}
emptyDir:
  sizeLimit: {{ .limit }}
{{- end -}}
{{- end }}

{{- /* EFS objects with names that every release shares. */ -}}
{{- define "efs" }}
{{- if .root.Values.efsVolumeHandle }}
---
apiVersion: v1
kind: PersistentVolume
metadata:
  name: {{ .base }}-efs-pv
spec:
  capacity: {storage: 5Gi}
  accessModes: [ReadWriteMany]
  storageClassName: {{ .base }}-efs-sc
  csi:
    driver: efs.csi.aws.com
    volumeHandle: {{ .root.Values.efsVolumeHandle | quote }}
  mountOptions: {{ toJson .root.Values.efsMountOptions }}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ .base }}-efs-claim
spec:
  accessModes: [ReadWriteMany]
  storageClassName: {{ .base }}-efs-sc
  resources:
    requests: {storage: 5Gi}
{{- end }}
{{- end }}

{{- /* Certificates from a Secret of the operator or of the release. */ -}}
{{- define "ca-variables" }}
{{- if or .caBundleSecret.name .caBundle }}
{{- include "variables" (dict "SCALR_AGENT_CA_CERT" "/certificates/roots" "SSL_CERT_FILE" "/certificates/roots") }}
{{- end }}
{{- if .clientCertSecret.name }}
{{- include "variables" (dict "SCALR_AGENT_TLS_CERT_FILE" "/identity/tls.crt" "SCALR_AGENT_TLS_KEY_FILE" "/identity/tls.key") }}
{{- end }}
{{- end }}

{{- define "ca-mount" }}
{{- if or .caBundleSecret.name .caBundle }}
- {name: roots, mountPath: /certificates/roots, subPath: {{ .caBundleSecret.key | quote }}}
{{- end }}
{{- end }}

{{- define "identity-mount" }}
{{- if .clientCertSecret.name }}
- {name: identity, mountPath: /identity}
{{- end }}
{{- end }}

{{- define "ca-volumes" }}
{{- $tls := .tls }}
{{- if or $tls.caBundleSecret.name $tls.caBundle }}
- name: roots
  secret:
    secretName: {{ $tls.caBundleSecret.name | default (printf "%s-ca-bundle" .full) }}
    items:
      - {key: {{ $tls.caBundleSecret.key | quote }}, path: {{ $tls.caBundleSecret.key | quote }}}
{{- end }}
{{- if $tls.clientCertSecret.name }}
- name: identity
  secret:
    secretName: {{ $tls.clientCertSecret.name }}
    items:
      - {key: {{ $tls.clientCertSecret.certKey }}, path: tls.crt}
      - {key: {{ $tls.clientCertSecret.keyKey }}, path: tls.key}
{{- end }}
{{- end }}

{{- define "ca-secret" }}
{{- if and .tls.caBundle (not .tls.caBundleSecret.name) }}
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ .full }}-ca-bundle
data:
  {{ .tls.caBundleSecret.key }}: {{ b64enc .tls.caBundle }}
{{- end }}
{{- end }}
