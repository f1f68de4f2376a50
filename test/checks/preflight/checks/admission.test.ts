import {admission, injectedSidecars} from '../../../../src/checks/preflight/checks/admission.ts';
import type {
  AdmissionTrial,
  PreflightContext,
} from '../../../../src/checks/preflight/facts/context.ts';
import type {KubernetesObject} from '../../../../src/cluster/kubernetes/objects.ts';
import {known, unknown} from '../../../../src/ground/fact.ts';
import {live} from '../context.ts';
import {prove} from './prove.ts';

const object = (kind: string, name: string, spec?: object): KubernetesObject => ({
  apiVersion: 'v1',
  kind,
  metadata: {name},
  ...(spec && {spec}),
});
const owner = {...object('Deployment', 'scalr-agent-agent-local'), apiVersion: 'apps/v1'};
const pod = (resources: object = {}): AdmissionTrial => ({
  what: 'Pod of Deployment scalr-agent-agent-local',
  object: object('Pod', 'scalr-agent-agent-local-1a2b3c', {
    containers: [{name: 'agent-local', resources}],
  }),
  owner,
});
const answers = (...trials: AdmissionTrial[]): Partial<PreflightContext> => ({
  admission: known(trials, 'server-side dry run'),
});
const rejects = (rejection: string, trial = pod()): Partial<PreflightContext> =>
  answers({
    ...trial,
    rejection: `pods "scalr-agent-agent-local-1a2b3c" is forbidden: ${rejection}`,
  });
const runPod: AdmissionTrial = {
  what: 'Pod of AgentTaskTemplate scalr-agent-task-template',
  object: object('Pod', 'scalr-agent-task-template-1a2b3c', {containers: [{name: 'worker'}]}),
  owner: {...object('AgentTaskTemplate', 'scalr-agent-task-template'), apiVersion: 'scalr.io/v1'},
};
const EXCEEDED = 'exceeded quota: team, requested: pods=1, used: pods=9, limited: pods=9';
const local = {chart: 'agent-local'};

// Messages of the API server 1.35, of Kyverno 1.15 and of Gatekeeper 3.20.
prove(
  'admission',
  [admission, injectedSidecars],
  [
    {id: 'admission', is: 'pass', when: 'everything is admitted', but: answers(pod())},
    {
      id: 'admission',
      is: 'skip',
      when: 'nothing is rendered',
      but: {admission: unknown('failed', 'helm refuses to render the chart')},
    },
    {
      id: 'admission',
      is: 'skip',
      when: 'the namespace does not exist',
      but: answers({...pod(), untried: 'its namespace does not exist yet'}),
    },
    {
      id: 'admission',
      is: 'skip',
      when: 'the user may not create pods',
      but: answers({...pod(), untried: 'your user cannot create pods'}),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'a policy allows other registries',
      but: rejects(
        "ValidatingAdmissionPolicy 'registries' with binding 'registries' denied request: images must come from registry.corp.example",
      ),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'Kyverno demands a security context',
      but: answers({
        ...pod(),
        rejection:
          'admission webhook "validate.kyverno.svc-fail" denied the request: \n\nresource Pod/scalr/x was blocked due to the following policies \n\nrequire-run-as-nonroot:\n  run-as-non-root: \'validation error: Running as root is not allowed. rule run-as-non-root failed at path /spec/securityContext/runAsNonRoot/\'',
      }),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'Gatekeeper demands a label',
      but: answers({
        ...pod(),
        rejection:
          'admission webhook "validation.gatekeeper.sh" denied the request: [must-have-owner] you must provide labels: {"owner"}',
      }),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'Secrets must come from elsewhere',
      but: answers({
        what: 'Secret scalr-agent-token',
        object: object('Secret', 'scalr-agent-token'),
        rejection:
          "secrets \"scalr-agent-token\" is forbidden: ValidatingAdmissionPolicy 'sealed' with binding 'sealed' denied request: use an ExternalSecret",
      }),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'the level is restricted',
      flags: local,
      but: rejects(
        'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "agent-local" must set securityContext.allowPrivilegeEscalation=false)',
      ),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'agent-k8s is in a restricted namespace',
      flags: {chart: 'agent-k8s'},
      but: rejects(
        'violates PodSecurity "restricted:latest": restricted volume types (volume "data-home" uses restricted volume type "hostPath"), runAsUser=0 (container "agent-k8s" must not set runAsUser=0)',
      ),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'the level baseline forbids a node directory',
      flags: local,
      but: rejects('violates PodSecurity "baseline:latest": hostPath volumes (volume "cache")'),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'the level baseline forbids a privileged container',
      flags: local,
      but: rejects(
        'violates PodSecurity "baseline:latest": privileged (container "dind" must not set securityContext.privileged=true)',
      ),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'a LimitRange has a smaller maximum',
      flags: local,
      but: rejects(
        '[maximum cpu usage per Container is 2, but limit is 4, maximum memory usage per Pod is 1Gi.  No limit is specified]',
        pod({limits: {cpu: '4'}}),
      ),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'a LimitRange has a larger minimum',
      flags: local,
      but: rejects(
        'minimum cpu usage per Container is 2, but request is 1',
        pod({requests: {cpu: '1'}}),
      ),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'a LimitRange limits the ratio',
      flags: local,
      but: rejects(
        '[cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000]',
        pod({requests: {cpu: '1'}, limits: {cpu: '4'}}),
      ),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'a claim is too large',
      flags: {...local, cache: 'pvc'},
      but: answers({
        what: 'PersistentVolumeClaim scalr-agent-agent-local-cache',
        object: object('PersistentVolumeClaim', 'scalr-agent-agent-local-cache'),
        rejection:
          'persistentvolumeclaims "scalr-agent-agent-local-cache" is forbidden: maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 30Gi',
      }),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'a quota demands limits',
      flags: local,
      but: rejects('failed quota: team: must specify limits.cpu for: agent-local'),
    },
    {
      id: 'injected-sidecars',
      is: 'warn',
      when: 'a service mesh adds one to runs',
      but: answers({...runPod, injected: ['istio-proxy']}),
    },
    {
      id: 'injected-sidecars',
      is: 'warn',
      when: 'a service mesh adds one to runs of agent-k8s, which have no template',
      flags: {chart: 'agent-k8s'},
      but: answers({
        what: 'Run pod',
        object: object('Pod', 'run-1a2b3c'),
        injected: ['istio-proxy'],
      }),
    },
    {
      id: 'injected-sidecars',
      is: 'pass',
      when: 'only the agent gets one, which ends with its pod',
      but: answers({...pod(), injected: ['istio-proxy']}, {...runPod, injected: []}),
    },
    {
      id: 'injected-sidecars',
      is: 'pass',
      when: 'runs happen inside the agent',
      flags: local,
      but: answers(pod()),
    },
    {
      id: 'injected-sidecars',
      is: 'skip',
      when: 'the pod of a run was rejected',
      but: answers({...runPod, rejection: 'no'}),
    },
    {
      id: 'admission',
      is: 'pass',
      when: 'the check of quotas counts all runs',
      but: rejects(EXCEEDED),
    },
    {
      id: 'admission',
      is: 'fail',
      when: 'a quota that cannot be listed is used up',
      but: {...rejects(EXCEEDED), live: live({quotas: unknown('forbidden', 'it is forbidden')})},
    },
  ],
);
