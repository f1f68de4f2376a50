{{- $release := dict "root" . "base" "scalr-agent" }}
{{- $full := include "full" $release }}
{{- $cache := .Values.persistence.cache }}
{{- $below := ternary (list $cache.persistentVolumeClaim.subPath "cache") list $cache.enabled | compact }}
apiVersion: scalr.io/v1
kind: AgentTaskTemplate
metadata:
  name: {{ $full }}-task-template
spec:
  jobTemplate:
    spec:
      ttlSecondsAfterFinished: {{ .Values.task.job.ttlSecondsAfterFinished }}
      template:
        metadata:
          labels:
            {{- include "labels" $release | nindent 12 }}
            app.kubernetes.io/component: task
            {{- with merge (deepCopy .Values.task.podLabels) .Values.global.podLabels }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          annotations: {{ merge (deepCopy .Values.global.podAnnotations) .Values.task.podAnnotations | toJson }}
        spec:
          {{- $place := dict "account" (include "account" $release) "pullSecrets" .Values.global.imagePullSecrets }}
          {{- $_ := set $place "seconds" .Values.task.terminationGracePeriodSeconds }}
          {{- include "pod" (merge $place (pick .Values.task "nodeSelector" "tolerations" "affinity")) | nindent 10 }}
          securityContext: {{ merge (deepCopy .Values.task.podSecurityContext) .Values.global.podSecurityContext | toJson }}
          containers:
            - name: runner
              image: {{ include "image" (dict "root" . "image" .Values.task.runner.image) }}
              imagePullPolicy: {{ .Values.task.runner.image.pullPolicy }}
              resources: {{ toJson .Values.task.runner.resources }}
              securityContext: {{ toJson .Values.task.runner.securityContext }}
              env:
                {{- include "proxy" . | nindent 16 }}
                {{- include "ca-variables" (omit .Values.global.tls "clientCertSecret" | merge (dict "clientCertSecret" (dict "name" ""))) | nindent 16 }}
                {{- include "variables" .Values.task.runner.extraEnv | nindent 16 }}
              volumeMounts:
                {{- with .Values.task.runner.extraVolumeMounts }}{{ toYaml . | nindent 16 }}{{ end }}
                - {name: data, mountPath: /opt/workdir, subPath: run/config}
                - {name: cache, mountPath: /opt/plugin-cache, subPath: {{ append $below "providers" | join "/" | quote }}}
                {{- include "ca-mount" .Values.global.tls | nindent 16 }}
            {{- with .Values.task.sidecars }}{{ toYaml . | nindent 12 }}{{ end }}
            - name: worker
              image: {{ include "image" (dict "root" . "image" .Values.agent.image) }}
              imagePullPolicy: {{ .Values.agent.image.pullPolicy }}
              resources: {{ toJson .Values.task.worker.resources }}
              securityContext: {{ toJson .Values.task.worker.securityContext }}
              env:
                {{- include "agent-variables" (dict "root" . "mode" "worker") | nindent 16 }}
                {{- include "variables" (dict
                  "SCALR_AGENT_WORKER_ON_STOP_ACTION" "grace-shutdown"
                  "SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT" .Values.task.terminationGracePeriodSeconds
                  "SCALR_AGENT_PROVIDER_CACHE_DROP_KERNEL_PAGES" .Values.agent.providerCache.dropKernelPages
                ) | nindent 16 }}
              volumeMounts:
                - {name: data, mountPath: {{ .Values.agent.dataDir | quote }}}
                - name: cache
                  mountPath: {{ .Values.agent.cacheDir | quote }}
                  {{- with $below }}
                  subPath: {{ join "/" . | quote }}
                  {{- end }}
                {{- include "ca-mount" .Values.global.tls | nindent 16 }}
                {{- include "identity-mount" .Values.global.tls | nindent 16 }}
          volumes:
            {{- with .Values.task.extraVolumes }}{{ toYaml . | nindent 12 }}{{ end }}
            - name: entrypoint
              image:
                reference: {{ include "image" (dict "root" . "image" .Values.agent.image) }}
                pullPolicy: {{ .Values.agent.image.pullPolicy }}
            - name: data
              emptyDir: {sizeLimit: {{ .Values.persistence.data.emptyDir.sizeLimit }}}
            - name: cache
              {{- include "cache-volume" (dict "root" . "full" $full "isTask" true) | nindent 14 }}
            {{- include "ca-volumes" (dict "tls" .Values.global.tls "full" $full) | nindent 12 }}
