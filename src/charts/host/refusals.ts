import {tokenSecret, tokenSecretKey} from '../../settings/agent.ts';
import {cloud, nodeOs} from '../../settings/cluster.ts';
import type {Setting} from '../../settings/define.ts';
import {set, valuesFile} from '../../settings/escape-hatch.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {
  acquireTimeout,
  agentImage,
  controllerCpuLimit,
  controllerCpuRequest,
  controllerMemoryLimit,
  controllerMemoryRequest,
  controllerNodeSelector,
  controllerReplicas,
  controllerToleration,
  gracePeriod,
  imagePullPolicy,
  imagePullSecret,
  imageRegistry,
  jobTtl,
  nodeSelector,
  podAnnotation,
  podLabel,
  runCpuRequest,
  runMemoryRequest,
  runnerImage,
  schedulingTimeout,
  serviceAccountAnnotation,
  serviceAccountName,
  toleration,
  writableRoot,
} from '../../settings/pods.ts';
import {concurrency, isolation, singleRun} from '../../settings/purpose.ts';
import {chart, chartSource, chartVersion, namespace, release} from '../../settings/release.ts';
import {
  cache,
  cacheAccessMode,
  cacheClaim,
  cacheSize,
  cacheStorageClass,
  cacheSubPath,
  dataSize,
  efsHandle,
  efsMountOption,
} from '../../settings/storage.ts';
import {caScope, caSecret, caSecretKey, clientCertSecret} from '../../settings/tls.ts';
import type {Refusal} from '../define.ts';

interface Reason {
  settings: readonly Setting[];
  reason: string;
}

const REASONS: readonly Reason[] = [
  {settings: [chart, chartSource, set, valuesFile], reason: 'Helm charts are only for Kubernetes'},
  {
    settings: [chartVersion],
    reason: 'Helm charts are only for Kubernetes; select the agent version with --agent-image scalr/agent:VERSION',
  },
  {settings: [namespace, cloud, nodeOs, serviceAccountName, serviceAccountAnnotation], reason: 'it is only for Kubernetes'},
  {
    settings: [tokenSecret, tokenSecretKey],
    reason: 'Kubernetes Secrets do not exist here; the token is written to agent.env from SCALR_AGENT_TOKEN or --token-file',
  },
  {settings: [caSecret, caSecretKey], reason: 'Kubernetes Secrets do not exist here; use --ca-file'},
  {settings: [clientCertSecret], reason: 'Kubernetes Secrets do not exist here; use --client-cert-file and --client-key-file'},
  {settings: [imagePullSecret], reason: 'Kubernetes Secrets do not exist here; run docker login on the machine'},
  {
    settings: [metadataService],
    reason: 'Docker has no network policies; block 169.254.169.254 with the firewall of the machine, in the chain DOCKER-USER',
  },
  {
    settings: [workloadIdentity],
    reason: 'pods and service accounts exist only in Kubernetes; use the identity of the machine, or credentials of Scalr',
  },
  {settings: [runnerImage], reason: 'with --isolation shared, runs execute in the agent image; use --agent-image'},
  {settings: [caScope], reason: 'with --isolation shared, runs execute in the container of the agent'},
  {settings: [cache], reason: 'the cache is a directory of the machine; use --cache hostpath'},
  {settings: [gracePeriod], reason: 'only times above 60 s have an effect'},
  {settings: [writableRoot], reason: 'access to the Docker socket requires root'},
  {settings: [imageRegistry], reason: 'the agent is installed from a package, and VCS agents start no other containers'},
  {
    settings: [cacheClaim, cacheSize, cacheStorageClass, cacheAccessMode, cacheSubPath, efsHandle, efsMountOption, dataSize],
    reason: 'Kubernetes volumes do not exist here; use --cache-path and --data-home',
  },
  {
    settings: [runCpuRequest, runMemoryRequest],
    reason: 'Docker reserves no resources; use limits, and a machine that is large enough for all runs',
  },
  {
    settings: [
      controllerReplicas,
      controllerCpuRequest,
      controllerCpuLimit,
      controllerMemoryRequest,
      controllerMemoryLimit,
      controllerNodeSelector,
      controllerToleration,
    ],
    reason: 'there is no controller',
  },
  {settings: [nodeSelector, toleration], reason: 'there are no nodes to select'},
  {settings: [podAnnotation], reason: 'containers have no annotations; use --pod-label'},
  {settings: [jobTtl, schedulingTimeout, acquireTimeout], reason: 'Jobs and run pods exist only in Kubernetes'},
  {settings: [singleRun], reason: 'each run already gets its own container'},
];

/** The agent is a service of the Linux packages. */
const REASONS_OF_SERVICE: readonly Reason[] = [
  {settings: [release], reason: 'the service is always called scalr-agent'},
  {settings: [isolation], reason: 'the service always starts a container for each run'},
  {settings: [concurrency], reason: 'a machine has one agent service, which executes at most 5 runs; use more machines'},
  {settings: [agentImage, imagePullPolicy, podLabel], reason: 'the agent is installed from a package and has no container of its own'},
];

const refusalsOf = (reasons: readonly Reason[]): Refusal[] =>
  reasons.flatMap(({settings, reason}) => settings.map((setting) => ({setting, reason})));

export const refusals = refusalsOf(REASONS);
export const serviceRefusals = [...refusalsOf(REASONS_OF_SERVICE), ...refusals];
