import * as agent from './agent.ts';
import * as observability from './agent.ts';
import * as cluster from './cluster.ts';
import type {Setting} from './define.ts';
import * as escapeHatch from './escape-hatch.ts';
import * as network from './network.ts';
import * as identity from './pods.ts';
import * as images from './pods.ts';
import * as lifecycle from './pods.ts';
import * as placement from './pods.ts';
import * as size from './pods.ts';
import * as purpose from './purpose.ts';
import * as release from './release.ts';
import * as storage from './storage.ts';
import * as tls from './tls.ts';

/** Every setting, in the order in which an operator is asked and help is printed. */
export const catalogue: readonly Setting[] = [
  release.chart,
  release.chartVersion,
  release.chartSource,
  release.namespace,
  release.release,
  agent.url,
  agent.token,
  agent.tokenFile,
  agent.tokenSecret,
  agent.tokenSecretKey,
  agent.debug,
  agent.logFormat,
  purpose.purpose,
  purpose.isolation,
  purpose.concurrency,
  cluster.cloud,
  cluster.nodeOs,
  network.httpProxy,
  network.httpsProxy,
  network.noProxy,
  network.metadataService,
  network.workloadIdentity,
  tls.caFile,
  tls.caSecret,
  tls.caSecretKey,
  tls.caScope,
  tls.caPublicRoots,
  tls.clientCertFile,
  tls.clientKeyFile,
  tls.clientCertSecret,
  storage.cache,
  storage.cacheClaim,
  storage.cacheSize,
  storage.cacheStorageClass,
  storage.cacheAccessMode,
  storage.cacheSubPath,
  storage.cachePath,
  storage.dataHome,
  storage.dataSize,
  storage.efsHandle,
  storage.providerCache,
  storage.moduleCache,
  size.runCpuRequest,
  size.runCpuLimit,
  size.runMemoryRequest,
  size.runMemoryLimit,
  placement.nodeSelector,
  placement.controllerNodeSelector,
  placement.toleration,
  placement.controllerToleration,
  identity.serviceAccountName,
  identity.serviceAccountAnnotation,
  images.imageRegistry,
  images.imagePullSecret,
  images.agentImage,
  images.runnerImage,
  observability.otelEndpoint,
  observability.otelMetrics,
  observability.otelTraces,
  lifecycle.shutdownMode,
  lifecycle.gracePeriod,
  escapeHatch.set,
  escapeHatch.extraEnv,
];
