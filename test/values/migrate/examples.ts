/** Files that people have, and the migrations that they need. */
export interface Example {
  name: string;
  from?: string;
  to: string;
  text: string;
}

const K8S = `# Agents of the platform team
# Owner: platform@example.com

# Connection
agent:
  url: https://acme.scalr.io   # our account
  # created by Terraform
  tokenExistingSecret: infra-token
  debug: true
  container_task_mem_limit: 4096
  container_task_cpu_limit: 2.0
  worker_drain_timeout: 1740
  container_task_scheduling_timeout: 300
  kubernetes_task_labels:
    team: platform

restrictMetadataService: true
terminationGracePeriodSeconds: 1800

# Runs have their own nodes
workerNodeSelector:
  pool: runs
workerTolerations:
- key: dedicated
  operator: Equal
  value: scalr
  effect: NoSchedule

extraEnv:
  # modules need it
  REGION: eu-west-1
  HTTPS_PROXY: http://proxy.example.com:3128
`;

const FLAT = `# Agents of team infra
# second line

# Connection
agent:
  # our account
  url: https://acme.scalr.io   # eol
  # the token
  tokenExistingSecret: infra-token  # in Vault
  tokenExistingSecretKey: tok

# registry
imagePullSecrets:
- name: reg

controllerNodeSelector:
  pool: agents   # small nodes
workerNodeSelector: {pool: runs}

# metadata must stay closed
restrictMetadataService: true

extraEnv:
  # needed by modules
  REGION: eu-west-1
  SCALR_AGENT_DEBUG: "1"

persistence:
  enabled: true
  persistentVolumeClaim:
    claimName: mine
`;

const LOCAL = `agent:
    url: "https://acme.scalr.io"
    tokenExistingSecret: {name: token}

# cache of providers
persistence:
    # the limit of the node
    emptyDir:
        sizeLimit: 5Gi

image:
    tag: 0.58.0   # pinned

affinity: {}
`;

const LOCAL_CLAIM = `agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: token}}
persistence:
  enabled: true   # must survive
  persistentVolumeClaim:
    storage: 30Gi
`;

export const EXAMPLES: readonly Example[] = [
  {name: 'k8s-to-job', from: 'agent-k8s@0.5.58', to: 'agent-job@0.6.5', text: K8S},
  {name: 'k8s-to-local', from: 'agent-k8s@0.5.58', to: 'agent-local@0.6.5', text: K8S},
  {name: 'job-flat-to-nested', from: 'agent-job@0.5.59', to: 'agent-job@0.6.5', text: FLAT},
  {name: 'local-renames', from: 'agent-local@0.5.63', to: 'agent-local@0.6.5', text: LOCAL},
  {name: 'local-claim', from: 'agent-local@0.5.63', to: 'agent-local@0.6.5', text: LOCAL_CLAIM},
];

export const ARGO = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
    name: agents   # odd   spacing
spec:
    source:
        repoURL: https://scalr.github.io/agent-helm/
        chart: agent-k8s
        targetRevision: "0.5.58"
        helm:
            values: |
                # connection
                agent:
                  url: https://acme.scalr.io
                  tokenExistingSecret: infra

            releaseName: x
    destination:   {server: x}
`;

export const ARGO_OBJECT = `kind: ApplicationSet
spec:
  template:
    metadata: {name: '{{name}}'}
    spec:
      sources:
        - repoURL: https://example.com/config.git
          ref: config
        - chart: agent-local
          targetRevision: 0.5.63
          helm:
            valuesObject:
              # first
              agent:
                url: https://acme.scalr.io
                tokenExistingSecret: {name: token}
              persistence: {emptyDir: {sizeLimit: 5Gi}}
`;

export const FLUX = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
spec:
  chart:
    spec:
      chart: agent-k8s
      version: 0.5.60
  values:
    # first
    agent:
      url: https://acme.scalr.io
      # which
      tokenExistingSecret: infra
      log_format: plain

  # after
  interval: 5m
---
apiVersion: v1
kind: ConfigMap
data: {a:   "b"}
`;

export const HELMFILE = `repositories:
  - name: scalr
    url: https://scalr.github.io/agent-helm/
releases:
  - name: a
    chart: scalr/agent-local
    version: 0.5.63
    values:
      - agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}
        persistence:
          emptyDir:
            sizeLimit: 5Gi
      - other.yaml
  - name: nginx
    chart: bitnami/nginx
`;

export const K3S = `apiVersion: helm.cattle.io/v1
kind: HelmChart
spec:
  chart: agent-k8s
  version: 0.5.58
  valuesContent: |-
    agent:
      url: https://acme.scalr.io
      tokenExistingSecret: infra
`;
